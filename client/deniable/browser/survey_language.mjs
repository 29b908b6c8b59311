/**
 * Survey language: selection among the survey's translations, and links to the others.
 *
 * The page's own texts need a catalog of the server's. Survey texts do not, so the two languages can differ.
 */

import { download } from "./delivery.mjs";
import { isRightToLeft, languageName } from "./language_names.mjs";

const NAMES = "/browser/language_names.json"; // loaded only for languages without a catalog

/** Returns the languages of a survey's texts, its original first. */
export function languagesOf({ language, translations }) {
  return [language, ...Object.keys(translations)];
}

/** Returns the language of the survey's texts: the address's, else the browser's best match, else the original. */
export function surveyLanguage(survey) {
  const requested = new URLSearchParams(location.search).get("lang");
  return negotiate([...(requested ? [requested] : []), ...navigator.languages], languagesOf(survey)) ?? survey.language;
}

/**
 * Returns the best offered tag. For each wanted tag: the same one, else its longest prefix, else the first relative. Returns undefined
 * without a match. Twin: `negotiate` in `survey/translation.py`.
 */
export function negotiate(requestedTags, offered) {
  const find = (tag) => offered.find((candidate) => candidate.toLowerCase() === tag);
  for (const tag of requestedTags) {
    const parts = tag.toLowerCase().split("-");
    const tries = parts.map((_, index) => parts.slice(0, parts.length - index).join("-"));
    const fit = tries.map(find).find(Boolean) ?? offered.find((candidate) => candidate.toLowerCase().split("-")[0] === parts[0]);
    if (fit !== undefined) return fit;
  }
  return undefined;
}

/**
 * Adds links to the survey's languages that have no catalog, and marks the current one. The page's links about the survey then use it, too.
 */
export function offerLanguages(survey, textLanguage, hash) {
  const links = document.querySelector(".languages");
  const catalogTags = new Set([...links.querySelectorAll("a")].map(({ hreflang }) => hreflang));
  const more = languagesOf(survey).filter((tag) => !catalogTags.has(tag)).map((tag) => linkTo(tag, hash));
  links.append(...more);
  if (more.length) nameAll(more);
  if (catalogTags.has(textLanguage)) return;
  for (const link of links.querySelectorAll("a")) link.toggleAttribute("aria-current", link.hreflang === textLanguage);
  links.querySelector("[aria-current]").setAttribute("aria-current", "true");
  for (const link of document.querySelectorAll("main a[href^='/s/']")) link.search = new URLSearchParams({ lang: textLanguage });
}

/** Adds a fragment, "#..." or "", to the page's links to other languages. The server makes these links and never sees a fragment. */
export function keepFragment(hash) {
  for (const link of document.querySelectorAll(".languages a")) link.hash = hash;
}

/** Names the languages of links. If the names do not load, tags stay. */
async function nameAll(links) {
  const names = await download(NAMES).then(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes))).catch(() => ({}));
  for (const link of links) link.textContent = languageName(link.hreflang, names);
}

function linkTo(tag, hash) {
  const link = document.createElement("a");
  return Object.assign(link, { href: `?lang=${tag}`, lang: tag, hreflang: tag, dir: isRightToLeft(tag) ? "rtl" : "auto", textContent: tag, hash });
}
