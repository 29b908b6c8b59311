/**
 * Entry point of the kiosk: one loaded page on a shared device, for many people one after the other, with or without a network.
 *
 * Each person gets a fresh copy of the page. Answers are in that copy alone, and in objects that only its event handlers refer to, so they go
 * with the copy. Perturbed records wait in the queue. Nothing else is stored, and no mark that anybody has answered.
 */

import { digestOf, readAddress } from "./address.mjs";
import { Questionnaire } from "./asking.mjs";
import { checkedDefinition, requireBrowser } from "./checks.mjs";
import { factsOf, showClaims } from "./claims.mjs";
import { formatCode, newSecret, submissionId } from "./codes.mjs";
import { writeConsent } from "./consent.mjs";
import { RejectedError, download, guardStorage } from "./delivery.mjs";
import { Entry, groupOf, mark, showGroup } from "./entry.mjs";
import { showRefusal, watchErrors } from "./faults.mjs";
import { replacePage } from "./fresh_page.mjs";
import { fullGroups, showFull } from "./full_groups.mjs";
import { watchIdle } from "./idle.mjs";
import { storageOf } from "./keeping.mjs";
import { holdBack, stayOnPage } from "./kiosk_back.mjs";
import { number, t } from "./language.mjs";
import { fill, onEnter, onPress, onSinglePress, show } from "./page.mjs";
import { perturb } from "./perturb.mjs";
import { cryptoWords, draw } from "./randomize.mjs";
import { receipt } from "./receipt.mjs";
import { RecordQueue } from "./record_queue.mjs";
import { offerWords } from "./six_words.mjs";
import { languagesOf, negotiate, offerLanguages } from "./survey_language.mjs";
import { Tokens } from "./tokens.mjs";
import { wordsOf } from "./words.mjs";

const SEND_INTERVAL = 30_000; // milliseconds until what waits is sent again
const PERSONAL = ["consent", "questions", "review", "thanks"]; // steps that may show what a person entered or got

async function start({ survey: id, closed }) {
  const tag = new URLSearchParams(location.search).get("lang") ?? document.documentElement.lang;
  replacePage(tag);
  for (const button of document.querySelectorAll("[data-action=begin]")) button.onclick = () => location.reload();
  const address = readAddress();
  cleanLink(address);
  requireBrowser();
  const url = `/api/v1/surveys/${id}`;
  const definition = await checkedDefinition(url, id, digestOf(address));
  document.title = wordsOf(definition.survey, textLanguage(definition, tag)).title.text; // it never changes: browsers write titles to the disk
  const queue = guardStorage(() => new RecordQueue(definition.digest, `${url}/submissions`, () => showCounts(queue), storageOf(definition.survey.id)));
  const kiosk = { id, url, tag, address, definition, facts: factsOf(definition), queue, closed: closed !== undefined };
  const askFull = async () => (kiosk.full = await fullGroups(url, definition.survey, kiosk.full));
  await askFull();
  watchErrors((error) => showFailure(error, kiosk));
  begin(kiosk);
  const send = () => queue.send();
  addEventListener("online", send);
  setInterval(() => (send(), askFull()), SEND_INTERVAL); // by the clock, so that no request shows when a person begins
  send();
}

/** Removes everything from the address that is not the same for all people of this device. */
function cleanLink({ path, query, fragment }) {
  fragment.delete("code");
  history.replaceState(history.state, "", `${path}${query === "" ? "?" : `${query}&`}#${fragment}`); // the empty "?": see cleanAddress
}

function textLanguage({ survey }, tag) {
  return negotiate([tag, ...navigator.languages], languagesOf(survey)) ?? survey.language;
}

/** Erases what the person before has entered and got, and shows the first page. */
function begin(kiosk, tag = kiosk.tag) {
  const { address, definition, facts, queue } = kiosk;
  kiosk.person?.abort();
  kiosk.person = new AbortController(); // aborted when the next person begins
  const { signal } = kiosk.person;
  stayOnPage();
  replacePage(tag);
  showClaims(document, facts);
  const language = textLanguage(definition, tag);
  const visit = { ...kiosk, signal, words: wordsOf(definition.survey, language), erase: () => begin(kiosk) };
  offerLanguages(definition.survey, language, address.hash);
  document.querySelector(".languages").onclick = (event) => {
    event.preventDefault(); // these links load a page
    if (event.target.hreflang) begin(kiosk, event.target.hreflang);
  };
  addEventListener("pagehide", visit.erase, { signal });
  for (const button of document.querySelectorAll("[data-action=begin]")) button.onclick = visit.erase;
  onPress(document, "stop", () => decline(visit));
  onPress(document, "staff", () => showStaff(visit));
  const goOn = offerTime(visit);
  if (tag !== kiosk.tag) goOn(); // a choice of language is a touch
  showCounts(queue);
  if (kiosk.closed || queue.isClosed) show("closed");
  else if (!showFull(definition.survey, address.fragment, kiosk.full)) askConsent(visit);
  withoutLinks();
}

/** Shows what went wrong, with a button for the next person. */
function showFailure(error, kiosk) {
  showRefusal(error);
  onPress(document.getElementById("fault"), "again", () => begin(kiosk));
}

/** Shows how many records wait, and nothing else about them. */
function showCounts({ waiting, refused }) {
  for (const element of document.querySelectorAll("[data-slot=waiting]")) element.textContent = number(waiting);
  for (const element of document.querySelectorAll("[data-slot=refused]")) element.textContent = number(refused);
  for (const element of document.querySelectorAll(".not-taken")) element.hidden = refused === 0;
}

/** Replaces links by their texts: on this device they would open windows that stay for the next person. */
function withoutLinks() {
  for (const link of document.querySelectorAll("main > section a")) {
    const text = link.protocol.startsWith("http") ? `${link.textContent} (${link.host}${link.pathname})` : link.textContent;
    link.replaceWith(Object.assign(document.createElement("span"), { textContent: text }));
  }
}

/** Asks after a while whether the person is still there, and erases everything if none answers. */
function offerTime({ signal, erase }) {
  let before; // the step that was shown
  const ask = () => {
    before = PERSONAL.find((id) => !document.getElementById(id).hidden);
    if (before) show("idle");
    else erase();
  };
  const goOn = watchIdle(ask, erase, signal);
  onPress(document.getElementById("idle"), "go-on", () => {
    goOn();
    show(before);
  });
  return goOn;
}

function decline({ erase }) {
  erase();
  show("declined");
}

function askConsent(visit) {
  const { definition, address, facts, words, signal } = visit;
  const step = show("consent");
  writeConsent(step, definition, facts, words, { surveys: 0 });
  showGroup(step, groupOf(definition.survey, address.fragment));
  offerWords(step, definition.digest);
  const field = step.querySelector("[data-slot=entry]");
  const entry = new Entry(field, definition.survey, address.fragment, visit.full);
  onEnter(field, step, "agree");
  const exchange = exchangeOf(visit);
  let checking = false;
  onSinglePress(step, "agree", async () => {
    if (checking) return; // pressed again during the exchange
    checking = true;
    const answers = await entry.read(exchange.admit).finally(() => (checking = false));
    if (signal.aborted) return;
    if (answers && (!answers.code || exchange.token)) askQuestions(visit, { group: answers.group, token: exchange.token });
    else if (answers) markOffline(step.querySelector("[data-field=code]"));
  });
  onPress(step, "decline", () => decline(visit));
}

function markOffline(code) {
  mark(code, true, "offline");
  code.focus();
}

/**
 * Returns the exchange of one person's invitation code for a token: `admit(code)` resolves to false if the server refuses the code; without a
 * network there is no `token` afterwards. The device does not keep it, so the code of a person who stops later is used up.
 */
function exchangeOf({ url, definition }) {
  const drawn = new Map(); // so that a second attempt sends the same request
  const device = { token: (name) => drawn.get(name), keepToken: (name, token) => drawn.set(name, token) };
  const tokens = new Tokens({ exchange: `${url}/tokens`, definition, device });
  const exchange = {
    admit: async (code) => {
      try {
        exchange.token = await tokens.exchange(code);
      } catch (error) {
        if (error.rule === "invitation") return false;
        if (!(error instanceof RejectedError)) throw error;
      }
      return true;
    },
  };
  return exchange;
}

/** Asks the questions. Each person gets a sample of their own, which is not stored. */
function askQuestions(visit, more) {
  const { definition: { survey }, words, signal } = visit;
  showGroup(document.getElementById("review"), more.group);
  const sample = draw(survey, cryptoWords());
  let sending = false;
  const questionnaire = new Questionnaire(survey, sample, words, () => {
    if (sending) return; // pressed twice
    sending = true;
    finish(visit, questionnaire, { ...more, sample }).catch((error) => showFailure(error, visit));
  });
  signal.addEventListener("abort", () => questionnaire.clear());
  holdBack(() => questionnaire.back());
}

/** Randomizes once, and stores the record before anything is sent. */
async function finish(visit, questionnaire, more) {
  const { definition, queue, signal } = visit;
  const secret = newSecret();
  const [id, code] = await Promise.all([submissionId(secret), formatCode(secret)]);
  if (signal.aborted) return;
  const answers = questionnaire.take();
  const body = perturb(definition, answers, cryptoWords(), { id, ...more });
  answers.fill(undefined);
  questionnaire.clear();
  stayOnPage();
  guardStorage(() => queue.add(body));
  showThanks(visit, body, code);
  await queue.send();
}

/** Shows the withdrawal code, which the device does not keep, and a button for the next person. */
function showThanks({ id, definition: { survey }, words }, body, code) {
  const step = show("thanks");
  fill(step, { ending: words.thanks, contact: words.contact, code, withdrawal: `${location.host}/s/${id}/withdraw` });
  step.querySelector("dl").hidden = !words.contact;
  showGroup(step, JSON.parse(body).group);
  step.querySelector("[data-slot=receipt]").replaceChildren(receipt(survey, words, body, t("Show what will be sent")));
  document.querySelector("[data-action=staff]").hidden = true; // it would erase the code
}

/** Shows staff how many records wait, and leads out of the kiosk while the server can be reached. */
function showStaff({ id, url, address, queue, erase }) {
  erase();
  const step = show("staff");
  onPress(step, "send", () => queue.retry());
  onPress(step, "remove", () => queue.removeRefused());
  onPress(step, "leave", async () => {
    const reachable = await download(url).then(() => true, () => false);
    step.querySelector("[role=alert]").hidden = reachable;
    if (reachable) location.replace(`/s/${id}${address.query}${address.hash}`);
  });
}

const { dataset } = document.querySelector("main");
if (dataset.support === "checked") {
  dataset.support = "started";
  start(dataset).catch(showRefusal);
}
