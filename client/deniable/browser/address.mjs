/**
 * The link that has opened the page: read generously, since mail programs, messengers and advertisements change links on their way, and
 * the address that the page gives itself instead.
 *
 * What stands behind the "#" stays in the browser. What stands behind the "?" was shown to the server.
 */

import { language, t } from "./language.mjs";
import { onPress, show } from "./page.mjs";

const FRAGMENT = ["digest", "group", "code"]; // as `wire/link.py` writes it
const DIGEST = /^[0-9a-f]{64}$/;
const INVISIBLE = /[\s\u00ad\u200b-\u200f\u2060\ufeff]/g;
/** What sentences and programs leave at the end of a link, as it is and encoded. */
const PUNCTUATION = /(?:[\s.,;:!?)\]}>"'\u00bb\u2019\u201d]|%(?:0[AD]|2[01279CE]|3[ABEF]|5D|7D|C2%BB|E2%80%9[9D]))+$/i;
/** A language, perhaps with a script and a region; BCP 47 would also take private parts, which could name a person. */
const LANGUAGE = /^[a-z]{2,3}([-_][a-z]{4})?([-_]([a-z]{2}|\d{3}))?$/i;
/**
 * What networks, advertisements and newsletters add to every link, without anybody's doing. Marks of a single recipient that a
 * sender can read, such as mc_eid, are not among them.
 */
const MARKS = new Set([
  "fbclid", "igsh", "igshid", "gclid", "gclsrc", "gad_source", "gad_campaignid", "gbraid", "wbraid", "dclid", "srsltid", "msclkid", "yclid",
  "ttclid", "twclid", "li_fat_id", "rdt_cid", "epik", "sccid", "wickedid", "mc_cid", "_gl", "mibextid",
  "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id", "utm_source_platform", "utm_creative_format",
]);

/** A link that has lost a part on its way: nothing can be checked by it, and nobody is to blame. */
export class BrokenLinkError extends Error {
  name = "BrokenLinkError";
}

/**
 * What the page's address says: `fragment` with nothing in it but what is the survey's, `hash` the same as it stands in an address, the
 * names of `marks` that are dropped, whether there is something `unknown` behind the "?", and the whole `link` without what is dropped.
 */
export function readAddress({ origin, pathname, search, hash } = location) {
  const own = partsOf(hash).filter(([name]) => FRAGMENT.includes(name)).map(([name, value]) => `${name}=${value}`);
  const asked = partsOf(search);
  const languages = asked.filter(([name, value]) => name === "lang" && LANGUAGE.test(value));
  const others = asked.map(([name, value]) => (name === "lang" && LANGUAGE.test(value) ? undefined : name)).filter((name) => name !== undefined);
  const path = pathname.replace(/^\/{2,}/, "/"); // "//s" would be another server
  const query = languages.length ? `?lang=${languages.at(-1)[1]}` : "";
  return {
    path,
    query,
    hash: own.length ? `#${own.join("&")}` : "",
    fragment: new URLSearchParams(own.join("&")),
    torn: partsOf(hash).some(([name]) => name !== "" && name !== "digest" && "digest".startsWith(name)) && !own.some((part) => part.startsWith("digest=")),
    marks: [...new Set(others.filter((name) => MARKS.has(name)))],
    unknown: others.some((name) => !MARKS.has(name)),
    link: `${origin}${path}${query}${own.length ? `#${own.join("&")}` : ""}`,
  };
}

/** The [name, value] pairs behind a "#" or "?", values as they stand there; names in small letters. Punctuation at the end is dropped. */
function partsOf(text) {
  const plain = text.slice(1).replace(PUNCTUATION, "");
  const parts = (plain.includes("=") ? plain : plain.replace(/%3d/gi, "=").replace(/%26/gi, "&")).split("&").filter((part) => part !== "");
  return parts.map((part) => {
    const [name, ...value] = part.split("=");
    return [name.toLowerCase(), value.join("=")];
  });
}

/** The digest that a link names, in small letters; undefined where it names none. Throws BrokenLinkError for a part of one. */
export function digestOf({ fragment, torn }) {
  const digest = fragment.get("digest")?.replace(INVISIBLE, "").replace(PUNCTUATION, "").toLowerCase();
  if (torn || (digest !== undefined && !DIGEST.test(digest))) throw new BrokenLinkError("the link's digest must be 64 hexadecimal digits");
  return digest;
}

/**
 * Takes group, code and marks out of the address, and so from bookmarks and what is restored; the list of visited pages keeps what was
 * opened, whatever a page does. The digest is the same for everybody and stays: a page loaded again is held to it.
 *
 * A sign that no link has stands before the "#": Firefox counts the keys that are pressed on a page, which tell how many digits a number has,
 * and keeps the count where the address without its fragment is among the visited ones. So it must not be one of them.
 */
export function cleanAddress({ path, query, fragment }) {
  const digest = fragment.get("digest");
  const search = query === "" ? "?" : `${query}&`;
  history.replaceState(history.state, "", `${path}${search}#${digest === null ? "" : `digest=${encodeURIComponent(digest)}`}`);
}

/** Says that the server was shown something that nobody here knows, and goes on without it when it is asked to. */
export function sayMisled({ path, hash }) {
  onPress(show("misled"), "without", () => location.replace(`${path}?lang=${language()}${hash}`));
}

/** What consent says of the marks that were dropped; null where there was none. */
export function marksInWords(marks) {
  return marks.length ? t("Your link had a mark of a service through which it came ({marks}). This server was shown it and writes it down nowhere; the page has dropped it.", { marks: marks.join(", ") }) : null;
}

/** The one of several labels that a link means: itself, or the only one that differs by case, space and punctuation at its end alone. */
export function labelOf(labels, text) {
  const plain = (label) => label.normalize("NFKC").replace(INVISIBLE, " ").trim().replace(/\s+/g, " ").replace(PUNCTUATION, "").toLowerCase();
  const alike = labels.filter((label) => plain(label) === plain(text));
  return labels.includes(text) ? text : alike.length === 1 ? alike[0] : undefined;
}
