/**
 * Queue of a shared device: perturbed records that wait until the server has acknowledged them.
 *
 * Each record has an entry of its own under a random name, so neither names nor sizes say when it was made, and windows of one browser do
 * not overwrite each other's. Records are sent in the order of their random names, each with the same bytes until it is acknowledged.
 */

import { DeliveryError, RejectedError, deliver } from "./delivery.mjs";

const PREFIX = "deniable-kiosk:";
const NAME_BYTES = 16;

/** The records of the survey with this digest that wait in this browser. */
export class RecordQueue {
  /** Whether the server has refused a record because the survey is closed. */
  isClosed = false;
  #prefix;
  #url;
  #onChange;
  #storage;
  #refused = new Set(); // the entries that the server did not take, until the page is loaded again
  #sending = false;
  #wanted = false; // asked to send while it was sending

  /** `onChange()` is called after every change. Throws if the browser lets the page store nothing. */
  constructor(digest, url, onChange, storage = localStorage) {
    this.#prefix = `${PREFIX}${digest}:`;
    this.#url = url;
    this.#onChange = onChange;
    this.#storage = storage;
    this.#keep(`${PREFIX}probe`, "probe");
    storage.removeItem(`${PREFIX}probe`);
  }

  /** The number of records that wait. */
  get waiting() {
    return this.#keys.length - this.refused;
  }

  /** The number of records that the server did not take. */
  get refused() {
    return this.#keys.filter((key) => this.#refused.has(key)).length;
  }

  get #keys() {
    const keys = Array.from({ length: this.#storage.length }, (_, index) => this.#storage.key(index));
    return keys.filter((key) => key.startsWith(this.#prefix)).sort();
  }

  /** Writes an entry and reads it back: a person must not leave with a record that is not stored. */
  #keep(key, text) {
    this.#storage.setItem(key, text);
    if (this.#storage.getItem(key) !== text) throw new Error("the browser did not keep the entry");
  }

  /** Adds an envelope. Throws if the browser does not keep it. */
  add(envelope) {
    const name = Array.from(crypto.getRandomValues(new Uint8Array(NAME_BYTES)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    this.#keep(this.#prefix + name, envelope);
    this.#onChange();
  }

  /** Sends what waits, while the server can be reached. Leaves it to another window that is sending. */
  async send() {
    this.#wanted = true;
    if (this.#sending) return;
    this.#sending = true;
    try {
      while (this.#wanted) {
        this.#wanted = false;
        await navigator.locks.request(this.#prefix, { ifAvailable: true }, (lock) => lock && this.#sendAll());
      }
    } finally {
      this.#sending = false;
    }
  }

  /** Tries again what the server did not take. */
  retry() {
    this.#refused.clear();
    this.#onChange();
    return this.send();
  }

  /** Removes the records that the server did not take. */
  removeRefused() {
    for (const key of this.#refused) this.#storage.removeItem(key);
    this.#refused.clear();
    this.#onChange();
  }

  async #sendAll() {
    for (let key; (key = this.#keys.find((other) => !this.#refused.has(other))) !== undefined; this.#onChange()) {
      try {
        await deliver(this.#url, this.#storage.getItem(key), () => {});
      } catch (error) {
        if (error instanceof DeliveryError) return;
        if (!(error instanceof RejectedError)) throw error;
        if (error.rule !== "conflict") { // a record with a conflict was withdrawn before it arrived
          this.#refused.add(key);
          this.isClosed ||= error.rule === "closed";
          continue;
        }
      }
      this.isClosed = false;
      this.#storage.removeItem(key);
    }
  }
}
