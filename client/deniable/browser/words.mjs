/** Survey texts in one of the survey's languages. Missing translations fall back to the original, marked with its language. */

import { language, t } from "./language.mjs";
import { piped } from "./piping.mjs";
import { typeOf } from "./types.mjs";

/**
 * Returns texts as {text, lang}: title, about, institution, contact, ethics, thanks and closed (undefined if the survey lacks them); `question(q)`;
 * `help(q)` (or undefined); `grid(g)`, a rating block's `gridText` and `gridHelp`; `section(q)`, with `sectionTitle` and `note`, for a question that
 * begins a section; and `options(q)`, the option labels of a question or item, in the language `optionsLanguage(q)`. The second argument of
 * `question`, `help`, `grid` and `section` returns earlier answers for these texts (`piping.mjs`); without it, the texts show no answer.
 */
export function wordsOf(survey, textLanguage) {
  const own = { language: textLanguage, texts: Object.hasOwn(survey.translations, textLanguage) ? survey.translations[textLanguage] : {} };
  const say = (translation, otherwise) => (translation === undefined ? { text: otherwise, lang: survey.language } : { text: translation, lang: own.language });
  const tell = (translation, otherwise, answerOf) => {
    const { text, lang } = say(translation, otherwise);
    return { text: piped(text, answerOf), lang };
  };
  const text = (key) => (survey[key] === undefined ? undefined : say(own.texts[key], survey[key]));
  const words = (id) => (Object.hasOwn(own.texts.questions ?? {}, id) ? own.texts.questions[id] : {});
  return {
    title: text("title"),
    about: text("about"),
    institution: text("institution"),
    contact: text("contact"),
    ethics: text("ethics"),
    thanks: text("thanks"),
    closed: text("closed"),
    question: (question, answerOf) => tell(words(question.id).text, question.text, answerOf),
    help: (question, answerOf) => (question.help ? tell(words(question.id).help, question.help, answerOf) : undefined),
    section: ({ id, section: { title, note } }, answerOf) => {
      const own = words(id).section ?? {};
      return { sectionTitle: tell(own.title, title, answerOf), note: note ? tell(own.note, note, answerOf) : undefined };
    },
    grid: ({ first, text, help }, answerOf) => {
      const own = words(first).grid ?? {};
      return { gridText: tell(own.text, text, answerOf), gridHelp: help ? tell(own.help, help, answerOf) : undefined };
    },
    options: (question) => words(optionsOf(question)).options ?? typeOf(question).labels(question.source),
    optionsLanguage: (question) => {
      if (words(optionsOf(question)).options) return own.language;
      return typeOf(question).options(question.source).length ? survey.language : language(); // the page's own texts
    },
  };
}

/** Returns the id of the question that has a question's translated options: the first of its grid, or itself. */
function optionsOf({ id, grid }) {
  return grid ? grid.first : id;
}

/** Returns each item's text, in order: the question's, with the option for a multiple choice. */
export function itemTexts(questions, words) {
  return questions.flatMap((question) => {
    const questionText = words.question(question);
    const options = words.options(question);
    return question.items.map(({ label }, index) => (label === undefined ? questionText : { ...questionText, text: `${questionText.text} – ${options[index]}` }));
  });
}

/** Returns the labels of an item's categories, with "no answer" last if it is optional. */
export function categoryLabels(item, words) {
  return item.required ? words.options(item) : [...words.options(item), t("no answer")];
}
