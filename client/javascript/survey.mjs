/**
 * A checked survey: perturbs one respondent's answers after the other's, and sends each record until it is acknowledged.
 *
 * Twin: `sdk/session.py`. A record is randomized once; every attempt sends the same bytes, so it counts once.
 */

import { formatCode, newSecret, parseCode, submissionId } from "../deniable/browser/codes.mjs";
import { RefusedError } from "../deniable/browser/definition.mjs";
import { DeliveryError, deliver } from "../deniable/browser/delivery.mjs";
import { AnswerError, visibleQuestions } from "../deniable/browser/encode.mjs";
import { optionOrder, questionOrder } from "../deniable/browser/order.mjs";
import { isSampled, perturb } from "../deniable/browser/perturb.mjs";
import { posteriorBound } from "../deniable/browser/posterior.mjs";
import { cryptoWords, draw } from "../deniable/browser/randomize.mjs";
import { base64url, fromBase64url, unpackRecord } from "../deniable/browser/submission.mjs";
import { Tokens } from "../deniable/browser/tokens.mjs";
import { typeOf } from "../deniable/browser/types.mjs";
import { answerProblems, kindOf, publicProblems, sealed, shapeProblems, valuesOf } from "./answers.mjs";
import { request } from "./transport.mjs";

const KEPT = "The perturbed answers are the error's record: send it with send(), and do not submit the same answers again";

/** Checks that a call has no other options than these. Throws TypeError, which quotes none. */
export function checkOptions(options, names) {
  const isValid = typeof options === "object" && options !== null && Object.keys(options).every((name) => names.includes(name));
  if (!isValid) throw new TypeError(`options must be an object with ${names.join(", ")}, each optional, got ${kindOf(options)} with others`);
}

export class Survey {
  #link;
  #checked; // {digest, survey, epsilon, ...} of `readDefinition`
  #tokens;
  #spent = new Set(); // the names of the invitations that have a record
  #exchanges = new Map(); // by the name of an invitation, so that two calls draw one token
  #samples = new WeakMap(); // by the visit that `draw` has returned

  /** `link`: as `parseLink` reads it. `checked`: the result of `readDefinition` for `definition`, the published object. */
  constructor(link, checked, definition) {
    this.#link = link;
    this.#checked = checked;
    const drawn = new Map();
    const device = { token: (name) => drawn.get(name), keepToken: (name, token) => drawn.set(name, token) };
    this.#tokens = new Tokens({ exchange: this.#address("tokens"), definition: checked, device });
    const { digest, pinned, epsilon, odds, survey } = checked;
    const { id, title, access, groups } = survey;
    Object.assign(this, { id, title, access, groups: Object.freeze([...groups]), definition, digest, pinned, epsilon });
    this.posteriorBound = posteriorBound(odds).percent;
    Object.freeze(this);
  }

  check(answers, options = {}) {
    const { visit, group, invitation } = this.#options(options);
    return this.#problems(answers, visit, group, invitation);
  }

  draw() {
    const { survey } = this.#checked;
    const nextWord = cryptoWords();
    const sample = draw(survey, nextWord);
    const asked = questionOrder(survey, survey.questions.filter(isSampled(sample)), nextWord);
    const visit = { questions: asked.map(({ id }) => id), options: {} };
    for (const question of asked) {
      const labels = typeOf(question).options(question.source);
      if (labels.length > 0) visit.options[question.id] = Object.freeze(optionOrder(question, labels.length, nextWord).map((index) => labels[index]));
    }
    Object.freeze(visit.options);
    Object.freeze(visit.questions);
    this.#samples.set(Object.freeze(visit), { sample });
    return visit;
  }

  shown(answers, options = {}) {
    const { visit } = this.#options(options);
    const asked = this.#asked(visit);
    const [problem] = shapeProblems(answers);
    if (problem) throw new AnswerError(problem);
    const visible = sealed(() => visibleQuestions(asked, valuesOf(asked, answers)));
    const ids = asked.filter((question, index) => visible[index]).map(({ id }) => id);
    return visit ? visit.questions.filter((id) => ids.includes(id)) : ids;
  }

  async perturb(answers, options = {}) {
    const { visit, group, invitation } = this.#options(options);
    const problems = this.#problems(answers, visit, group, invitation);
    if (problems.length) throw Object.assign(new AnswerError(problems.join("\n")), { problems });
    const { survey } = this.#checked;
    const sample = visit ? this.#samples.get(visit).sample : draw(survey, cryptoWords());
    const values = sealed(() => valuesOf(survey.questions.filter(isSampled(sample)), answers));
    try {
      const secret = newSecret();
      const [id, code, token] = await Promise.all([submissionId(secret), formatCode(secret), this.#takeToken(invitation)]);
      const body = sealed(() => perturb(this.#checked, values, cryptoWords(), { id, sample, group, token }));
      return this.#record(body, code);
    } finally {
      values.fill(undefined);
    }
  }

  async send(record) {
    const { body, submission } = this.#read(record);
    try {
      await deliver(this.#address("submissions"), body, () => {});
    } catch (error) {
      const message = error instanceof DeliveryError ? `${error.message}. ${KEPT}` : error.message;
      throw Object.assign(error, { message, record });
    }
    const { id, digest, epsilon, pinned } = this;
    return withCode({ submission, survey: id, digest, epsilon, pinned }, record.code);
  }

  async submit(answers, options = {}) {
    const { visit, group, invitation } = this.#options(options);
    const problems = this.#problems(answers, visit, group, invitation);
    if (problems.length === 0) await this.exchange({ invitation });
    return this.send(await this.perturb(answers, options));
  }

  async exchange(options = {}) {
    checkOptions(options, ["invitation"]);
    const { invitation = this.#link.code } = options;
    const problems = publicProblems({ ...this, groups: [] }, undefined, invitation);
    if (problems.length) throw Object.assign(new AnswerError(problems.join("\n")), { problems });
    if (invitation === undefined) return;
    const code = await readCode(invitation);
    const key = base64url(code);
    if (!this.#exchanges.has(key)) this.#exchanges.set(key, this.#tokens.exchange(code).finally(() => this.#exchanges.delete(key)));
    if (!(await this.#exchanges.get(key))) throw new DeliveryError();
  }

  async withdraw(code) {
    const body = JSON.stringify({ code: base64url(await readCode(code)) });
    await request(this.#address("withdrawals"), (reply) => JSON.parse(reply).withdrawn === true, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  }

  #address(name) {
    const { server, id } = this.#link;
    return `${server}/api/v1/surveys/${id}/${name}`;
  }

  /** Returns a call's options, by default the link's group and invitation. */
  #options(options) {
    checkOptions(options, ["group", "invitation", "visit"]);
    const { group = this.#link.group, invitation = this.#link.code, visit } = options;
    if (visit !== undefined && !this.#samples.has(visit)) throw new TypeError(`visit must be a result of this survey's draw(), got ${kindOf(visit)}`);
    return { group, invitation, visit };
  }

  /** Returns the questions of a visit, or all, in the survey's order. */
  #asked(visit) {
    const { questions } = this.#checked.survey;
    return visit ? questions.filter(isSampled(this.#samples.get(visit).sample)) : questions;
  }

  #problems(answers, visit, group, invitation) {
    const { survey } = this.#checked;
    return sealed(() => {
      const shape = shapeProblems(answers);
      return [...(shape.length ? shape : answerProblems(survey, this.#asked(visit), answers)), ...publicProblems(survey, group, invitation)];
    });
  }

  /** Returns the token of an exchanged invitation, for one record only. */
  async #takeToken(invitation) {
    if (invitation === undefined) return undefined;
    const { name, token } = await this.#tokens.find(await readCode(invitation));
    if (!token) throw new RefusedError("the invitation must be exchanged before answers are perturbed: call exchange(), or submit(), which does both");
    if (this.#spent.has(name)) throw new RefusedError("the invitation must be used for one record only: send the same record again");
    this.#spent.add(name);
    return token;
  }

  #record(body, code) {
    return withCode({ submission: hex(fromBase64url(JSON.parse(body).id)), survey: this.id, digest: this.digest, body }, code);
  }

  /** Returns a record's body and its id in hexadecimal. Throws TypeError if it is no record of this survey: it may be answers. */
  #read(record) {
    const { survey: { items, questions, ask, groups }, digest } = this.#checked;
    try {
      const { body } = record;
      const { id, digest: named, count, reports, group, token, ...others } = JSON.parse(body);
      unpackRecord(items, fromBase64url(reports), ask === undefined ? 0 : questions.length);
      const isPublic = (group === undefined || groups.includes(group)) && (token === undefined || Object.keys(token).sort().join() === "nonce,signature");
      if (named === digest && count === 1 && isPublic && Object.keys(others).length === 0) return { body, submission: hex(fromBase64url(id)) };
    } catch {
      // no record
    }
    throw new TypeError(`record must be a result of perturb() for survey ${this.id}, got ${kindOf(record)}; answers are for submit()`);
  }
}

/** Adds a withdrawal code that neither JSON nor the console shows. */
function withCode(values, code) {
  return Object.freeze(Object.defineProperty(values, "code", { value: code, enumerable: false }));
}

function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function readCode(text) {
  const code = typeof text === "string" ? await parseCode(text) : undefined;
  if (code === undefined) throw new AnswerError("the code must be 28 letters and digits, as it was shown; something in it was mistyped");
  return code;
}
