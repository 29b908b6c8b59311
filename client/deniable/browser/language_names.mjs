/** Language names and text directions. */

const RIGHT_TO_LEFT = "apc ar bal bgn ckb dv fa he ks lrc mzn nqo prs ps rhg sd sdh skr syr trw ug ur yi".split(" ");
const SCRIPTS = { arab: true, hebr: true, adlm: true, nkoo: true, rohg: true, syrc: true, thaa: true, latn: false, cyrl: false, deva: false };

/**
 * Returns a language's name in that language: Kiswahili; with the tag's other parts in parentheses: Kurdî (IQ); or the tag if the name is
 * unknown. `names` is `language_names.json`, from the Unicode locale data (CLDR), because browsers lack many names.
 */
export function languageName(tag, names) {
  const [family, ...rest] = tag.split("-");
  if (!Object.hasOwn(names, family)) return tag;
  if (rest.length && Intl.DisplayNames.supportedLocalesOf(tag).length) return capitalized(new Intl.DisplayNames(tag, { type: "language" }).of(tag));
  return rest.length ? `${names[family]} (${rest.join("-")})` : names[family];
}

/** Returns whether a language is written from right to left, by the script in its tag, if any. */
export function isRightToLeft(tag) {
  const [family, ...rest] = tag.toLowerCase().split("-");
  const script = rest.find((part) => Object.hasOwn(SCRIPTS, part));
  return script === undefined ? RIGHT_TO_LEFT.includes(family) : SCRIPTS[script];
}

function capitalized(name) {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
