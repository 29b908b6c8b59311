/** Letters to people: codes in random order, placeholders, CSV for a mail merge, and drafts of e-mail (RFC 5322). */

import { oneLine } from "./people_list.mjs";

const PLACEHOLDER = /\{([^{}\n]+)\}/g;
const MOST_OF_A_WORD = 30; // bytes of an encoded word: with its frame and "Subject: " it stays below 76 characters (RFC 2047)
const PLAIN = /^[\x20-\x7e]{0,60}$/;

/** Returns a random whole number below n, each with the same chance. */
export function below(n) {
  const end = 2 ** 32 - (2 ** 32 % n);
  for (;;) {
    const [word] = crypto.getRandomValues(new Uint32Array(1));
    if (word < end) return word % n;
  }
}

/** Returns the items in random order, each order with the same chance: where a code was made says nothing about its person. */
export function shuffle(items) {
  const order = [...items];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = below(last + 1);
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

/** The codes of a page, and the address that each belongs to. Once a file was saved, an address keeps its code. */
export class Assignment {
  constructor(links) {
    this.size = links.length;
    this.free = shuffle(links);
    this.links = new Map();
    this.isSaved = false;
  }

  /** Gives each address its link. Returns how many are missing; then no address gets one. */
  assign(addresses) {
    if (!this.isSaved) {
      this.free.push(...this.links.values());
      this.links.clear();
      this.free = shuffle(this.free);
    }
    const fresh = addresses.filter((address) => !this.links.has(address));
    if (fresh.length > this.free.length) return fresh.length - this.free.length;
    for (const address of fresh) this.links.set(address, this.free.pop());
    return 0;
  }
}

const keyOf = (placeholder) => oneLine(placeholder).toLowerCase();

/** Returns the placeholders of a text, in lower case. */
export function placeholders(text) {
  return [...text.matchAll(PLACEHOLDER)].map(([, placeholder]) => keyOf(placeholder));
}

/** Returns a text with the values in place of its placeholders. A value is never read as a placeholder. */
export function fillIn(text, values) {
  return text.replace(PLACEHOLDER, (whole, placeholder) => (Object.hasOwn(values, keyOf(placeholder)) ? values[keyOf(placeholder)] : whole));
}

/** Returns a cell that no spreadsheet reads as a formula: an apostrophe comes before =, +, - and @. */
export function protect(cell) {
  const text = oneLine(cell);
  return /^[=+\-@＝＋－＠]/u.test(text) ? `'${text}` : text;
}

/** Returns a CSV text with a byte order mark, by which Excel reads UTF-8. */
export function toCsv(columns, rows) {
  const line = (cells) => `${cells.map((cell) => `"${protect(cell ?? "").replaceAll('"', '""')}"`).join(",")}\r\n`;
  return `\ufeff${[columns, ...rows.map((row) => columns.map((column) => row[column]))].map(line).join("")}`;
}

/**
 * Returns a draft of an e-mail, which mail programs that know X-Unsent open for sending.
 *
 * `to` and `from` have an `address` and a `name`. Every value is on one line and encoded, so none can begin a header.
 */
export function draft({ from, to, subject, body, date }) {
  const headers = [
    `From: ${mailbox(from)}`,
    `To: ${mailbox(to)}`,
    `Subject: ${words(subject)}`,
    `Date: ${date.toUTCString().replace("GMT", "+0000")}`,
    "X-Unsent: 1",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: base64",
  ];
  const lines = base64(body.replace(/\r\n?|\n/g, "\r\n")).match(/.{1,76}/g) ?? [];
  return `${headers.join("\r\n")}\r\n\r\n${lines.join("\r\n")}\r\n`;
}

function mailbox({ name, address }) {
  const plain = oneLine(name ?? "");
  if (plain === "") return address;
  return `${/^[A-Za-z0-9 ]{1,60}$/.test(plain) ? plain : encodedWords(plain)}\r\n <${address}>`;
}

function words(text) {
  const plain = oneLine(text);
  return PLAIN.test(plain) && !plain.includes("=?") ? plain : encodedWords(plain);
}

/** Returns a text as encoded words of UTF-8 (RFC 2047), each of whole characters. */
function encodedWords(text) {
  const parts = [""];
  for (const character of text) {
    if (utf8(parts.at(-1) + character).length > MOST_OF_A_WORD) parts.push("");
    parts[parts.length - 1] += character;
  }
  return parts.map((part) => `=?utf-8?B?${base64(part)}?=`).join("\r\n ");
}

const utf8 = (text) => new TextEncoder().encode(text);

function base64(text) {
  return btoa(Array.from(utf8(text), (byte) => String.fromCharCode(byte)).join(""));
}
