/**
 * In which of a survey's languages somebody reads it, and the links to the others. The page's own words need a catalog of the server's; the
 * survey's texts need none, so the two languages can differ.
 */

import { download } from "./delivery.mjs";
import { isRightToLeft, nameOf } from "./tongues.mjs";

const NAMES = "/browser/language_names.json"; // loaded only where a survey has a language of which the server has no catalog

/** The tags of the languages that a survey's texts are in: its own first. */
export function languagesOf({ language, translations }) {
  return [language, ...Object.keys(translations)];
}

/** The language of a survey's texts for this reader: the one that the address names, else the best that the browser asks for, else its own. */
export function readingOf(survey) {
  const named = new URLSearchParams(location.search).get("lang");
  return negotiate([...(named ? [named] : []), ...navigator.languages], languagesOf(survey)) ?? survey.language;
}

/**
 * The offered tag that fits best: for each wanted one in turn the same tag, else the longest beginning of it, else the first relative;
 * undefined where there is none. The twin of `negotiate` in `survey/translation.py`.
 */
export function negotiate(wanted, offered) {
  const find = (tag) => offered.find((one) => one.toLowerCase() === tag);
  for (const tag of wanted) {
    const parts = tag.toLowerCase().split("-");
    const tries = parts.map((_, index) => parts.slice(0, parts.length - index).join("-"));
    const fit = tries.map(find).find(Boolean) ?? offered.find((one) => one.toLowerCase().split("-")[0] === parts[0]);
    if (fit !== undefined) return fit;
  }
  return undefined;
}

/**
 * Adds links to those languages of a survey of which the server has no catalog, and marks the one that is read. What this page links to
 * about the survey is then read in it, too.
 */
export function offerLanguages(survey, reading, hash) {
  const links = document.querySelector(".languages");
  const known = new Set([...links.querySelectorAll("a")].map(({ hreflang }) => hreflang));
  const more = languagesOf(survey).filter((tag) => !known.has(tag)).map((tag) => linkTo(tag, hash));
  links.append(...more);
  if (more.length) nameAll(more);
  if (known.has(reading)) return;
  for (const link of links.querySelectorAll("a")) link.toggleAttribute("aria-current", link.hreflang === reading);
  links.querySelector("[aria-current]").setAttribute("aria-current", "true");
  for (const link of document.querySelectorAll("main a[href^='/s/']")) link.search = new URLSearchParams({ lang: reading });
}

/** Names the languages of links; where their names do not come, the tags stay. */
async function nameAll(links) {
  const names = await download(NAMES).then((bytes) => JSON.parse(new TextDecoder().decode(bytes))).catch(() => ({}));
  for (const link of links) link.textContent = nameOf(link.hreflang, names);
}

function linkTo(tag, hash) {
  const link = document.createElement("a");
  return Object.assign(link, { href: `?lang=${tag}`, lang: tag, hreflang: tag, dir: isRightToLeft(tag) ? "rtl" : "auto", textContent: tag, hash });
}
