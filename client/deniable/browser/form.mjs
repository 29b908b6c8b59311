/**
 * Entry point of the respondents' page: checks the survey, asks for consent, asks the questions, randomizes once and delivers.
 *
 * True answers exist in the page's controls, and in `perturb` while it runs. Only its return value reaches the storage or the network.
 */

import { cleanAddress, digestOf, marksNotice, readAddress, showMisled } from "./address.mjs";
import { Questionnaire } from "./asking.mjs";
import { releaseBack, handleBack, wasAnswering } from "./back_button.mjs";
import { checkedDefinition, requireBrowser } from "./checks.mjs";
import { parseCode, newSecret, submissionId, formatCode } from "./codes.mjs";
import { factsOf, showClaims } from "./claims.mjs";
import { writeConsent } from "./consent.mjs";
import { RefusedError } from "./definition.mjs";
import { DeliveryError, RejectedError, deliver, guardStorage } from "./delivery.mjs";
import { Entry, groupOf, mark, showGroup } from "./entry.mjs";
import { showRefusal, showFault, watchErrors } from "./faults.mjs";
import { appOf } from "./inapp.mjs";
import { fullGroups, showFull } from "./full_groups.mjs";
import { openDevice } from "./keeping.mjs";
import { language, latinDigits, number, percent, t, tn } from "./language.mjs";
import { linkUp } from "./links.mjs";
import { fill, onEnter, onPress, onSinglePress, show } from "./page.mjs";
import { perturb } from "./perturb.mjs";
import { oddsOfSum, posteriorBound } from "./posterior.mjs";
import { cryptoWords, draw } from "./randomize.mjs";
import { receipt } from "./receipt.mjs";
import { showSent, sendState } from "./send_state.mjs";
import { offerWords } from "./six_words.mjs";
import { base64url, fromBase64url } from "./submission.mjs";
import { keepFragment, offerLanguages, surveyLanguage } from "./survey_language.mjs";
import { Tokens } from "./tokens.mjs";
import { copyText, showCode } from "./withdrawal.mjs";
import { wordsOf } from "./words.mjs";

const RETRY_INTERVAL = 30_000; // milliseconds until a waiting record is sent again

async function start(url, { survey: id, closed }) {
  showSent(sendState());
  const address = readAddress();
  const { fragment, hash, link, marks } = address;
  keepFragment(hash);
  if (address.unknown) return showMisled(address);
  cleanAddress(address);
  const pin = digestOf(address);
  requireBrowser();
  const definition = await checkedDefinition(url, id, pin);
  const { device, lock } = await openDevice(definition);
  const textLanguage = surveyLanguage(definition.survey);
  const words = wordsOf(definition.survey, textLanguage);
  offerLanguages(definition.survey, textLanguage, hash);
  document.title = words.title.text; // the only title: browsers write titles to the disk
  const facts = factsOf(definition);
  showClaims(document, facts);
  const context = { facts, url: `${url}/submissions`, exchange: `${url}/tokens`, definition, device, lock, fragment, link, marks, words, closed: closed !== undefined };
  watchErrors((error) => showRefusal(error, device));
  if (device.isAnswered) showAnswered(context);
  else if (device.isHeld) showUncounted(context);
  else if (device.waiting) send(context);
  else if (context.closed) showClosed(context);
  else {
    context.full = await fullGroups(url, definition.survey);
    if (!showFull(definition.survey, fragment, context.full)) askConsent(context);
  }
}

function askConsent(context) {
  const { definition, device, facts, fragment, words } = context;
  const group = groupOf(definition.survey, fragment);
  const step = show("consent");
  step.querySelector(".anew").hidden = !wasAnswering();
  writeConsent(step, definition, facts, words, device.spent({ others: true }));
  showGroup(step, group);
  showApp(step, context.link);
  fill(step, { marks: marksNotice(context.marks) });
  offerWords(step, definition.digest);
  const entry = new Entry(step.querySelector("[data-slot=entry]"), definition.survey, fragment, context.full);
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
    const answers = await entry.read((code) => isAdmitted(context, code)).finally(() => (checking = false));
    if (!answers || declined) return;
    Object.assign(context, answers);
    showGroup(document.getElementById("review"), context.group);
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

/**
 * Exchanges an invitation code for a token. Resolves to false if the server says that it cannot be used. If the server cannot be reached, the
 * code is exchanged before the record is sent.
 */
async function isAdmitted(context, code) {
  try {
    await new Tokens(context).exchange(code);
  } catch (error) {
    if (error.rule === "invitation") return false;
    if (!(error instanceof RejectedError)) throw error;
  }
  return true;
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
  const questionnaire = new Questionnaire(survey, sample, words, () => {
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
  const { definition, device, lock, sample, group, code: invitation } = context;
  const code = newSecret();
  const [id, text] = await Promise.all([submissionId(code), formatCode(code)]);
  const { name, token } = invitation ? await new Tokens(context).find(invitation) : {};
  let own; // the withdrawal code, if this page draws the record
  await lock(definition.digest, () => {
    if (device.isAnswered || device.waiting) return;
    const answers = questionnaire.take();
    const perturbed = perturb(definition, answers, cryptoWords(), { id, sample, group, token });
    answers.fill(undefined);
    guardStorage(() => device.keep({ envelope: perturbed, epsilon: definition.epsilon, name, code: invitation && !token ? base64url(invitation) : undefined }));
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
  const step = show("sending");
  fill(step, { attempt: null });
  let body;
  try {
    await admit(context);
    body = device.waiting;
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

/** Exchanges the envelope's invitation code, if that was not possible before. Throws RejectedError or DeliveryError. */
async function admit(context) {
  const { device } = context;
  if (!device.code) return;
  const [tokens, code] = [new Tokens(context), fromBase64url(device.code)];
  if (!(await tokens.exchange(code))) throw new DeliveryError();
  const { name, token } = await tokens.find(code);
  guardStorage(() => device.admit(name, token));
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
  const code = await parseCode(latinDigits(field.value));
  mark(field, code === undefined);
  if (!code) return field.focus();
  guardStorage(() => device.invite(base64url(code)));
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
