/**
 * Page of letters: merges a list of people and codes, and saves messages or a mail merge file.
 *
 * The list is read here and nowhere else: this page makes no request and stores nothing, and its fields belong to no form. A reminder has no
 * codes; there a column `link` of the list fills {link}.
 */

import { Assignment, draft, fillIn, placeholders, toCsv } from "./letters.mjs";
import { decode, readAddress, readPeople, readRows } from "./people_list.mjs";
import { zip } from "./zip.mjs";

const MOST_LINES = 200; // problems that are shown

const element = (id) => document.getElementById(id);
const codes = element("codes");
const links = codes && readRows(codes.value).rows.slice(1).map(({ cells }) => cells[1]);
const assignment = new Assignment(links ?? []);
let list = readPeople("");
let missing = 0;

/** Returns a number of things in words: "1 person", "1,200 people". */
function several(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** Reads the list again, and shows what it has. */
function readList() {
  list = readPeople(element("list").value);
  missing = links ? assignment.assign(list.people.map(({ address }) => address.toLowerCase())) : 0;
  for (const person of list.people) {
    if (links) person.values.link = assignment.links.get(person.address.toLowerCase());
  }
  if (links && !list.columns.includes("link")) list.columns.push("link");
  const counted = [several(list.people.length, "person", "people"), ...(links ? [several(assignment.size, "code")] : [])];
  element("summary").textContent = `${counted.join(", ")}.${missing ? ` ${shortage()}` : ""}`;
  showLines();
  showText();
  if (links) element("save-spare").hidden = list.people.length === 0 || assignment.free.length === 0;
}

function shortage() {
  const needed = assignment.size + missing;
  const already = assignment.isSaved ? ", with those that you saved already" : "";
  return `${several(needed, "code is", "codes are")} needed${already}, and this page has ${assignment.size.toLocaleString("en")}: shorten the list by ${missing.toLocaleString("en")}, or make more codes.`;
}

/** Shows the lines that name no person. */
function showLines() {
  const { problems } = list;
  const box = element("lines");
  box.hidden = problems.length === 0;
  const more = problems.length > MOST_LINES ? `, the first ${MOST_LINES} here` : "";
  element("lines-heading").textContent = `No message for ${several(problems.length, "entry", "entries")} of the list${more}:`;
  const items = problems.slice(0, MOST_LINES).map(({ line, text, rule }) => {
    const quoted = Object.assign(document.createElement("bdi"), { textContent: text });
    const item = document.createElement("li");
    item.append(`Line ${line} ${rule}: `, quoted);
    return item;
  });
  box.querySelector("ul").replaceChildren(...items);
}

/** Shows the placeholders, and the message to the first person. */
function showText() {
  element("columns").textContent = list.columns.map((column) => `{${column}}`).join(" ");
  const [person] = list.people;
  const { subject, body } = person ? messageTo(person) : {};
  element("preview").textContent = person ? `${subject}\n\n${body}` : "Choose a list first.";
}

function messageTo({ values }) {
  return { subject: fillIn(element("subject").value, values), body: fillIn(element("text").value, values) };
}

/** Returns why nothing can be saved, and the field to change; undefined if all is well. */
function problem({ isMessage }) {
  if (list.people.length === 0) return ["Choose a list with at least one address.", "list"];
  if (missing) return [shortage(), "list"];
  if (!isMessage) return undefined;
  const [subject, text] = [element("subject").value, element("text").value];
  if (subject.trim() === "") return ["Write a subject.", "subject"];
  for (const [field, content] of [["subject", subject], ["text", text]]) {
    const [unknown] = placeholders(content).filter((placeholder) => !list.columns.includes(placeholder));
    if (unknown) return [`Your list has no column {${unknown}}.`, field];
  }
  if (links && !placeholders(text).includes("link")) return ["The text must have {link} where each person's link goes.", "text"];
  const used = [...placeholders(subject), ...placeholders(text)];
  for (const { line, values } of list.people) {
    const empty = used.find((placeholder) => !values[placeholder]);
    if (empty) return [`Line ${line} of your list has nothing for {${empty}}. Fill it in, or leave {${empty}} out.`, "text"];
  }
  if (!readAddress(element("sender").value.trim()).address) return ["Enter your e-mail address.", "sender"];
  return undefined;
}

/** Saves a file unless there is a problem, which it shows. */
function saveUnless(options, parts) {
  const [message, field] = problem(options) ?? [];
  element("problem").hidden = message === undefined;
  element("problem").textContent = message ?? "";
  for (const each of document.querySelectorAll("[aria-invalid]")) each.removeAttribute("aria-invalid");
  if (message) {
    element(field).setAttribute("aria-invalid", "true");
    element(field).focus();
  }
  else save(options, parts());
}

function save({ suffix, type }, parts) {
  assignment.isSaved = true;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.download = `${element("letters").dataset.file}${suffix}`;
  link.hidden = true;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function messages() {
  const { address, name } = readAddress(element("sender").value.trim());
  const date = new Date();
  const digits = String(list.people.length).length;
  return zip(list.people.map((person, index) => ({
    name: `message-${String(index + 1).padStart(digits, "0")}.eml`,
    text: draft({ from: { address, name }, to: { address: person.address, name: person.values.name }, date, ...messageTo(person) }),
  })));
}

const table = () => [toCsv(list.columns, list.people.map(({ values }) => values))];
const spare = () => [toCsv(["link"], assignment.free.map((link) => ({ link })))];

async function readFile() {
  const [file] = element("file").files;
  if (!file) return;
  element("list").value = decode(new Uint8Array(await file.arrayBuffer()));
  readList();
}

element("file").onchange = readFile;
element("list").oninput = readList;
element("subject").oninput = element("text").oninput = showText;
element("save-messages").onclick = () => saveUnless({ isMessage: true, suffix: ".zip", type: "application/zip" }, messages);
element("save-table").onclick = () => saveUnless({ suffix: ".csv", type: "text/csv" }, table);
if (links) {
  element("save-spare").onclick = () => saveUnless({ suffix: "-spare.csv", type: "text/csv" }, spare);
  addEventListener("beforeunload", (event) => {
    if (list.people.length && !assignment.isSaved) event.preventDefault();
  });
}
element("no-script").hidden = true;
for (const id of ["letters", "save-messages", "save-table"]) element(id).hidden = false;
readList();
