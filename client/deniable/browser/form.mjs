/**
 * The respondent's page: check the survey, ask for consent, ask the questions, and at Send randomize once and deliver.
 *
 * True answers live in the page's controls, and in `perturb` for as long as it runs. What leaves this file, to storage or
 * to the network, is its return value.
 */

import { writeConsent } from "./consent.mjs";
import { RefusedError, readDefinition } from "./definition.mjs";
import { Outbox, RejectedError, deliver } from "./delivery.mjs";
import { encodeAll } from "./encode.mjs";
import { count, fill, show } from "./page.mjs";
import { Controls } from "./questions.mjs";
import { cryptoWords, randomize } from "./randomize.mjs";
import { receipt } from "./receipt.mjs";
import { draw } from "./sampling.mjs";
import { ID_BYTES, envelope, pack } from "./submission.mjs";

/**
 * Encodes and randomizes the answers, once, and packs them into an envelope with a random id. `answers` are those to the
 * questions that `asked` names, or to all. Coins are tossed for the others too; their bits are not sent.
 */
export function perturb({ digest, survey: { questions, items } }, answers, nextWord, asked) {
  const categories = encodeAll(questions.filter(isAsked(asked)), answers, nextWord);
  const bits = items.map((item) => randomize(item.channel, isAsked(asked)(item) ? categories.shift() : 0, nextWord));
  const id = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return envelope({ id, digest, count: 1, reports: pack(items, bits, asked) });
}

/** Whether a question, or an item of one, is among those drawn. */
function isAsked(asked) {
  return ({ number }) => asked === undefined || asked[number] === 1;
}

async function start(url, id) {
  requireBrowser();
  const pin = new URLSearchParams(location.hash.slice(1)).get("digest");
  const definition = await readDefinition(await download(url), { pin });
  if (definition.survey.id !== id) throw new RefusedError(`the survey must be ${id}, as the link says, got another one`);
  const context = { url: `${url}/submissions`, definition, outbox: storing(() => new Outbox(definition.digest)) };
  if (context.outbox.answered) sayAnswered(definition.survey);
  else if (context.outbox.waiting) offer(context, "Your answers were scrambled on this device, but the server has not confirmed that it has them.");
  else askConsent(context);
}

/** What must hold before a question may be shown. */
function requireBrowser() {
  if (!isSecureContext) {
    throw new RefusedError("this page must be opened over HTTPS: only there can your browser check the survey that it was given");
  }
  try {
    cryptoWords()();
  } catch {
    throw new RefusedError("this browser must have a cryptographic random generator, which your answers are scrambled with; it has none");
  }
}

async function download(url) {
  const reply = await fetch(url, { credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" });
  if (!reply.ok) throw new Error(`the server did not give the survey (status ${reply.status})`);
  return new Uint8Array(await reply.arrayBuffer());
}

/** Does something with this device's storage, which a browser may forbid. */
function storing(action) {
  try {
    return action();
  } catch {
    throw new RefusedError(
      "this browser must let the page keep the scrambled answers until they have arrived. Allow site data for this page, then reload it",
    );
  }
}

function askConsent(context) {
  const { title } = context.definition.survey;
  const step = show("consent", title);
  writeConsent(step, context.definition);
  step.querySelector("[data-action=agree]").onclick = () => askQuestions(context);
  step.querySelector("[data-action=decline]").onclick = () => {
    show("declined", title).querySelector("[data-action=back]").onclick = () => askConsent(context);
  };
}

function askQuestions(context) {
  const { survey } = context.definition;
  const { title } = survey;
  const asked = storing(() => context.outbox.asked(() => draw(survey, cryptoWords())));
  const step = show("questions", title);
  const progress = (answered, asked) => {
    const words = `${count(answered)} of ${count(asked)} answered`;
    fill(step, { progress: words });
    step.querySelector("progress").value = answered / asked;
    document.title = `${words} · ${title}`;
  };
  const controls = new Controls(survey.questions.filter(isAsked(asked)), progress);
  fill(step, { title });
  step.querySelector("[data-slot=list]").replaceChildren(...controls.elements);
  step.querySelector("[data-slot=missing]").hidden = true;
  step.querySelector("[data-action=send]").onclick = () => {
    try {
      finish({ ...context, asked }, controls, step);
    } catch (error) {
      controls.clear();
      refuse(error);
    }
  };
  addEventListener("pagehide", () => controls.clear());
  controls.update();
}

function finish(context, controls, step) {
  if (controls.missing().length) return listMissing(controls, step);
  const { outbox } = context;
  if (outbox.answered || outbox.waiting) {
    controls.clear(); // another tab was faster; its noise is the noise
  } else {
    const answers = controls.take();
    const perturbed = perturb(context.definition, answers, cryptoWords(), context.asked);
    answers.fill(undefined);
    storing(() => outbox.keep(perturbed));
  }
  step.querySelector("[data-slot=list]").replaceChildren();
  return send(context);
}

function listMissing(controls, step) {
  controls.markMissing();
  const missing = controls.missing();
  const summary = step.querySelector("[data-slot=missing]");
  fill(summary, { missingTitle: missing.length === 1 ? "One question has no answer yet" : `${missing.length} questions have no answer yet` });
  summary.querySelector("ul").replaceChildren(
    ...missing.map((index) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      button.className = "link";
      button.textContent = `Question ${index + 1}`;
      button.onclick = () => controls.focus(index);
      item.append(button);
      return item;
    }),
  );
  summary.hidden = false;
  summary.focus();
  summary.scrollIntoView({ block: "start" });
}

/** Sends the envelope that waits; ends with thanks, or with the offer to try again. */
async function send(context) {
  const { url, definition, outbox } = context;
  if (outbox.answered) return sayAnswered(definition.survey);
  const body = outbox.waiting;
  const step = show("sending", `Sending · ${definition.survey.title}`);
  fill(step, { attempt: "Sending…" });
  try {
    await deliver(url, body, (attempt) => fill(step, { attempt: `No answer from the server yet. Trying again (${attempt})…` }));
  } catch (error) {
    return offer(context, error instanceof RejectedError ? `The server did not take it: ${error.message}.` : "The server could not be reached.");
  }
  outbox.settle();
  const thanks = show("thanks", `Thank you · ${definition.survey.title}`);
  return thanks.querySelector("[data-slot=receipt]").replaceChildren(receipt(definition.survey, body, "Show what was sent"));
}

function sayAnswered({ title }) {
  show("answered", `Answered · ${title}`);
}

/** Offers to send what waits, and says why it waits. The questions are not asked again. */
function offer(context, reason) {
  const { survey } = context.definition;
  const step = show("waiting", `Not sent yet · ${survey.title}`);
  fill(step, { reason });
  step.querySelector("[data-slot=receipt]").replaceChildren(receipt(survey, context.outbox.waiting, "Show what will be sent"));
  step.querySelector("[data-action=retry]").onclick = () => send(context);
}

/** Something a respondent must know stands in the way. No message here ever quotes an answer. */
function refuse(error) {
  const refused = error instanceof RefusedError;
  fill(show("refused", "Not possible"), {
    heading: refused ? "This survey cannot be answered here" : "The survey could not be loaded",
    reason: refused ? `Your browser refuses: ${error.message}.` : "Check your connection, then reload the page.",
  });
}

addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

const { survey } = document.querySelector("main").dataset;
start(`/api/v1/surveys/${survey}`, survey).catch(refuse);
