/**
 * The respondent's page: check the survey, ask for consent, ask the questions, and at Send randomize once and deliver.
 *
 * True answers live in the page's controls, and in `perturb` for as long as it runs. What leaves this file, to storage or
 * to the network, is its return value.
 */

import { Asking } from "./asking.mjs";
import { read, secret, submissionId, written } from "./codes.mjs";
import { surest, writeConsent } from "./consent.mjs";
import { RefusedError, readDefinition } from "./definition.mjs";
import { Device, RejectedError, deliver } from "./delivery.mjs";
import { encodeAll } from "./encode.mjs";
import { Entry, mark } from "./entry.mjs";
import { keepFragment, language, latinDigits, number, t, tn } from "./language.mjs";
import { fill, onPress, show } from "./page.mjs";
import { cryptoWords, draw, randomize } from "./randomize.mjs";
import { receipt } from "./receipt.mjs";
import { base64url, envelope, pack } from "./submission.mjs";
import { wordsOf } from "./words.mjs";

const AGAIN = 30_000; // milliseconds until a record that waits is tried again by itself

/**
 * Encodes and randomizes the answers, once, and packs them into an envelope. `answers` are those to the questions that
 * `asked` names, or to all. Coins are tossed for the others too; their bits are not sent. `more` may hold a group and an invitation.
 */
export function perturb({ digest, survey: { questions, items } }, answers, nextWord, { id, asked, ...more }) {
  const categories = encodeAll(questions.filter(isAsked(asked)), answers, nextWord);
  const bits = items.map((item) => randomize(item.channel, isAsked(asked)(item) ? categories.shift() : 0, nextWord));
  return envelope({ id, digest, count: 1, reports: pack(items, bits, asked), ...more });
}

/** Whether a question, or an item of one, is among those drawn. */
function isAsked(asked) {
  return ({ number }) => asked === undefined || asked[number] === 1;
}

async function start(url, id) {
  const fragment = takeFragment();
  requireBrowser();
  const definition = await readDefinition(await download(url), { pin: fragment.get("digest") }).catch(distrust);
  if (definition.survey.id !== id) throw new RefusedError(t("the survey must be {id}, as the link says, got another one", { id }));
  const device = storing(() => new Device(definition.digest));
  const words = wordsOf(definition.survey, language());
  document.title = words.title.text; // one title to the end: browsers write titles to the disk
  const context = { url: `${url}/submissions`, definition, device, fragment, words };
  if (device.answered) sayAnswered(context);
  else if (device.waiting) send(context);
  else askConsent(context);
}

/**
 * What the link says. Group and code go from the address, and so from bookmarks and what is restored; the list of visited pages
 * keeps what was opened, whatever a page does. The digest is the same for everybody and stays: a page loaded again is held to it.
 */
function takeFragment() {
  keepFragment();
  const fragment = new URLSearchParams(location.hash.slice(1));
  const digest = fragment.get("digest");
  history.replaceState(null, "", location.pathname + location.search + (digest === null ? "" : `#digest=${encodeURIComponent(digest)}`));
  return fragment;
}

/** Says in the page's language that a definition is refused; which rule it breaks is a detail, in English. */
function distrust(error) {
  if (!(error instanceof RefusedError)) throw error;
  const told = t("what this server says about the survey is not what it must be, or not what your link names");
  throw Object.assign(new RefusedError(told), { detail: error.message });
}

/** What must hold before a question may be shown. */
function requireBrowser() {
  if (!isSecureContext) {
    throw new RefusedError(t("this page must be opened over HTTPS: only there can your browser check the survey that it was given"));
  }
  try {
    cryptoWords()();
  } catch {
    throw new RefusedError(t("this browser must have a cryptographic random generator, which your answers are scrambled with; it has none"));
  }
}

/** The definition, which the page has asked for already: a request with other credentials than that one's would be a second one. */
async function download(url) {
  const reply = await fetch(url, { credentials: "same-origin", cache: "no-store", referrerPolicy: "no-referrer" });
  if (!reply.ok) throw new Error(`the server did not give the survey (status ${reply.status})`);
  return new Uint8Array(await reply.arrayBuffer());
}

/** Does something with this device's storage, which a browser may forbid. */
function storing(action) {
  try {
    return action();
  } catch {
    throw new RefusedError(
      t("this browser must let the page keep the scrambled answers until they have arrived. Allow site data for this page, then reload it"),
    );
  }
}

function askConsent(context) {
  const { definition, device, fragment, words } = context;
  const step = show("consent");
  writeConsent(step, definition, words, device.spent({ others: true }));
  const entry = new Entry(step.querySelector("[data-slot=entry]"), definition.survey, fragment);
  onPress(step, "agree", async () => {
    const more = await entry.read();
    if (more) askQuestions({ ...context, more });
  });
  onPress(step, "decline", () => onPress(show("declined"), "back", () => askConsent(context)));
}

function askQuestions(context) {
  const { definition: { survey }, device, words } = context;
  const asked = storing(() => device.asked(() => draw(survey, cryptoWords())));
  const questions = survey.questions.filter(isAsked(asked));
  const asking = new Asking(questions, words, survey.layout === "steps", async (controls) => {
    try {
      await finish({ ...context, asked }, controls);
    } catch (error) {
      refuse(error);
    } finally {
      asking.clear();
    }
  });
  addEventListener("pagehide", () => asking.clear());
}

/** Randomizes, keeps, sends. Nothing awaits between the look at what this device has and what it keeps: two tabs draw once. */
async function finish(context, controls) {
  const { definition, device, asked, more } = context;
  const code = secret();
  const [id, text] = await Promise.all([submissionId(code), written(code)]);
  if (!device.answered && !device.waiting) {
    const answers = controls.take();
    const perturbed = perturb(definition, answers, cryptoWords(), { id, asked, ...more });
    answers.fill(undefined);
    storing(() => device.keep({ envelope: perturbed, epsilon: definition.epsilon }));
    context = { ...context, own: { id: base64url(id), code: text } };
  }
  controls.clear(); // if another tab was faster, its noise is the noise
  document.querySelector("#questions [data-slot=list]").replaceChildren();
  document.querySelector("#review [data-slot=answers]").replaceChildren();
  send(context);
}

/** Sends the envelope that waits; ends with thanks, or with the offer to try again. */
async function send(context) {
  const { url, definition: { survey }, device, words } = context;
  if (!device.waiting) return device.answered ? sayAnswered(context) : location.reload();
  const body = device.waiting;
  const step = show("sending");
  fill(step, { attempt: t("Sending…") });
  try {
    await deliver(url, body, (attempt) => fill(step, { attempt: t("No answer from the server yet. Trying again ({attempt})…", { attempt: number(attempt) }) }));
  } catch (error) {
    return offer(context, error);
  }
  device.settle();
  const thanks = show("thanks");
  showCode(thanks, context, body);
  offerLater(thanks, context);
  return thanks.querySelector("[data-slot=receipt]").replaceChildren(receipt(survey, words, body, t("Show what was sent")));
}

/** Shows the code that erases a record. Only the page that drew the record knows it: it is kept nowhere. */
function showCode(step, { own }, body) {
  const code = own?.id === JSON.parse(body).id ? own.code : null;
  step.querySelector(".withdrawal").hidden = code === null;
  const gone = t("The code with which this record can be erased was shown before this page was closed or loaded again. This device did not keep it.");
  fill(step, { code, codeGone: code === null ? gone : null });
}

function sayAnswered(context) {
  offerLater(show("answered"), context);
}

/** What can be done after the record has arrived: look at what this device has spent, and have it forget. */
function offerLater(step, { device, words }) {
  const { surveys, epsilon } = device.spent();
  const values = { n: number(surveys), epsilon: number(epsilon, { maximumFractionDigits: 2 }), surest: surest(epsilon) };
  const spent = tn(
    "This device has answered {n} survey here. Its record can make a 50:50 guess about you at most {surest} % sure (epsilon {epsilon}).",
    "This device has answered {n} surveys here. All their records together can make a 50:50 guess about you at most {surest} % sure (epsilon {epsilon}).",
    surveys,
    values,
  );
  fill(step, { spent });
  onPress(step, "forget", () => {
    device.forget();
    show("forgotten");
  });
}

/** Says why the record waits, and sends it again: by itself when the connection is back or after a while, or on demand. */
function offer(context, error) {
  const { definition: { survey }, device, words } = context;
  const step = show("waiting");
  showCode(step, context, device.waiting);
  const refused = error instanceof RejectedError;
  const invitation = refused && error.rule === "invitation";
  fill(step, { reason: reasonOf(error), detail: refused ? error.message : null });
  step.querySelector("[data-slot=entry]").hidden = !invitation;
  step.querySelector("[data-slot=waits]").hidden = refused;
  step.querySelector("[data-slot=receipt]").replaceChildren(receipt(survey, words, device.waiting, t("Show what will be sent")));
  const waiting = new AbortController();
  const again = () => {
    waiting.abort();
    send(context);
  };
  if (!refused) {
    addEventListener("online", again, { signal: waiting.signal });
    const timer = setTimeout(again, AGAIN);
    waiting.signal.onabort = () => clearTimeout(timer);
  }
  onPress(step, "retry", async () => {
    if (!invitation || (await useCode(step, device))) again();
  });
  onPress(step, "forget", () => {
    waiting.abort();
    device.forget();
    show("forgotten");
  });
}

function reasonOf(error) {
  if (!(error instanceof RejectedError)) return navigator.onLine ? t("The server could not be reached.") : t("This device is offline.");
  if (error.rule === "invitation") return t("The server did not take it: the invitation code has been used, or is not one of this survey.");
  if (error.rule === "closed") return t("The server did not take it: the survey is closed.");
  if (error.rule === "conflict") return t("The server did not take it: this record has been withdrawn.");
  return t("The server did not take it.");
}

/** Puts another invitation code beside the same record; false where the code typed is none. */
async function useCode(step, device) {
  const field = step.querySelector("[data-field=code]");
  const invitation = await read(latinDigits(field.value));
  mark(field, invitation === undefined);
  if (!invitation) return field.focus();
  const amended = JSON.stringify({ ...JSON.parse(device.waiting), invitation: base64url(invitation) });
  storing(() => device.amend(amended));
  return true;
}

/** Something a respondent must know stands in the way. No message here ever quotes an answer. */
function refuse(error) {
  const refused = error instanceof RefusedError;
  fill(show("refused"), {
    heading: refused ? t("This survey cannot be answered here") : t("The survey could not be loaded"),
    reason: refused ? t("Your browser refuses: {reason}.", { reason: error.message }) : t("Check your connection, then reload the page."),
    detail: error.detail,
  });
}

addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

const { survey } = document.querySelector("main").dataset;
start(`/api/v1/surveys/${survey}`, survey).catch(refuse);
