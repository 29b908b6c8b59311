/**
 * Autosave in the editor: sends each change as the form would, and replaces only the parts of the page that changed.
 * Without this script every button loads the page.
 */

const WHOLE = ["add", "remove", "copy", "move", "up", "down", "condition", "uncondition", "language", "unlanguage", "propose"]; // actions that add, remove or move fields
let turn = Promise.resolve();
let refused = false; // the last request failed: after a new login the form needs another token
let checks = 0; // waiting checks: only the last one is sent

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

/** Sends the form after earlier requests. pressed: a button's value, or "" for a changed field. */
function send(pressed, whole) {
  const check = !pressed && !whole;
  checks += check;
  turn = turn.then(async () => {
    if (check && (checks -= 1) > 0) return;
    if (refused) await takeToken();
    const focused = document.activeElement;
    const body = new URLSearchParams(new FormData(form()));
    if (pressed) body.set("do", pressed);
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
      if (whole) replace(response, body);
      else renew(response);
      announceSaved();
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

/** Replaces the form with the server's, keeps text typed since, and restores the focus. */
function replace(response, body) {
  const before = document.activeElement?.id;
  const typed = body.has("do") ? [] : [...form().elements].filter((field) => field.id && valueOf(field) !== (body.get(field.name) ?? ""));
  keepScroll(form().querySelector("iframe"), response.querySelector("iframe"));
  const open = foldsOf(form());
  if (!body.has("do")) for (const [name, fold] of foldsOf(response)) fold.open ||= Boolean(open.get(name)?.open);
  form().replaceWith(document.adoptNode(response));
  for (const { id, value, checked } of typed) Object.assign(document.getElementById(id) ?? {}, { value, checked });
  const next = form().querySelector("[autofocus]") ?? document.getElementById(before ?? "");
  next?.focus();
  if (form().querySelector("[autofocus]")) next.closest(".asked, .card")?.scrollIntoView({ block: "nearest" });
  if (typed.length) send("", true);
}

/** Returns the folds by their section and name. */
const foldsOf = (root) => new Map([...root.querySelectorAll("details")].map((fold) => [`${fold.closest("[id]").id} ${fold.firstElementChild.textContent}`, fold]));

/** Announces to screen readers that the draft is saved, with the precision; errors are alerts of their own. */
function announceSaved() {
  const plan = form().querySelector("#outlook strong")?.textContent;
  const [status, message] = [document.getElementById("saved"), plan ? `Saved. ${plan}` : ""];
  if (status.textContent !== message) status.textContent = message;
}

/** Returns the value that a field would be sent with; buttons and hidden fields count as sent. */
function valueOf(field) {
  if (field.type === "checkbox") return field.checked ? field.value : "";
  return ["submit", "button", "hidden", "fieldset"].includes(field.type) ? (new FormData(form()).get(field.name) ?? "") : field.value.replaceAll("\r\n", "\n");
}

/** Replaces messages and previews only; the fields keep their text, because a person may be typing. */
function renew(response) {
  for (const live of response.querySelectorAll("[data-live]")) {
    const old = document.getElementById(live.id);
    if (!old || old.isEqualNode(live)) continue;
    keepScroll(old.querySelector("iframe"), live.querySelector("iframe"));
    old.replaceWith(document.adoptNode(live));
  }
  for (const field of form().querySelectorAll("input, select, textarea")) {
    field.toggleAttribute("aria-invalid", false);
    if (field.id && document.getElementById(`${field.id}-mistake`)?.textContent) field.setAttribute("aria-invalid", "true");
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
  send(pressed, WHOLE.includes(pressed.split(" ")[0]) || pressed === "over");
});

document.addEventListener("change", (event) => {
  if (event.target.form !== form() || event.target.name === "new_language") return;
  send("", "whole" in event.target.dataset);
});

/** Drag and drop by the handle: a question takes the place of the one under it. */
let dragged;
document.addEventListener("pointerdown", (event) => {
  const card = event.target.closest(".handle")?.closest("[data-question]");
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
