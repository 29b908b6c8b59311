/** People of a list: CSV of a spreadsheet, or addresses as mail programs write them. It is read in this browser and never sent. */

const ADDRESS_HEADING = /mail|addr|adress|correo|courriel|بريد/iu;
const NAME_HEADING = /name|nombre|nom\b|اسم/iu;
const LOCAL_PART = /^[A-Za-z0-9_][A-Za-z0-9_.!#$%&'*+/=?^`{|}~-]*$/; // it begins with a letter or digit, so that no spreadsheet reads a formula
const NO_DOMAIN = /[\s@<>,;:"()[\]\\/?#%]/u;
const MOST_OF_A_LINE = 80; // characters that a problem quotes

/** Returns the text of a file: UTF-8, UTF-16 with its mark, or else Windows-1252, the encoding of older spreadsheets. */
export function decode(bytes) {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Returns a text on one line: control characters, which could begin a header, and spaces become one space. */
export function oneLine(text) {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
}

/**
 * Returns the `rows` of a CSV text, each with its `line` and `cells`, and in `unclosed` the place of a quotation mark without its end. The
 * separator is the tab, semicolon or comma that the first row has most of.
 */
export function readRows(text) {
  const separator = separatorOf(text);
  const rows = [];
  let cells = [], cell = "", line = 1, first = 1, opened; // `opened`: the line of an open quotation mark
  const endRow = () => {
    cells.push(cell);
    if (cells.some((each) => oneLine(each))) rows.push({ line: first, cells: cells.map(oneLine) });
    [cells, cell] = [[], ""];
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    const isEnd = character === "\n" || (character === "\r" && text[at + 1] !== "\n");
    if (isEnd) line += 1;
    if (opened) {
      if (character !== '"') cell += character;
      else if (text[at + 1] === '"') cell += text[(at += 1)];
      else opened = undefined;
    } else if (character === '"' && cell.trim() === "") [cell, opened] = ["", line];
    else if (character === separator) cells.push(cell), (cell = "");
    else if (isEnd) endRow(), (first = line);
    else cell += character;
  }
  if (opened) return { rows, unclosed: { line: opened, text: oneLine(cell) } };
  endRow();
  return { rows };
}

function separatorOf(text) {
  const first = text.replace(/"[^"]*"/g, "").trimStart().split(/[\r\n]/, 1)[0];
  const count = (separator) => first.split(separator).length;
  return ["\t", ";", ","].reduce((best, each) => (count(each) > count(best) ? each : best));
}

/**
 * Returns the people of a text, each address once, and every line that names none.
 *
 * `columns` are the placeholders that the list fills; `people` have an `address` and `values` by column; `problems` have a `line`, its `text`
 * and a `rule`. A first row without an address is the headings, if one of them is a word for an address or a later row has an address.
 */
export function readPeople(text) {
  const { rows, unclosed } = readRows(text);
  const problems = [];
  const headings = headingsOf(rows);
  const entries = (headings ? rows.slice(1) : rows).flatMap((row) => entriesOf(row, headings));
  const seen = new Map();
  const people = [];
  for (const { line, quoted, written, values } of entries) {
    const { address, name } = readAddress(written);
    const rule = problemOf(written, address, seen.get(address?.toLowerCase()));
    if (rule) problems.push({ line, text: shortened(quoted), rule });
    else {
      seen.set(address.toLowerCase(), line);
      people.push({ line, address, values: { ...values, address, name: values.name || name } });
    }
  }
  if (unclosed) problems.push({ line: unclosed.line, text: shortened(unclosed.text), rule: "has a quotation mark without its end, so the rest was not read" });
  problems.sort((one, other) => one.line - other.line);
  return { columns: [...new Set(["address", "name", ...(headings ?? [])])], people, problems };
}

function shortened(text) {
  return text.length > MOST_OF_A_LINE ? `${text.slice(0, MOST_OF_A_LINE)}…` : text;
}

function problemOf(written, address, line) {
  if (!written.includes("@")) return "has no @";
  if (!address) return "is no address that this page can write to";
  return line && `repeats the address of line ${line}`;
}

const hasAddress = (cell) => cell.includes("@");

/** Returns the names of the columns, in lower case; undefined for a list without headings. */
function headingsOf(rows) {
  const [first, ...others] = rows;
  if (!first || first.cells.some(hasAddress)) return undefined;
  const isLabelled = first.cells.some((cell) => ADDRESS_HEADING.test(cell));
  if (!isLabelled && (first.cells.length < 2 || !others.some(({ cells }) => cells.some(hasAddress)))) return undefined;
  const headings = first.cells.map((cell, index) => oneLine(cell.replace(/[{}]/g, "")).toLowerCase() || `column ${index + 1}`);
  const labelled = headings.findIndex((heading) => ADDRESS_HEADING.test(heading));
  const counts = headings.map((_, index) => others.filter(({ cells }) => hasAddress(cells[index] ?? "")).length);
  const best = counts.indexOf(Math.max(...counts));
  const address = labelled >= 0 && (counts[labelled] > 0 || counts[best] === 0) ? labelled : best;
  return headings.map((heading, index) => (index === address ? "address" : heading === "address" ? `column ${index + 1}` : heading));
}

/** Returns the addresses of a row as they are written, with the values of its other columns. */
function entriesOf({ line, cells }, headings) {
  const quoted = cells.join(", ");
  const filled = cells.filter(Boolean);
  if (!headings && filled.length > 1 && filled.every(hasAddress)) return filled.map((written) => ({ line, quoted: written, written, values: {} }));
  const at = headings ? headings.indexOf("address") : Math.max(0, cells.findIndex(hasAddress));
  const values = {};
  cells.forEach((cell, index) => {
    if (index !== at && headings?.[index]) values[headings[index]] = unprotected(cell);
  });
  const named = headings && (headings.includes("name") ? "name" : headings.find((heading) => NAME_HEADING.test(heading)));
  values.name = named ? values[named] : headings ? "" : (cells.find((cell, index) => index !== at && cell) ?? "");
  return [{ line, quoted, written: cells[at] ?? "", values }];
}

/** Removes the apostrophe that `protect` in letters.mjs puts before a formula. */
function unprotected(cell) {
  return cell.replace(/^'(?=[=+\-@＝＋－＠])/u, "");
}

/** Reads `ada@example.org`, `mailto:ada@example.org` and `Ada <ada@example.org>`; without a valid one there is no `address`. */
export function readAddress(written) {
  const match = /^(.*?)\s*<([^<>]*)>$/u.exec(written);
  const text = (match ? match[2] : written).replace(/^mailto:/i, "").trim();
  const [local, domain, ...more] = text.split("@");
  const name = match ? match[1].replace(/^["'\s]+|["'\s]+$/g, "") : "";
  if (more.length || !LOCAL_PART.test(local) || !domain || NO_DOMAIN.test(domain)) return { name };
  const host = asciiDomain(domain);
  return { name, address: host && `${local}@${host}` };
}

/** Returns a domain in ASCII: xn--… for letters beyond it, as mail servers know them; undefined if it is not valid. */
function asciiDomain(domain) {
  if (/^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/.test(domain)) return domain;
  try {
    const { hostname } = new URL(`http://${domain}`);
    return /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(hostname) ? hostname : undefined;
  } catch {
    return undefined;
  }
}
