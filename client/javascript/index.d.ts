/** JavaScript client of a `deniable` survey server: answers are randomized here, and only perturbed bits are sent. */

/** An answer: a text, a number, a Boolean value, or a list of options. Null, "" and undefined skip an optional question. */
export type Answer = string | number | boolean | readonly string[] | null | undefined;

/** One respondent's answers, by question id. */
export type Answers = Readonly<Record<string, Answer>>;

export interface FetchOptions {
  /** The largest privacy loss of one record, a number or a text such as "ln 9". By default 8. */
  maxEpsilon?: number | string;
  /** The fewest records that the server may show together. By default 10. */
  minBatch?: number;
  /** The same for a survey with groups, whose records are shown by group. By default 10. */
  minGroup?: number;
}

export interface AnswerOptions {
  /** The respondent's public group, sent openly. By default the link's. */
  group?: string;
  /** The respondent's invitation code. By default the link's. */
  invitation?: string;
  /** The questions that the respondent was asked. By default all, or a sample that is drawn for the record. */
  visit?: Visit;
}

/** The questions to ask one respondent, and their order: a result of `draw`. */
export interface Visit {
  /** The ids of the questions, in the drawn order. */
  readonly questions: readonly string[];
  /** The options of each question that has some, in the drawn order. */
  readonly options: Readonly<Record<string, readonly string[]>>;
}

/** One respondent's perturbed answers. Store it as JSON before you send it: sent again, it is counted once. */
export interface PerturbedRecord {
  /** The id of the submission in hexadecimal. */
  readonly submission: string;
  readonly survey: string;
  /** The digest of the survey's definition. */
  readonly digest: string;
  /** What is sent, byte by byte. */
  readonly body: string;
  /** The code that withdraws the record, for the respondent. Neither JSON nor the console shows it; a stored record has none. */
  readonly code?: string;
}

/** Acknowledgement of one record. */
export interface Receipt {
  /** The id of the submission in hexadecimal. */
  readonly submission: string;
  readonly survey: string;
  /** The digest of the survey's definition. */
  readonly digest: string;
  /** The privacy loss of the record, at most. */
  readonly epsilon: number;
  /** Whether the link named the digest. If not, the server could show different surveys to different people. */
  readonly pinned: boolean;
  /** The code that withdraws the record, as in `PerturbedRecord`. */
  readonly code?: string;
}

/** What has a withdrawal code. */
export interface WithCode {
  readonly code: string;
}

/** A question of the published definition. */
export interface Question {
  readonly id: string;
  readonly text: string;
  readonly type: string;
  readonly help?: string;
  readonly section?: { readonly title: string; readonly note?: string };
  readonly grid?: { readonly id: string; readonly text?: string; readonly help?: string };
  readonly options?: readonly string[];
  readonly scores?: readonly number[];
  readonly low?: number;
  readonly high?: number;
  /** False for a question that may be skipped; otherwise left out. */
  readonly required?: boolean;
  readonly epsilon: number;
  readonly categories: readonly string[];
  readonly [key: string]: unknown;
}

/** The published definition, as the server has it. Its keys are in docs/reference/question-types.md. */
export interface Definition {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly questions: readonly Question[];
  readonly [key: string]: unknown;
}

/** A survey whose definition was fetched and checked: a result of `fetchSurvey`. */
export interface Survey {
  readonly id: string;
  readonly title: string;
  readonly access: "open" | "invited";
  /** The public groups; none if the survey has no groups. */
  readonly groups: readonly string[];
  readonly definition: Definition;
  readonly digest: string;
  /** Whether the link named the digest. */
  readonly pinned: boolean;
  /** The privacy loss of one record, at most. */
  readonly epsilon: number;
  /** How sure a 50:50 guess about a respondent can become by a whole record, in percent, rounded up. */
  readonly posteriorBound: number;

  /** Returns every problem of the answers, as messages that quote no answer; none if `perturb` takes them. */
  check(answers: Answers, options?: AnswerOptions): string[];

  /** Draws, once for each respondent, which questions to ask, and the order of questions and options. */
  draw(): Visit;

  /** Returns the ids of the questions to show after these answers. Show no others. */
  shown(answers: Answers, options?: { visit?: Visit }): string[];

  /**
   * Randomizes one respondent's answers, without sending them. Call it once for each respondent: fresh noise on the same answers averages
   * away. In a survey by invitation, call `exchange` before.
   *
   * Rejects with an AnswerError if `check` finds problems.
   */
  perturb(answers: Answers, options?: AnswerOptions): Promise<PerturbedRecord & WithCode>;

  /**
   * Sends a result of `perturb`, the same bytes each time: it is counted once.
   *
   * Rejects with a DeliveryError if the server cannot be reached, or a RejectedError if it refuses the record. Both have the `record`.
   */
  send<R extends PerturbedRecord>(record: R): Promise<Receipt & Pick<R, "code">>;

  /** Exchanges the invitation, perturbs the answers and sends the record. Rejects as `exchange`, `perturb` and `send` do. */
  submit(answers: Answers, options?: AnswerOptions): Promise<Receipt & WithCode>;

  /** Exchanges an invitation code for a token that the server signs without seeing it. It is kept in memory. */
  exchange(options?: { invitation?: string }): Promise<void>;

  /** Erases the record of a withdrawal code. The server does not say whether it had one. */
  withdraw(code: string): Promise<void>;
}

/**
 * Fetches the survey of a respondent's link, `https://host/s/<survey id>#digest=…`, and checks its definition.
 *
 * Rejects with a RefusedError if the definition is not the link's or not what its epsilons imply, or breaks a limit of the options; with a
 * RejectedError if the server has no such survey; with a DeliveryError if it cannot be reached; with a TypeError for wrong arguments.
 */
export function fetchSurvey(link: string, options?: FetchOptions): Promise<Survey>;

/** Replaces `${id}` in a text of the survey by the answer in words, or by the author's text for a missing one. */
export function pipe(text: string, words?: Readonly<Record<string, string>>): string;

/** Answers break a rule. The message lists every problem and quotes no answer. */
export class AnswerError extends Error {
  /** The problems, one a message. */
  readonly problems?: readonly string[];
}

/** This client refuses to take part in the survey as it is offered. Nothing was sent. */
export class RefusedError extends Error {}

/** The server could not be reached or kept failing. */
export class DeliveryError extends Error {
  /** The status of its last reply, if there was one. */
  readonly status?: number;
  /** The record, which was perhaps stored: send the same one again. */
  readonly record?: PerturbedRecord;
}

/** The server rejected the request. */
export class RejectedError extends Error {
  /** The broken rule in one word, such as "closed" or "invitation". */
  readonly rule: string;
  readonly record?: PerturbedRecord;
}
