/** Respondent's link: the address of a survey, with parameters in its fragment, which no server sees. Twin: `wire/link.py`. */

const KEYS = ["digest", "group", "code"];
const DIGEST = /^[0-9a-f]{64}$/;
const PATH = /^(.*)\/s\/([a-z0-9][a-z0-9_-]{0,63})(\/kiosk)?\/?$/;

/** Parses a link into {server, id, digest, group, code}. Throws TypeError, which quotes neither a code nor a password. */
export function parseLink(link) {
  const { protocol, username, password, origin, pathname, search, hash } = urlOf(link) ?? {};
  const [, folder, id] = PATH.exec(pathname) ?? [];
  const isLink = ["http:", "https:"].includes(protocol) && id !== undefined;
  rule(isLink, `link must look like https://host/s/<survey id>#digest=<digest>, got ${typeof link === "string" ? "other text" : typeof link}`);
  rule(username === "" && password === "", "link must have no name or password in it");
  const misplaced = KEYS.find((key) => new URLSearchParams(search.toLowerCase()).has(key));
  rule(misplaced === undefined, `the link's ${misplaced} must come after #, which no server sees, and not after ?`);
  return { server: origin + folder, id, ...parseFragment(hash.slice(1)) };
}

function urlOf(link) {
  try {
    return typeof link === "string" ? new URL(link) : undefined;
  } catch {
    return undefined;
  }
}

function parseFragment(text) {
  const pairs = text === "" ? [] : text.split("&").map((part) => [part.split("=")[0], part.split("=").slice(1).join("=")]);
  const names = pairs.map(([name]) => name);
  const isValid = pairs.every(([name, value]) => KEYS.includes(name) && value !== "") && new Set(names).size === names.length;
  rule(isValid, `the link's fragment must be of ${KEYS.map((key) => `${key}=…`).join(", ")}, joined by &, each once at most`);
  const values = Object.fromEntries(pairs.map(([name, value]) => [name, decoded(value)]));
  rule(values.digest === undefined || DIGEST.test(values.digest), "the link's digest must be 64 lower-case hexadecimal digits, got other text");
  return values;
}

function decoded(value) {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new TypeError("the link's fragment must be percent-encoded UTF-8");
  }
}

function rule(holds, message) {
  if (!holds) throw new TypeError(message);
}
