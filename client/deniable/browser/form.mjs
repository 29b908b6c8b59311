/**
 * Entry point of the respondents' page: checks the survey, asks for consent, asks the questions, randomizes once and delivers.
 *
 * True answers exist in the page's controls, and in `perturb` while it runs. Only its return value leaves this file, to the storage or the
 * network.
 */

import { cleanAddress, digestOf, marksNotice, readAddress, showMisled } from "./address.mjs";
import { Questionnaire } from "./asking.mjs";
import { releaseBack, handleBack, wasAnswering } from "./back_button.mjs";
import { parseCode, newSecret, submissionId, formatCode } from "./codes.mjs";
import { writeConsent } from "./consent.mjs";
import { RefusedError, readDefinition } from "./definition.mjs";
import { DeliveryError, RejectedError, deliver, download, isUsable } from "./delivery.mjs";
import { encodeAll } from "./encode.mjs";
import { Entry, groupOf, mark, showGroup } from "./entry.mjs";
import { showRefusal, showFault, watchErrors } from "./faults.mjs";
import { appOf } from "./inapp.mjs";
import { openDevice, guardStorage } from "./keeping.mjs";
import { keepFragment, language, latinDigits, number, percent, t, tn } from "./language.mjs";
import { linkUp } from "./links.mjs";
import { fill, onEnter, onPress, onSinglePress, show } from "./page.mjs";
import { oddsOfSum, posteriorBound } from "./posterior.mjs";
import { cryptoWords, draw, randomize } from "./randomize.mjs";
import { receipt } from "./receipt.mjs";
import { noteCode, showSent, sendState } from "./send_state.mjs";
import { offerWords } from "./six_words.mjs";
import { base64url, envelope, pack } from "./submission.mjs";
import { offerLanguages, surveyLanguage } from "./survey_language.mjs";
import { copyText, showCode } from "./withdrawal.mjs";
import { wordsOf } from "./words.mjs";

const RETRY_INTERVAL = 30_000; // milliseconds until a waiting record is sent again

/**
 * Encodes and randomizes the answers once, and packs them into an envelope.
 *
 * `answers` are the answers to the questions that `sample` selects, or to all. Coins are also tossed for the other questions, whose bits are
 * not sent. `more` may have a group and an invitation.
 */
export function perturb({ digest, survey: { questions, items } }, answers, nextWord, { id, sample, ...more }) {
  const categories = encodeAll(questions.filter(isSampled(sample)), answers, nextWord);
  const bits = items.map((item) => randomize(item.channel, isSampled(sample)(item) ? categories.shift() : 0, nextWord));
  return envelope({ id, digest, count: 1, reports: pack(items, bits, sample), ...more });
}

/** Returns a test of whether a question, or an item of one, is in the sample. */
function isSampled(sample) {
  return ({ number }) => sample === undefined || sample[number] === 1;
}

async function start(url, { survey: id, closed }) {
  showSent(sendState());
  const address = readAddress();
  const { fragment, hash, link, marks } = address;
  keepFragment(hash);
  if (address.unknown) return showMisled(address);
  cleanAddress(address);
  const pin = digestOf(address);
  requireBrowser();
  const definition = await readDefinition(await download(url), { pin }).catch(translateRefusal);
  if (definition.survey.id !== id) throw new RefusedError(t("the survey must be {id}, as the link says, got another one", { id }));
  const { device, lock } = await openDevice(definition.digest);
  const textLanguage = surveyLanguage(definition.survey);
  const words = wordsOf(definition.survey, textLanguage);
  offerLanguages(definition.survey, textLanguage, hash);
  document.title = words.title.text; // the only title: browsers write titles to the disk
  const context = { url: `${url}/submissions`, check: `${url}/invitations/check`, definition, device, lock, fragment, link, marks, words, closed: closed !== undefined };
  watchErrors((error) => showRefusal(error, device));
  if (device.isAnswered) showAnswered(context);
  else if (device.isHeld) showUncounted(context);
  else if (device.waiting) send(context);
  else if (!context.closed) askConsent(context);
  else showClosed(context);
}

/** Translates the refusal of a definition. The broken rule becomes a detail, in English. */
function translateRefusal(error) {
  if (!(error instanceof RefusedError)) throw error;
  const reason = t("what this server says about the survey is not what it must be, or not what your link names");
  throw Object.assign(new RefusedError(reason), { detail: error.message });
}

/** Throws RefusedError if the browser lacks what the page needs. */
function requireBrowser() {
  if (!isSecureContext) {
    throw new RefusedError(t("this page must be opened over HTTPS: only there can your browser check the survey that it was given"));
  }
  try {
    cryptoWords()();
  } catch {
    throw new RefusedError(t("this browser must have a cryptographic random generator, whose coins hide your answers; it has none"));
  }
}

function askConsent(context) {
  const { definition, device, fragment, words } = context;
  const group = groupOf(definition.survey, fragment);
  const step = show("consent");
  step.querySelector(".anew").hidden = !wasAnswering();
  writeConsent(step, definition, words, device.spent({ others: true }));
  showGroup(step, group);
  showApp(step, context.link);
  fill(step, { marks: marksNotice(context.marks) });
  step.querySelector(".marks").hidden = context.marks.length === 0;
  offerWords(step, definition.digest);
  const entry = new Entry(step.querySelector("[data-slot=entry]"), definition.survey, fragment);
  onEnter(step.querySelector("[data-slot=entry]"), step, "agree");
  let questionnaire;
  let [checking, declined] = [false, false];
  const backToConsent = () => {
    show("consent");
    document.querySelector(".languages").hidden = true; // a change of language would lose the answers
    return false;
  };
  onSinglePress(step, "agree", async () => {
    if (checking) return; // pressed again during the check
    checking = true;
    const check = (code) => {
      noteCode();
      return isUsable(context.check, base64url(code));
    };
    const more = await entry.read(check).finally(() => (checking = false));
    if (!more || declined) return;
    context.more = more;
    showGroup(document.getElementById("review"), context.more.group);
    if (questionnaire) questionnaire.resume();
    else questionnaire = askQuestions(context);
    handleBack(() => context.sending || questionnaire.back() || backToConsent(), () => questionnaire.resume());
  });
  onPress(step, "decline", () => {
    declined = true;
    releaseBack();
    questionnaire?.clear();
    showSent(sendState(device));
    onPress(show("declined"), "back", () => askConsent(context));
  });
}

/** Warns if the page is open inside another app, and explains how to leave it. */
function showApp(step, link) {
  const app = appOf(navigator.userAgent);
  const inside = app
    ? t("This page is open inside of {app}, which can read along. Better answer in a browser of your own.", { app })
    : t("This page is open inside of another app, which can read along. Better answer in a browser of your own.");
  const warning = step.querySelector(".app");
  warning.hidden = app === undefined;
  fill(step, { app: inside, link, linkCopied: null });
  onPress(warning, "copyLink", async () => {
    const code = warning.querySelector("[data-slot=link]");
    code.parentElement.hidden = false;
    const done = await copyText(code);
    fill(step, { linkCopied: done ? t("The link is copied.") : t("The link is selected now. Copy it with your keyboard or the menu.") });
  });
}

function askQuestions(context) {
  const { definition: { survey }, device, words } = context;
  const sample = guardStorage(() => device.sample(() => draw(survey, cryptoWords())));
  const questions = survey.questions.filter(isSampled(sample));
  const questionnaire = new Questionnaire(questions, words, survey.layout === "steps", () => {
    if (context.sending) return; // pressed twice
    context.sending = true;
    finish({ ...context, sample }, questionnaire).catch((error) => {
      releaseBack();
      questionnaire.clear(); // a lost record must not be drawn again
      showRefusal(error, device);
      onPress(document.getElementById("fault"), "again", () => location.reload());
    });
  });
  addEventListener("pagehide", () => questionnaire.clear());
  return questionnaire;
}

/** Randomizes, stores and sends. Only one window of this browser draws a record; the others find it in the storage. */
async function finish(context, questionnaire) {
  const { definition, device, lock, sample, more } = context;
  const code = newSecret();
  const [id, text] = await Promise.all([submissionId(code), formatCode(code)]);
  let own; // the withdrawal code, if this page draws the record
  await lock(definition.digest, () => {
    if (device.isAnswered || device.waiting) return;
    const answers = questionnaire.take();
    const perturbed = perturb(definition, answers, cryptoWords(), { id, sample, ...more });
    answers.fill(undefined);
    guardStorage(() => device.keep({ envelope: perturbed, epsilon: definition.epsilon }));
    own = { id: base64url(id), code: text };
  });
  questionnaire.clear(); // another window may have been faster: its record counts
  releaseBack();
  send({ ...context, own });
}

/** Sends the waiting envelope. Ends with thanks, an offer to retry, or the error page. */
function send(context) {
  return attempt(context).catch((error) => showFault(error, context.device));
}

async function attempt(context) {
  const { url, definition: { survey }, device, words } = context;
  if (!device.waiting) return device.isAnswered ? showAnswered(context) : location.reload();
  if (device.isHeld) return location.reload(); // another window has shown that it was not counted
  const body = device.waiting;
  const step = show("sending");
  fill(step, { attempt: null });
  try {
    await deliver(url, body, (attempt) => fill(step, { attempt: t("No answer from the server yet. Trying again ({attempt})…", { attempt: number(attempt) }) }));
  } catch (error) {
    if (error instanceof RejectedError || error instanceof DeliveryError) return offerRetry(context, error);
    throw error;
  }
  device.settle();
  const thanks = show("thanks");
  showEnding(thanks, context);
  showContact(thanks, words);
  showCode(thanks, context, body);
  showGroup(thanks, JSON.parse(body).group);
  showSpending(thanks, context);
  return thanks.querySelector("[data-slot=receipt]").replaceChildren(receipt(survey, words, body, t("Show what was sent")));
}

/** Shows the survey's ending and its return link: the same address for everybody, and only the respondent opens it. */
function showEnding(step, { definition: { survey: { returnLink } }, words }) {
  fill(step, { ending: words.thanks });
  linkUp(step.querySelector("[data-slot=ending]")); // makes phone numbers and addresses links
  const link = step.querySelector("[data-slot=return]");
  link.parentElement.hidden = returnLink === undefined;
  if (returnLink === undefined) return;
  link.href = returnLink;
  link.textContent = t("Go back to {place}", { place: returnLink.split(/[/?]/)[2] });
}

/** Shows the contact. */
function showContact(step, { contact }) {
  fill(step, { contact });
  const element = step.querySelector("[data-slot=contact]");
  linkUp(element);
  element.closest("dl").hidden = !contact;
}

/** Adds contact and checked texts to the page of a closed survey. */
function showClosed({ device, words }) {
  const step = show("closed");
  showSent(sendState(device));
  fill(step, { title: words.title });
  showContact(step, words);
  const closing = step.querySelector("[data-slot=closing]");
  if (!closing) return; // paused
  fill(step, { closing: words.closed });
  linkUp(closing);
}

/** Asks whether the current user of a shared device has answered, and reveals nothing before. */
function showAnswered(context) {
  const { closed, device } = context;
  const step = show("answered");
  for (const part of step.querySelectorAll("[data-action=other], .another")) part.hidden = closed;
  showSpending(step, context);
  onPress(step, "mine", () => showMine(context));
  onPress(step, "other", () => {
    device.letAnotherAnswer();
    askConsent({ ...context, sending: false });
  });
}

function showMine(context) {
  const step = show("mine");
  showEnding(step, context);
  showSpending(step, context);
}

/** Shows how much privacy this device has spent, and lets it forget. */
function showSpending(step, { device, words }) {
  const { surveys, epsilon } = device.spent();
  const values = { n: number(surveys), epsilon: number(Math.ceil(100 * epsilon - 1e-9) / 100), surest: percent(posteriorBound(oddsOfSum(epsilon))) };
  const spent = tn(
    "This device has answered {n} survey here. Its record can make a 50:50 guess about you at most {surest} sure (epsilon {epsilon}).",
    "This device has answered {n} surveys here. All their records together can make a 50:50 guess about you at most {surest} sure (epsilon {epsilon}).",
    surveys,
    values,
  );
  fill(step, { spent });
  onPress(step, "forget", () => {
    device.forget();
    show("forgotten");
  });
}

/** Shows that the survey was closed first, so the record is not counted. It can be removed, or sent if the survey is open again. */
function showUncounted(context) {
  const { closed, definition: { survey }, device, words } = context;
  const step = show("uncounted");
  step.querySelector("[data-slot=closed]").hidden = !closed || !device.isLasting;
  step.querySelector("[data-slot=reopened]").hidden = closed;
  step.querySelector("[data-action=retry]").hidden = closed;
  step.querySelector("[data-action=forget]").classList.toggle("plain", !closed);
  showCode(step, context, device.waiting);
  step.querySelector("[data-slot=codeLater]").hidden = step.querySelector(".withdrawal").hidden || !device.isLasting;
  step.querySelector("[data-slot=receipt]").replaceChildren(receipt(survey, words, device.waiting, t("Show what was sent")));
  onPress(step, "retry", () => {
    guardStorage(() => device.hold(false));
    send(context);
  });
  onPress(step, "forget", () => {
    device.forget();
    show("forgotten");
  });
}

/** Shows that the record was withdrawn before the device received the acknowledgement: there is nothing left to send. */
function showWithdrawn(context) {
  context.device.settle();
  showSpending(show("withdrawn"), context);
}

/** Shows why the record waits. Sends it again when the connection is back, after a while, or on demand. */
function offerRetry(context, error) {
  const refused = error instanceof RejectedError;
  const { definition: { survey }, device, words } = context;
  if (!device.waiting) return location.reload(); // another window has removed or sent it
  if (refused && error.rule === "closed") {
    guardStorage(() => device.hold(true));
    return showUncounted({ ...context, closed: true });
  }
  if (refused && error.rule === "conflict") return showWithdrawn(context);
  const step = show("waiting");
  showCode(step, context, device.waiting);
  const invitation = refused && error.rule === "invitation";
  const reason = reasonOf(error);
  fill(step, { reason: reason ?? t("The server did not take it."), detail: reason ? null : error.message });
  step.querySelector("[data-slot=entry]").hidden = !invitation;
  onEnter(step.querySelector("[data-slot=entry]"), step, "retry");
  step.querySelector("[data-slot=waits]").hidden = refused || !device.isLasting;
  step.querySelector("[data-slot=fleeting]").hidden = device.isLasting;
  step.querySelector("[data-slot=receipt]").replaceChildren(receipt(survey, words, device.waiting, t("Show what will be sent")));
  const waiting = new AbortController();
  showGroup(step, JSON.parse(device.waiting).group);
  const retry = () => {
    waiting.abort();
    send(context);
  };
  if (!refused) {
    addEventListener("online", retry, { signal: waiting.signal });
    const timer = setTimeout(retry, RETRY_INTERVAL);
    waiting.signal.onabort = () => clearTimeout(timer);
  }
  onPress(step, "retry", async () => {
    if (!invitation || !device.waiting || (await useCode(step, device))) retry();
  });
  onPress(step, "forget", () => {
    waiting.abort();
    device.forget();
    show("forgotten");
  });
}

/** Returns why a record waits, in the page's language, or undefined if only the server's message, in English, explains it. */
function reasonOf(error) {
  if (error.status) return t("The server cannot take it at the moment.");
  if (!(error instanceof RejectedError)) return navigator.onLine ? t("The server could not be reached.") : t("This device is offline.");
  if (error.rule === "status") return t("The server, or something on the way to it, refused it (status {status}).", { status: String(error.refusal) });
  if (error.rule === "invitation") return t("The server did not take it: the invitation code has been used, or is not one of this survey.");
  return undefined;
}

/** Replaces the invitation code of the same record. Resolves to a false value if the typed code is invalid. */
async function useCode(step, device) {
  const field = step.querySelector("[data-field=code]");
  const invitation = await parseCode(latinDigits(field.value));
  mark(field, invitation === undefined);
  if (!invitation) return field.focus();
  const amended = JSON.stringify({ ...JSON.parse(device.waiting), invitation: base64url(invitation) });
  guardStorage(() => device.amend(amended));
  return true;
}

addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

const { dataset } = document.querySelector("main");
const onFailure = dataset.closed === undefined ? showRefusal : () => {}; // the page of a closed survey needs no script
if (dataset.support === "checked") {
  dataset.support = "started";
  start(`/api/v1/surveys/${dataset.survey}`, dataset).catch(onFailure);
} else if (dataset.support === undefined) onFailure(new RefusedError(t("a part of this page did not arrive as it was released")));
