/**
 * Claims: the sentences that reassure, warn or advise, each shown only if its condition holds for the checked survey.
 *
 * Twin: `privacy/claims.py`, which explains conditions. The page has its part of the table, in its language, as
 * `<script type="application/json" id="claims">`: `{levels, claims: [[topic, condition, text], ...]}`.
 */

import { insert, number } from "./language.mjs";
import { posteriorBound, rightFor } from "./posterior.mjs";
import { oddsOfAll } from "./randomize.mjs";

let source, table; // the element of the page, which a kiosk replaces, and its content

/** Returns the level of a posterior bound: strong, medium, weak or none. */
export function levelOf({ percent }, levels = loadTable().levels) {
  return levels.find(([, most]) => percent <= most)[0];
}

/** Returns the posterior bounds of the least protected answer, all options of a multiple choice included, and of the whole record. */
export function boundsOf({ survey: { questions }, odds }) {
  const channels = questions.map(({ items }) => items.map(({ channel }) => channel));
  return { one: posteriorBound(oddsOfAll(channels, 1)), record: posteriorBound(odds) };
}

/** Returns the facts about a checked survey that conditions refer to. */
export function factsOf(definition, levels) {
  const { one, record } = boundsOf(definition);
  const [made, expected] = definition.spare ?? [];
  const { release, batch, results, groups, access, ask } = definition.survey;
  const weaker = one.percent > record.percent ? one : record;
  return {
    one: levelOf(one, levels),
    record: levelOf(record, levels),
    weaker: levelOf(weaker, levels),
    of: rightFor(weaker).of,
    by: "device",
    release,
    batch,
    results,
    groups: groups.length,
    codes: access === "invited" ? "yes" : "no",
    sample: ask === undefined ? "no" : "yes",
    ...(made && { made, expected }),
  };
}

/** Returns the numbers of a header `MADE/EXPECTED` if more invitation codes were made than people are expected; undefined otherwise. */
export function spareCodes(text) {
  const [, made, expected] = (/^([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(text) ?? []).map(Number);
  return made > expected ? [made, expected] : undefined;
}

/** Returns whether a condition is met. A fact that is not known meets none. */
export function isMet(condition, facts) {
  return Object.entries(condition).every(([name, required]) => {
    const value = facts[name];
    if (Array.isArray(required)) return required.includes(value);
    return typeof value === "number" && value >= (required.least ?? value) && value <= (required.most ?? value);
  });
}

/** Returns the claims of a topic that hold, as text; "" if none does. */
export function claimText(topic, facts) {
  const values = Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, typeof value === "number" ? number(value) : value]));
  const texts = loadTable().claims.filter(([name, condition]) => name === topic && isMet(condition, facts)).map(([, , text]) => insert(text, values));
  return texts.join(" ");
}

/** Fills every element with `data-claims`, a topic, and hides those that have nothing to say. */
export function showClaims(root, facts) {
  for (const element of root.querySelectorAll("[data-claims]")) {
    element.textContent = claimText(element.dataset.claims, facts);
    element.hidden = element.textContent === "";
  }
}

function loadTable() {
  const element = document.getElementById("claims");
  if (element !== source) [source, table] = [element, JSON.parse(element.textContent)];
  return table;
}
