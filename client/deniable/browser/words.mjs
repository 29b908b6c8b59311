/** The survey's own texts in the reader's language. What a translation lacks is in the survey's language, and says so. */

import { number, t } from "./language.mjs";

/**
 * Texts as {text, lang}: title, about, contact and ethics (undefined where the survey has none), `question(q)`; and
 * `options(q)`, the labels of what can be chosen of a question, in the language `optionsLanguage(q)`.
 */
export function wordsOf(survey, language) {
  const own = translationFor(survey, language);
  const say = (found, otherwise) => (found === undefined ? { text: otherwise, lang: survey.language } : { text: found, lang: own.language });
  const text = (key) => (survey[key] === undefined ? undefined : say(own.texts[key], survey[key]));
  const words = (id) => (Object.hasOwn(own.texts.questions ?? {}, id) ? own.texts.questions[id] : {});
  const options = ({ id, type, source, items, categories, required }) => {
    if (type === "yes_no") return [t("Yes"), t("No")];
    const plain = type === "multi_choice" ? items.map(({ label }) => label) : required ? categories : categories.slice(0, -1);
    return words(id).options ?? (type === "number" && !source.bins ? plain.map((level) => number(Number(level))) : plain);
  };
  return {
    title: text("title"),
    about: text("about"),
    contact: text("contact"),
    ethics: text("ethics"),
    question: (question) => say(words(question.id).text, question.text),
    options,
    optionsLanguage: ({ id, type }) => (type === "yes_no" ? language : words(id).options ? own.language : survey.language),
  };
}

/** The translation for a language: itself, or one of its relatives (de for de-AT); none where the survey is in it. */
function translationFor({ language: own, translations }, language) {
  const family = (tag) => tag.split("-")[0];
  const tags = Object.keys(translations);
  const found = tags.find((tag) => tag === language) ?? (family(own) === family(language) ? undefined : tags.find((tag) => family(tag) === family(language)));
  return found === undefined || own === language ? { language: own, texts: {} } : { language: found, texts: translations[found] };
}

/** What each item of a survey asks, in order: the question's text, and for a multiple choice the option. */
export function itemTexts(questions, words) {
  return questions.flatMap((question) => {
    const asked = words.question(question);
    if (question.type !== "multi_choice") return [asked];
    return words.options(question).map((option) => ({ ...asked, text: `${asked.text} – ${option}` }));
  });
}

/** The labels of a question's categories, or of an item's: with "no answer" last where it may be skipped. */
export function categoryLabels(item, words) {
  const labels = item.label === undefined ? words.options(item) : [t("Yes"), t("No")];
  return item.required ? labels : [...labels, t("no answer")];
}
