/** The survey's own texts in one of its languages. What a translation lacks is in the survey's language, and says so. */

import { language, t } from "./language.mjs";
import { typeOf } from "./types.mjs";

/**
 * Texts as {text, lang}: title, about, contact, ethics, thanks and closed (undefined where the survey has none), `question(q)`, `help(q)` (likewise);
 * `section(q)`, the `sectionTitle` and `note` of the one that begins with a question; and `options(q)`, the labels of what can be chosen of a question or an item, in the language `optionsLanguage(q)`.
 */
export function wordsOf(survey, reading) {
  const own = { language: reading, texts: Object.hasOwn(survey.translations, reading) ? survey.translations[reading] : {} };
  const say = (found, otherwise) => (found === undefined ? { text: otherwise, lang: survey.language } : { text: found, lang: own.language });
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
      return typeOf(question).options(question.source).length ? survey.language : language(); // the page's own words
    },
  };
}

/** What each item of a survey asks, in order: the question's text, and for a multiple choice the option. */
export function itemTexts(questions, words) {
  return questions.flatMap((question) => {
    const asked = words.question(question);
    const options = words.options(question);
    return question.items.map(({ label }, index) => (label === undefined ? asked : { ...asked, text: `${asked.text} – ${options[index]}` }));
  });
}

/** The labels of an item's categories, with "no answer" last where it may be skipped. */
export function categoryLabels(item, words) {
  return item.required ? words.options(item) : [...words.options(item), t("no answer")];
}
