/**
 * What the page can show: one step at a time, and texts as text only. A step is a section of the page, named by its id;
 * whatever a survey says goes through `textContent`, so no text of a survey can become markup.
 */

/** Shows one step and hides the others, names it in the title, and moves the focus to its heading. Gives the step. */
export function show(id, title) {
  for (const step of document.querySelectorAll("main > section")) step.hidden = step.id !== id;
  document.title = title;
  const step = document.getElementById(id);
  step.querySelector("h1").focus({ preventScroll: true });
  scrollTo(0, 0);
  return step;
}

/** Puts texts into the elements of `root` that are marked with `data-slot`; null or "" hides the element. */
export function fill(root, texts) {
  for (const [slot, text] of Object.entries(texts)) {
    const element = root.querySelector(`[data-slot="${slot}"]`);
    element.textContent = text ?? "";
    element.hidden = !text;
  }
}

/** A copy of what the template with this id holds: its one element. */
export function copy(templateId) {
  return document.getElementById(templateId).content.firstElementChild.cloneNode(true);
}

/** A whole number as people write it: 10,000. */
export function count(number) {
  return number.toLocaleString("en");
}
