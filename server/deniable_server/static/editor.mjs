/**
 * Autosave in the editor: sends each change as the form would, and replaces only the parts of the page that changed.
 * Without this script every button loads the page.
 */

const PARTS = ["save", "publish", "library"]; // actions after which the fields stay as they are
const IDLE = 3000; // milliseconds after the last key until a field that is still being written is saved
let turn = Promise.resolve();
let refused = false; // the last request failed: after a new login the form needs another token
let checks = 0; // waiting checks: only the last one is sent
let idle; // the timer of a field that is being written

const form = () => document.getElementById("editor");

/** Returns the server's page after a POST of `body`, or a GET without it. */
function page(body) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(body ? "POST" : "GET", form().action.replace(/#.*/, ""));
    request.responseType = "document"; // a document that runs no script
    request.onload = () => resolve(request);
    request.onerror = reject;
    request.send(body);
  });
}

/**
 * Sends the form after earlier requests.
 * pressed: a button's value, or "" for a changed field. whole: the fields themselves may change. focus: the id that then has the focus.
 */
function send(pressed, whole, focus) {
  clearTimeout(idle);
  const check = !pressed && !whole;
  checks += check;
  turn = turn.then(async () => {
    if (check && (checks -= 1) > 0) return;
    if (refused) await takeToken();
    const focused = document.activeElement;
    const body = new URLSearchParams(new FormData(form()));
    if (pressed) body.set("do", pressed);
    showState("Saving…");
    form().inert = Boolean(pressed); // the fields may change: no typing into one that disappears
    const request = await page(body).catch(() => undefined);
    form().inert = false;
    if (pressed) focused.focus({ preventScroll: true }); // an inert element loses the focus
    const response = request?.response?.getElementById("editor");
    refused = !response;
    if (loggedOut(request)) showLogin(request.responseURL);
    else if (request?.responseURL && new URL(request.responseURL).pathname !== location.pathname) location.assign(request.responseURL);
    else if (!response) showFailure(request);
    else {
      const isSaved = "saved" in response.dataset;
      if (whole) replace(response, body, focus);
      else renew(response);
      retitle(request.response);
      announce(isSaved);
    }
  }).catch(() => showFailure());
}

/** Takes a new CSRF token from the server. */
async function takeToken() {
  const fresh = (await page().catch(() => undefined))?.response?.querySelector("#editor [name=csrf_token]");
  if (fresh) form().elements.csrf_token.value = fresh.value;
}

/** Returns whether the server has redirected to the login page. */
const loggedOut = (request) => Boolean(request?.responseURL) && new URL(request.responseURL).pathname === "/login";

/** Replaces the form with the server's, keeps text typed since and the folds, and restores the focus. */
function replace(response, body, focus) {
  const before = document.activeElement?.id;
  const typed = body.has("do") ? [] : [...form().elements].filter((field) => field.id && valueOf(field) !== (body.get(field.name) ?? ""));
  keepScroll(form().querySelector("iframe"), response.querySelector("iframe"));
  const wanted = response.querySelector("[autofocus]");
  keepFolds(form(), response, wanted);
  form().replaceWith(document.adoptNode(response));
  for (const { id, value, checked } of typed) Object.assign(document.getElementById(id) ?? {}, { value, checked });
  const next = document.getElementById(focus ?? "")?.querySelector("summary") ?? wanted ?? document.getElementById(before ?? "");
  next?.focus();
  if (wanted && !focus) wanted.scrollIntoView({ block: "nearest" });
  if (typed.length) send("", true);
}

/** Opens the folds of the new form that were open before, or that hold the field with the focus; the others are closed. */
function keepFolds(before, response, wanted) {
  const open = new Map([...before.querySelectorAll("details")].map((fold) => [nameOf(fold), fold.open]));
  const elsewhere = wanted?.closest("details[name]");
  for (const fold of response.querySelectorAll("details")) {
    const name = nameOf(fold);
    if (fold.contains(wanted)) fold.open = true;
    else if (fold.name && elsewhere) fold.open = false; // one question is open at a time
    else if (open.has(name)) fold.open = open.get(name);
  }
}

/** Returns a fold's name: its id, or the section it is in and its place there. */
function nameOf(fold) {
  const section = fold.parentElement.closest("[id]");
  return fold.id || `${section.id} ${[...section.querySelectorAll("details")].indexOf(fold)}`;
}

/** Says when the draft was saved, and announces to screen readers what was done, with the precision; errors are alerts of their own. */
function announce(isSaved) {
  showState(isSaved ? `Saved ${new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}` : "Not saved");
  const plan = isSaved && form().querySelector("#outlook strong")?.textContent;
  const [status, done] = [document.getElementById("announcer"), document.getElementById("message").textContent.trim()];
  const message = `${done} ${plan ? `Saved. ${plan}` : ""}`.trim();
  if (status.textContent !== message) status.textContent = message;
}

/** Shows in the bar whether the draft is saved. */
function showState(words) {
  document.getElementById("saved").textContent = words;
}

/** Returns the value that a field would be sent with; buttons and hidden fields count as sent. */
function valueOf(field) {
  if (field.type === "checkbox") return field.checked ? field.value : "";
  return ["submit", "button", "hidden", "fieldset", "file"].includes(field.type) ? (new FormData(form()).get(field.name) ?? "") : field.value.replaceAll("\r\n", "\n");
}

/** Replaces messages and previews only; the fields keep their text, because a person may be typing. */
function renew(response) {
  for (const live of response.querySelectorAll("[data-live]")) {
    const old = document.getElementById(live.id);
    if (!old || old.isEqualNode(live)) continue;
    keepScroll(old.querySelector("iframe"), live.querySelector("iframe"));
    keepOpen(old, live);
    old.replaceWith(document.adoptNode(live));
  }
  for (const field of form().querySelectorAll("input, select, textarea")) {
    field.toggleAttribute("aria-invalid", false);
    if (field.id && document.getElementById(`${field.id}-mistake`)?.textContent) field.setAttribute("aria-invalid", "true");
  }
}

/** Takes the title of the draft from the server's page, for the heading and the tab. */
function retitle(next) {
  document.title = next.title;
  document.querySelector("h1").replaceChildren(...document.adoptNode(next.querySelector("h1")).childNodes);
}

/** Passes on which folds of a part of the page are open. */
function keepOpen(before, next) {
  const folds = [...before.querySelectorAll("details")];
  for (const [index, fold] of [...next.querySelectorAll("details")].entries()) {
    if (folds[index]?.className === fold.className) fold.open = folds[index].open;
  }
}

/** Passes the scroll position of the old frame to the new one. */
function keepScroll(before, next) {
  if (before && next) next.name = before.contentDocument?.body?.scrollTop ?? "";
}

function showFailure(request) {
  showProblem(`Not saved: ${request?.response?.querySelector("main p")?.textContent ?? "the server could not be reached."} Your text is still here.`);
}

function showLogin(address) {
  const link = Object.assign(document.createElement("a"), { href: address, target: "_blank", rel: "noopener", textContent: "Log in in another window" });
  showProblem("You are logged out, and your text is not saved yet. It is still here. ", link, ", then come back: it is saved with your next change.");
}

function showProblem(...words) {
  showState("Not saved");
  document.getElementById("to-do").replaceChildren(Object.assign(document.createElement("a"), { href: "#problems", className: "fault", textContent: "See why" }));
  const problem = document.createElement("p");
  problem.className = "problem";
  problem.setAttribute("role", "alert");
  problem.append(...words);
  document.getElementById("problems").replaceChildren(problem);
}

document.addEventListener("submit", (event) => {
  const pressed = event.submitter?.value ?? "save";
  if (event.target !== form() || pressed === "keep") return;
  event.preventDefault();
  if (event.submitter?.getAttribute("aria-disabled") === "true") return;
  send(pressed, !PARTS.includes(pressed.split(" ")[0]));
});

document.addEventListener("change", (event) => {
  if (event.target.form !== form() || event.target.name === "new_language") return;
  if (event.target.type === "file") takeLogo(event.target);
  else send("", "whole" in event.target.dataset);
});

document.addEventListener("input", (event) => {
  if (event.target.form !== form() || event.target.name === "new_language" || event.target.type === "file") return;
  showState("Not saved yet");
  clearTimeout(idle);
  idle = setTimeout(() => send("", false), IDLE);
});

/** Puts a chosen picture into the field of the logo, or says why it cannot be one. The file itself is never sent. */
async function takeLogo(chooser) {
  const [file] = chooser.files;
  if (!file) return;
  const address = await dataAddress(file).catch(() => "");
  const isPicture = /^data:image\/(png;base64,iVBORw0KGgo|webp;base64,UklGR)/.test(address);
  chooser.value = ""; // the same file can be chosen again
  if (isPicture && file.size <= chooser.dataset.most) return setLogo(address);
  const got = isPicture ? `${Math.ceil(file.size / 1000)} kB` : `“${file.name}”`;
  const message = `The logo must be a PNG or WebP picture of at most ${Math.floor(chooser.dataset.most / 1000)} kB, got ${got}.`;
  document.getElementById("logo-mistake").textContent = document.getElementById("announcer").textContent = message;
}

/** Returns a file as a data: address. */
function dataAddress(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = reject;
    reader.readAsDataURL(file);
  });
}

/** Sets the logo, saves it, and shows it. */
function setLogo(address) {
  form().elements.logo.value = address;
  document.getElementById("logo-mistake").textContent = "";
  document.getElementById("logo-file").focus(); // the button that was pressed may disappear
  send("", false);
}

document.addEventListener("click", (event) => {
  if (event.target.id === "logo-remove") setLogo("");
  const link = event.target.closest?.('.editor a[href^="#"]');
  if (link && reveal(link.getAttribute("href").slice(1))) event.preventDefault();
});

/** Opens the folds around an element, and focuses it, or the line of its fold. Returns whether there is one. */
function reveal(id) {
  const target = document.getElementById(`${id}-file`) ?? document.getElementById(id);
  if (!target) return false;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  const line = target.matches("details") ? target.firstElementChild : target;
  if (!line.matches("input, select, textarea, summary, button")) line.tabIndex = -1;
  line.focus({ preventScroll: true });
  line.scrollIntoView({ block: target.matches("details, h2") ? "start" : "center" });
  return true;
}

/** Keys: Alt with an arrow moves the question whose line has the focus; Ctrl+S saves; Ctrl+Z outside of a field undoes. */
document.addEventListener("keydown", (event) => {
  const control = event.ctrlKey || event.metaKey;
  const card = event.target.matches?.("summary") ? event.target.closest("[data-question]") : null;
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (control && event.key.toLowerCase() === "s") send("", false);
  else if (control && event.key.toLowerCase() === "z" && !event.target.matches?.("input, textarea, select")) send(event.shiftKey ? "redo" : "undo", true);
  else if (event.altKey && step && card) move(Number(card.dataset.question), step);
  else return;
  event.preventDefault();
});

/** Moves a question one place up or down; its line keeps the focus. */
function move(from, step) {
  const to = from + step;
  if (document.getElementById(`questions-${to}`)) send(`${step < 0 ? "up" : "down"} ${from}`, true, `questions-${to}`);
}

document.documentElement.classList.add("scripted");
if (matchMedia("(max-width: 63.99rem)").matches) document.getElementById("outline").open = false;
if (form().querySelector(`[id="${CSS.escape(location.hash.slice(1))}"]`)) reveal(location.hash.slice(1));
else if (location.hash) {
  history.replaceState(history.state, "", location.pathname + location.search); // left over from a skip link on the page before
  addEventListener("load", () => form().querySelector("[autofocus]")?.focus());
}

/** Drag and drop by the handle: a question takes the place of the one under it. */
let dragged;
document.addEventListener("pointerdown", (event) => {
  const card = event.target.closest?.(".handle")?.closest("[data-question]"); // elsewhere a drag selects text
  for (const question of document.querySelectorAll("[data-question]")) question.draggable = question === card;
});
document.addEventListener("dragstart", (event) => {
  dragged = event.target.dataset?.question;
  if (dragged !== undefined) event.dataTransfer.setData("text/plain", "");
});
document.addEventListener("dragover", (event) => {
  const over = event.target.closest?.("[data-question]");
  for (const question of document.querySelectorAll(".over")) if (question !== over) question.classList.remove("over");
  if (dragged === undefined || !over) return;
  event.preventDefault();
  over.classList.add("over");
});
document.addEventListener("drop", (event) => {
  const to = event.target.closest?.("[data-question]")?.dataset.question;
  if (dragged === undefined || to === undefined) return;
  event.preventDefault();
  send(`move ${dragged} ${to}`, true);
});
document.addEventListener("dragend", () => {
  dragged = undefined;
  for (const question of document.querySelectorAll(".over")) question.classList.remove("over");
});
