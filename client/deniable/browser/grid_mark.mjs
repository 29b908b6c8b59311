/**
 * Rating blocks in a definition: scale questions that follow each other, with a `grid` {id, text, help, order} at the first and {id} at the
 * others. As read, all of them have {id, text, help, order, first}, `first` being the first question's id. Twin: `Grid` in
 * `survey/question.py`.
 */

/** Returns {grid} of a question, or {problem}, the rule that its mark breaks. `earlier`: the questions before it. */
export function readGrid(mark, question, earlier) {
  const previous = earlier.at(-1);
  if (question.help !== undefined) return { problem: "must be left out beside help" };
  if (previous?.grid?.id === mark.id) return continued(mark, question, previous);
  if (earlier.some(({ grid }) => grid?.id === mark.id)) return { problem: "must have a new id: its questions must follow each other" };
  return mark.text === undefined ? { problem: "must have a text at its first question" } : { grid: { ...mark, first: question.id } };
}

function continued(mark, question, previous) {
  const shared = ({ source, required, showIf }) => JSON.stringify([source.options, source.scores, required, showIf]);
  if (Object.keys(mark).length > 1) return { problem: "must have no text but at its first question" };
  const fits = shared(question) === shared(previous) && question.section === undefined;
  return fits ? { grid: previous.grid } : { problem: "must have questions with the same options, scores, required and show_if, in one section" };
}

/** Returns the mark of one of a grid's questions, by its id. */
export function gridMark({ first, ...mark }, question) {
  return first === question ? mark : { id: mark.id };
}
