/**
 * The respondent's page: check the survey, ask for consent, ask the questions, and at Send randomize once and deliver.
 *
 * True answers live in the page's controls, and in `perturb` for as long as it runs. What leaves this file, to storage or
 * to the network, is its return value.
 */

import { cleanAddress, digestOf, marksInWords, readAddress, sayMisled } from "./address.mjs";
import { Asking } from "./asking.mjs";
import { giveBack, takeBack, wasAsking } from "./back.mjs";
import { read, secret, submissionId, written } from "./codes.mjs";
import { writeConsent } from "./consent.mjs";
import { RefusedError, readDefinition } from "./definition.mjs";
import { DeliveryError, RejectedError, deliver, download, usable } from "./delivery.mjs";
import { encodeAll } from "./encode.mjs";
import { Entry, groupOf, mark, sayGroup } from "./entry.mjs";
import { refuse, sayFault, watch } from "./faults.mjs";
import { appOf } from "./inapp.mjs";
import { keeping, storing } from "./keeping.mjs";
import { keepFragment, language, latinDigits, number, percent, t, tn } from "./language.mjs";
import { linkUp } from "./links.mjs";
import { fill, onEnter, onPress, onSinglePress, show } from "./page.mjs";
import { oddsOfSum, posteriorBound } from "./posterior.mjs";
import { cryptoWords, draw, randomize } from "./randomize.mjs";
import { offerLanguages, readingOf } from "./reading.mjs";
import { receipt } from "./receipt.mjs";
import { noteCode, saySent, sentState } from "./sent.mjs";
import { offerWords } from "./six_words.mjs";
import { base64url, envelope, pack } from "./submission.mjs";
import { copied, showCode } from "./withdrawal.mjs";
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

async function start(url, { survey: id, closed }) {
  saySent(sentState());
  const address = readAddress();
  const { fragment, hash, link, marks } = address;
  keepFragment(hash);
  if (address.unknown) return sayMisled(address);
  cleanAddress(address);
  const pin = digestOf(address);
  requireBrowser();
  const definition = await readDefinition(await download(url), { pin }).catch(distrust);
  if (definition.survey.id !== id) throw new RefusedError(t("the survey must be {id}, as the link says, got another one", { id }));
  const { device, alone } = await keeping(definition.digest);
  const reading = readingOf(definition.survey);
  const words = wordsOf(definition.survey, reading);
  offerLanguages(definition.survey, reading, hash);
  document.title = words.title.text; // one title to the end: browsers write titles to the disk
  const context = { url: `${url}/submissions`, check: `${url}/invitations/check`, definition, device, alone, fragment, link, marks, words, closed: closed !== undefined };
  watch((error) => refuse(error, device));
  if (device.answered) sayAnswered(context);
  else if (device.held) sayUncounted(context);
  else if (device.waiting) send(context);
  else if (!context.closed) askConsent(context);
  else sayClosed(context);
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
    throw new RefusedError(t("this browser must have a cryptographic random generator, whose coins hide your answers; it has none"));
  }
}

function askConsent(context) {
  const { definition, device, fragment, words } = context;
  const group = groupOf(definition.survey, fragment);
  const step = show("consent");
  step.querySelector(".anew").hidden = !wasAsking();
  writeConsent(step, definition, words, device.spent({ others: true }));
  sayGroup(step, group);
  sayApp(step, context.link);
  fill(step, { marks: marksInWords(context.marks) });
  step.querySelector(".marks").hidden = context.marks.length === 0;
  offerWords(step, definition.digest);
  const entry = new Entry(step.querySelector("[data-slot=entry]"), definition.survey, fragment);
  onEnter(step.querySelector("[data-slot=entry]"), step, "agree");
  let asking;
  let [checking, declined] = [false, false];
  const backToConsent = () => {
    show("consent");
    document.querySelector(".languages").hidden = true; // answers wait behind this page
    return false;
  };
  onSinglePress(step, "agree", async () => {
    if (checking) return; // pressed again while the server is asked
    checking = true;
    const good = (code) => {
      noteCode();
      return usable(context.check, base64url(code));
    };
    const more = await entry.read(good).finally(() => (checking = false));
    if (!more || declined) return;
    context.more = more;
    sayGroup(document.getElementById("review"), context.more.group);
    if (asking) asking.resume();
    else asking = askQuestions(context);
    takeBack(() => context.sending || asking.back() || backToConsent(), () => asking.resume());
  });
  onPress(step, "decline", () => {
    declined = true;
    giveBack();
    asking?.clear();
    saySent(sentState(device));
    onPress(show("declined"), "back", () => askConsent(context));
  });
}

/** Where the page is a part of another app, says so, and how to get out of it. */
function sayApp(step, link) {
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
    const done = await copied(code);
    fill(step, { linkCopied: done ? t("The link is copied.") : t("The link is selected now. Copy it with your keyboard or the menu.") });
  });
}

function askQuestions(context) {
  const { definition: { survey }, device, words } = context;
  const asked = storing(() => device.asked(() => draw(survey, cryptoWords())));
  const questions = survey.questions.filter(isAsked(asked));
  const asking = new Asking(questions, words, survey.layout === "steps", () => {
    if (context.sending) return; // pressed twice
    context.sending = true;
    finish({ ...context, asked }, asking).catch((error) => {
      giveBack();
      asking.clear(); // what has been drawn and not kept is not drawn again
      refuse(error, device);
      onPress(document.getElementById("fault"), "again", () => location.reload());
    });
  });
  addEventListener("pagehide", () => asking.clear());
  return asking;
}

/** Randomizes, keeps, sends; of all windows of this browser one draws, and the others find what it has drawn. */
async function finish(context, asking) {
  const { definition, device, alone, asked, more } = context;
  const code = secret();
  const [id, text] = await Promise.all([submissionId(code), written(code)]);
  let own; // what erases the record, where this page draws it
  await alone(definition.digest, () => {
    if (device.answered || device.waiting) return;
    const answers = asking.take();
    const perturbed = perturb(definition, answers, cryptoWords(), { id, asked, ...more });
    answers.fill(undefined);
    storing(() => device.keep({ envelope: perturbed, epsilon: definition.epsilon }));
    own = { id: base64url(id), code: text };
  });
  asking.clear(); // if another window was faster, its noise is the noise
  giveBack();
  send({ ...context, own });
}

/** Sends the envelope that waits; ends with thanks, with the offer to try again, or with the page's own fault. */
function send(context) {
  return attempt(context).catch((error) => sayFault(error, context.device));
}

async function attempt(context) {
  const { url, definition: { survey }, device, words } = context;
  if (!device.waiting) return device.answered ? sayAnswered(context) : location.reload();
  if (device.held) return location.reload(); // another window was told that it is not counted
  const body = device.waiting;
  const step = show("sending");
  fill(step, { attempt: null });
  try {
    await deliver(url, body, (attempt) => fill(step, { attempt: t("No answer from the server yet. Trying again ({attempt})…", { attempt: number(attempt) }) }));
  } catch (error) {
    if (error instanceof RejectedError || error instanceof DeliveryError) return offer(context, error);
    throw error;
  }
  device.settle();
  const thanks = show("thanks");
  sayEnding(thanks, context);
  sayContact(thanks, words);
  showCode(thanks, context, body);
  sayGroup(thanks, JSON.parse(body).group);
  offerLater(thanks, context);
  return thanks.querySelector("[data-slot=receipt]").replaceChildren(receipt(survey, words, body, t("Show what was sent")));
}

/** What the survey says at its end, and the way back to where somebody came from: the same address for everybody, opened by nobody but them. */
function sayEnding(step, { definition: { survey: { returnLink } }, words }) {
  fill(step, { ending: words.thanks });
  linkUp(step.querySelector("[data-slot=ending]")); // a help line can be called, a page of results be opened
  const link = step.querySelector("[data-slot=return]");
  link.parentElement.hidden = returnLink === undefined;
  if (returnLink === undefined) return;
  link.href = returnLink;
  link.textContent = t("Go back to {place}", { place: returnLink.split(/[/?]/)[2] });
}

/** Whom to turn to. */
function sayContact(step, { contact }) {
  fill(step, { contact });
  const element = step.querySelector("[data-slot=contact]");
  linkUp(element);
  element.closest("dl").hidden = !contact;
}

/** The page of a closed survey is shown as it came; this adds whom to ask, and puts what the checked definition says in the place of what came. */
function sayClosed({ device, words }) {
  const step = show("closed");
  saySent(sentState(device));
  fill(step, { title: words.title });
  sayContact(step, words);
  const closing = step.querySelector("[data-slot=closing]");
  if (!closing) return; // paused
  fill(step, { closing: words.closed });
  linkUp(closing);
}

/** Devices are shared: asks whether whoever sits here has answered, and says nothing else of it before they say so. */
function sayAnswered(context) {
  const { closed, device } = context;
  const step = show("answered");
  for (const part of step.querySelectorAll("[data-action=other], .another")) part.hidden = closed;
  offerLater(step, context);
  onPress(step, "mine", () => sayMine(context));
  onPress(step, "other", () => {
    device.letAnotherAnswer();
    askConsent({ ...context, sending: false });
  });
}

function sayMine(context) {
  const step = show("mine");
  sayEnding(step, context);
  offerLater(step, context);
}

/** What can be done after the record has arrived: look at what this device has spent, and have it forget. */
function offerLater(step, { device, words }) {
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

/** Says that a survey was closed first: the record is not counted, and can be removed from here; or be sent, where the survey is open again. */
function sayUncounted(context) {
  const { closed, definition: { survey }, device, words } = context;
  const step = show("uncounted");
  step.querySelector("[data-slot=closed]").hidden = !closed || !device.lasts;
  step.querySelector("[data-slot=reopened]").hidden = closed;
  step.querySelector("[data-action=retry]").hidden = closed;
  step.querySelector("[data-action=forget]").classList.toggle("plain", !closed);
  showCode(step, context, device.waiting);
  step.querySelector("[data-slot=codeLater]").hidden = step.querySelector(".withdrawal").hidden || !device.lasts;
  step.querySelector("[data-slot=receipt]").replaceChildren(receipt(survey, words, device.waiting, t("Show what was sent")));
  onPress(step, "retry", () => {
    storing(() => device.hold(false));
    send(context);
  });
  onPress(step, "forget", () => {
    device.forget();
    show("forgotten");
  });
}

/** Says that the record's code was used before the device heard of its arrival: there is nothing left to send. */
function sayWithdrawn(context) {
  context.device.settle();
  offerLater(show("withdrawn"), context);
}

/** Says why the record waits, and sends it again: by itself when the connection is back or after a while, or on demand. */
function offer(context, error) {
  const refused = error instanceof RejectedError;
  const { definition: { survey }, device, words } = context;
  if (!device.waiting) return location.reload(); // another window has removed it, or has sent it
  if (refused && error.rule === "closed") {
    storing(() => device.hold(true));
    return sayUncounted({ ...context, closed: true });
  }
  if (refused && error.rule === "conflict") return sayWithdrawn(context);
  const step = show("waiting");
  showCode(step, context, device.waiting);
  const invitation = refused && error.rule === "invitation";
  const reason = reasonOf(error);
  fill(step, { reason: reason ?? t("The server did not take it."), detail: reason ? null : error.message });
  step.querySelector("[data-slot=entry]").hidden = !invitation;
  onEnter(step.querySelector("[data-slot=entry]"), step, "retry");
  step.querySelector("[data-slot=waits]").hidden = refused || !device.lasts;
  step.querySelector("[data-slot=fleeting]").hidden = device.lasts;
  step.querySelector("[data-slot=receipt]").replaceChildren(receipt(survey, words, device.waiting, t("Show what will be sent")));
  const waiting = new AbortController();
  sayGroup(step, JSON.parse(device.waiting).group);
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
    if (!invitation || !device.waiting || (await useCode(step, device))) again();
  });
  onPress(step, "forget", () => {
    waiting.abort();
    device.forget();
    show("forgotten");
  });
}

/** Why a record waits, in the page's language; undefined for what only the server's own words, in English, can say. */
function reasonOf(error) {
  if (error.status) return t("The server cannot take it at the moment.");
  if (!(error instanceof RejectedError)) return navigator.onLine ? t("The server could not be reached.") : t("This device is offline.");
  if (error.rule === "status") return t("The server, or something on the way to it, refused it (status {status}).", { status: String(error.refusal) });
  if (error.rule === "invitation") return t("The server did not take it: the invitation code has been used, or is not one of this survey.");
  return undefined;
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

addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

const { dataset } = document.querySelector("main");
const failed = dataset.closed === undefined ? refuse : () => {}; // the page of a closed survey says what there is to say
if (dataset.support === "checked") {
  dataset.support = "started";
  start(`/api/v1/surveys/${dataset.survey}`, dataset).catch(failed);
} else if (dataset.support === undefined) failed(new RefusedError(t("a part of this page did not arrive as it was released")));
