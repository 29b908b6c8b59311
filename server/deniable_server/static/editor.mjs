/**
 * The editor at once: each button and each change is sent as the form would send it, and the server's page put in place of this one,
 * as little of it as has changed. Without this script every button loads the page.
 */

const WHOLE = ["add", "remove", "copy", "move", "up", "down", "condition", "uncondition", "language", "unlanguage", "propose"]; // what changes which fields there are
let turn = Promise.resolve();
let refused = false; // what was sent last: whoever was logged out and is back needs another token
let checks = 0; // that wait: the last one says what all of them would

const form = () => document.getElementById("editor");

/** The page that the server gives for what is sent, or where nothing is. */
function page(sent) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(sent ? "POST" : "GET", form().action.replace(/#.*/, ""));
    request.responseType = "document"; // a page that runs no script, and no text that could become one
    request.onload = () => resolve(request);
    request.onerror = reject;
    request.send(sent);
  });
}

/** Sends what stands in the form, after what was sent before. pressed: a button's value, or "" where a field was changed. */
function send(pressed, whole) {
  const check = !pressed && !whole;
  checks += check;
  turn = turn.then(async () => {
    if (check && (checks -= 1) > 0) return;
    if (refused) await takeToken();
    const focused = document.activeElement;
    const sent = new URLSearchParams(new FormData(form()));
    if (pressed) sent.set("do", pressed);
    form().inert = Boolean(pressed); // which fields there are changes: nobody can type into one that goes
    const request = await page(sent).catch(() => undefined);
    form().inert = false;
    if (pressed) focused.focus({ preventScroll: true }); // what is inert loses it
    const made = request?.response?.getElementById("editor");
    refused = !made;
    if (loggedOut(request)) sayLogIn(request.responseURL);
    else if (request?.responseURL && new URL(request.responseURL).pathname !== location.pathname) location.assign(request.responseURL);
    else if (!made) say(request);
    else {
      if (whole) replace(made, sent);
      else renew(made);
      sayKept();
    }
  }).catch(() => say());
}

/** The token that the server wants by now beside what is sent, where it gives one. */
async function takeToken() {
  const fresh = (await page().catch(() => undefined))?.response?.querySelector("#editor [name=csrf_token]");
  if (fresh) form().elements.csrf_token.value = fresh.value;
}

/** Whether the server has led to its door in place of an answer. */
const loggedOut = (request) => Boolean(request?.responseURL) && new URL(request.responseURL).pathname === "/login";

/** Puts the server's form in the place of this one, with what was typed since, and goes on where it says, or where one was. */
function replace(made, sent) {
  const before = document.activeElement?.id;
  const typed = sent.has("do") ? [] : [...form().elements].filter((field) => field.id && valueOf(field) !== (sent.get(field.name) ?? ""));
  keepPlace(form().querySelector("iframe"), made.querySelector("iframe"));
  const open = unfolded(form());
  if (!sent.has("do")) for (const [place, one] of unfolded(made)) one.open ||= Boolean(open.get(place)?.open);
  form().replaceWith(document.adoptNode(made));
  for (const { id, value, checked } of typed) Object.assign(document.getElementById(id) ?? {}, { value, checked });
  const next = form().querySelector("[autofocus]") ?? document.getElementById(before ?? "");
  next?.focus();
  if (form().querySelector("[autofocus]")) next.closest(".asked, .card")?.scrollIntoView({ block: "nearest" });
  if (typed.length) send("", true);
}

/** The parts that somebody has unfolded: each by the place that it is in and its name. */
const unfolded = (among) => new Map([...among.querySelectorAll("details")].map((one) => [`${one.closest("[id]").id} ${one.firstElementChild.textContent}`, one]));

/** Tells those who do not see it that what they typed is kept, and what that makes of the plan; what is to be mended is an alert. */
function sayKept() {
  const plan = form().querySelector("#outlook strong")?.textContent;
  const [said, told] = [document.getElementById("said"), plan ? `Saved. ${plan}` : ""];
  if (said.textContent !== told) said.textContent = told;
}

/** What a field would be sent as; buttons and what is hidden from people count as sent. */
function valueOf(field) {
  if (field.type === "checkbox") return field.checked ? field.value : "";
  return ["submit", "button", "hidden", "fieldset"].includes(field.type) ? (new FormData(form()).get(field.name) ?? "") : field.value.replaceAll("\r\n", "\n");
}

/** Only what is said about the fields; what stands in them stays, as somebody may be typing. */
function renew(made) {
  for (const live of made.querySelectorAll("[data-live]")) {
    const there = document.getElementById(live.id);
    if (!there || there.isEqualNode(live)) continue;
    keepPlace(there.querySelector("iframe"), live.querySelector("iframe"));
    there.replaceWith(document.adoptNode(live));
  }
  for (const field of form().querySelectorAll("input, select, textarea")) {
    field.toggleAttribute("aria-invalid", false);
    if (field.id && document.getElementById(`${field.id}-mistake`)?.textContent) field.setAttribute("aria-invalid", "true");
  }
}

/** Tells a new frame how far the old one was scrolled. */
function keepPlace(before, next) {
  if (before && next) next.name = before.contentDocument?.body?.scrollTop ?? "";
}

function say(request) {
  alarm(`Not saved: ${request?.response?.querySelector("main p")?.textContent ?? "the server could not be reached."} What you typed is still here.`);
}

function sayLogIn(door) {
  const link = Object.assign(document.createElement("a"), { href: door, target: "_blank", rel: "noopener", textContent: "Log in in another window" });
  alarm("You are logged out, and this is not saved yet. What you typed is still here. ", link, ", come back, and go on: it is saved with your next change.");
}

function alarm(...words) {
  const told = document.createElement("p");
  told.className = "problem";
  told.setAttribute("role", "alert");
  told.append(...words);
  document.getElementById("told").replaceChildren(told);
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

/** Dragging by the handle: a question takes the place of the one that it is let go on. */
let dragged;
document.addEventListener("pointerdown", (event) => {
  const card = event.target.closest(".handle")?.closest("[data-question]");
  for (const one of document.querySelectorAll("[data-question]")) one.draggable = one === card;
});
document.addEventListener("dragstart", (event) => {
  dragged = event.target.dataset?.question;
  if (dragged !== undefined) event.dataTransfer.setData("text/plain", "");
});
document.addEventListener("dragover", (event) => {
  const over = event.target.closest?.("[data-question]");
  for (const one of document.querySelectorAll(".over")) if (one !== over) one.classList.remove("over");
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
  for (const one of document.querySelectorAll(".over")) one.classList.remove("over");
});
