/**
 * Link parsing and the page's own address.
 *
 * Parsing is lenient, because mail programs, messengers and advertisements change links. The part after "#" stays in the browser; the part
 * after "?" has reached the server.
 */

import { language, t } from "./language.mjs";
import { onPress, show } from "./page.mjs";

const FRAGMENT = ["digest", "group", "code"]; // as `wire/link.py` writes them
const DIGEST = /^[0-9a-f]{64}$/;
const INVISIBLE = /[\s\u00ad\u200b-\u200f\u2060\ufeff]/g;
/** Characters that sentences and programs add to the end of a link, plain and percent-encoded. */
const PUNCTUATION = /(?:[\s.,;:!?)\]}>"'\u00bb\u2019\u201d]|%(?:0[AD]|2[01279CE]|3[ABEF]|5D|7D|C2%BB|E2%80%9[9D]))+$/i;
/** A language tag with an optional script and region. BCP 47 also allows private subtags, which could identify a person. */
const LANGUAGE = /^[a-z]{2,3}([-_][a-z]{4})?([-_]([a-z]{2}|\d{3}))?$/i;
/**
 * Tracking parameters that networks, advertisements and newsletters add to every link. Parameters that identify a single recipient to the
 * sender, such as mc_eid, are not in the list.
 */
const MARKS = new Set([
  "fbclid", "igsh", "igshid", "gclid", "gclsrc", "gad_source", "gad_campaignid", "gbraid", "wbraid", "dclid", "srsltid", "msclkid", "yclid",
  "ttclid", "twclid", "li_fat_id", "rdt_cid", "epik", "sccid", "wickedid", "mc_cid", "_gl", "mibextid",
  "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id", "utm_source_platform", "utm_creative_format",
]);

/** An incomplete link: it has lost part of its digest on the way, which is no sign of an attack. */
export class BrokenLinkError extends Error {
  name = "BrokenLinkError";
}

/**
 * Parses the page's address.
 *
 * Returns `path`; `query` (the language only); `fragment`, with the survey's parameters only, and `hash`, the same as text; `torn`, whether
 * the digest's name is cut off; `marks`, the tracking parameters that are dropped; `unknown`, whether "?" has any other parameter; and the
 * cleaned `link`.
 */
export function readAddress({ origin, pathname, search, hash } = location) {
  const own = parseParts(hash).filter(([name]) => FRAGMENT.includes(name)).map(([name, value]) => `${name}=${value}`);
  const parameters = parseParts(search);
  const languages = parameters.filter(([name, value]) => name === "lang" && LANGUAGE.test(value));
  const others = parameters.map(([name, value]) => (name === "lang" && LANGUAGE.test(value) ? undefined : name)).filter((name) => name !== undefined);
  const path = pathname.replace(/^\/{2,}/, "/"); // "//s" would be another server
  const query = languages.length ? `?lang=${languages.at(-1)[1]}` : "";
  return {
    path,
    query,
    hash: own.length ? `#${own.join("&")}` : "",
    fragment: new URLSearchParams(own.join("&")),
    torn: parseParts(hash).some(([name]) => name !== "" && name !== "digest" && "digest".startsWith(name)) && !own.some((part) => part.startsWith("digest=")),
    marks: [...new Set(others.filter((name) => MARKS.has(name)))],
    unknown: others.some((name) => !MARKS.has(name)),
    link: `${origin}${path}${query}${own.length ? `#${own.join("&")}` : ""}`,
  };
}

/**
 * Splits the part after "#" or "?" into [name, value] pairs, without punctuation at the end. Names are in lower case, values not decoded.
 */
function parseParts(text) {
  const plain = text.slice(1).replace(PUNCTUATION, "");
  const parts = (plain.includes("=") ? plain : plain.replace(/%3d/gi, "=").replace(/%26/gi, "&")).split("&").filter((part) => part !== "");
  return parts.map((part) => {
    const [name, ...value] = part.split("=");
    return [name.toLowerCase(), value.join("=")];
  });
}

/** Returns the link's digest in lower case, or undefined. Throws BrokenLinkError if it is incomplete. */
export function digestOf({ fragment, torn }) {
  const digest = fragment.get("digest")?.replace(INVISIBLE, "").replace(PUNCTUATION, "").toLowerCase();
  if (torn || (digest !== undefined && !DIGEST.test(digest))) throw new BrokenLinkError("the link's digest must be 64 hexadecimal digits");
  return digest;
}

/**
 * Removes group, code and tracking parameters from the address, and so from bookmarks and restored sessions; no page can remove them from
 * the browser's history. The digest is the same for everybody and stays, so that a reload checks it again.
 *
 * The empty "?" prevents a leak: Firefox counts the keys pressed on a page, which reveals how many digits a number has, and saves the count
 * if the address without its fragment is in the history. No link has this "?", so that address never is.
 */
export function cleanAddress({ path, query, fragment }) {
  const digest = fragment.get("digest");
  const search = query === "" ? "?" : `${query}&`;
  history.replaceState(history.state, "", `${path}${search}#${digest === null ? "" : `digest=${encodeURIComponent(digest)}`}`);
}

/** Shows that the server has received an unknown parameter, with a button that continues without it. */
export function showMisled({ path, hash }) {
  onPress(show("misled"), "without", () => location.replace(`${path}?lang=${language()}${hash}`));
}

/** Returns the consent page's sentence about dropped tracking parameters, or null. */
export function marksNotice(marks) {
  return marks.length ? t("Your link had a mark of a service through which it came ({marks}). This server was shown it and writes it down nowhere; the page has dropped it.", { marks: marks.join(", ") }) : null;
}

/** Returns the label that a link names: the same text, or the only one that differs in case, spaces and final punctuation alone. */
export function matchLabel(labels, text) {
  const plain = (label) => label.normalize("NFKC").replace(INVISIBLE, " ").trim().replace(/\s+/g, " ").replace(PUNCTUATION, "").toLowerCase();
  const alike = labels.filter((label) => plain(label) === plain(text));
  return labels.includes(text) ? text : alike.length === 1 ? alike[0] : undefined;
}
