/** What languages are called in themselves, and which of them are written from right to left. */

const RIGHT_TO_LEFT = "apc ar bal bgn ckb dv fa he ks lrc mzn nqo prs ps rhg sd sdh skr syr trw ug ur yi".split(" ");
const SCRIPTS = { arab: true, hebr: true, adlm: true, nkoo: true, rohg: true, syrc: true, thaa: true, latn: false, cyrl: false, deva: false };

/**
 * A language's name in itself: Kiswahili; with what else its tag says in parentheses: Kurdî (IQ). The tag where the name is not known.
 * `names` is what `language_names.json` has, from the Unicode locale data (CLDR): browsers do not carry the names of all languages.
 */
export function nameOf(tag, names) {
  const [family, ...rest] = tag.split("-");
  if (!Object.hasOwn(names, family)) return tag;
  if (rest.length && Intl.DisplayNames.supportedLocalesOf(tag).length) return capitalised(new Intl.DisplayNames(tag, { type: "language" }).of(tag));
  return rest.length ? `${names[family]} (${rest.join("-")})` : names[family];
}

/** Whether a language is written from right to left: as its script is, where its tag names one. */
export function isRightToLeft(tag) {
  const [family, ...rest] = tag.toLowerCase().split("-");
  const script = rest.find((part) => Object.hasOwn(SCRIPTS, part));
  return script === undefined ? RIGHT_TO_LEFT.includes(family) : SCRIPTS[script];
}

function capitalised(name) {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
