/** Survey texts in one of the survey's languages. Missing translations fall back to the original, marked with its language. */

import { language, t } from "./language.mjs";
import { typeOf } from "./types.mjs";

/**
 * Returns texts as {text, lang}: title, about, contact, ethics, thanks and closed (undefined if the survey lacks them); `question(q)`;
 * `help(q)` (or undefined); `section(q)`, with `sectionTitle` and `note`, for a question that begins a section; and `options(q)`, the
 * option labels of a question or item, in the language `optionsLanguage(q)`.
 */
export function wordsOf(survey, textLanguage) {
  const own = { language: textLanguage, texts: Object.hasOwn(survey.translations, textLanguage) ? survey.translations[textLanguage] : {} };
  const say = (translation, otherwise) => (translation === undefined ? { text: otherwise, lang: survey.language } : { text: translation, lang: own.language });
  const text = (key) => (survey[key] === undefined ? undefined : say(own.texts[key], survey[key]));
  const words = (id) => (Object.hasOwn(own.texts.questions ?? {}, id) ? own.texts.questions[id] : {});
  return {
    title: text("title"),
    about: text("about"),
    contact: text("contact"),
    ethics: text("ethics"),
    thanks: text("thanks"),
    closed: text("closed"),
    question: (question) => say(words(question.id).text, question.text),
    help: (question) => (question.help ? say(words(question.id).help, question.help) : undefined),
    section: ({ id, section: { title, note } }) => {
      const own = words(id).section ?? {};
      return { sectionTitle: say(own.title, title), note: note ? say(own.note, note) : undefined };
    },
    options: (question) => words(question.id).options ?? typeOf(question).labels(question.source),
    optionsLanguage: (question) => {
      if (words(question.id).options) return own.language;
      return typeOf(question).options(question.source).length ? survey.language : language(); // the page's own texts
    },
  };
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
