/** What a survey with public groups or invitations needs before the questions: which group, and a code. Neither is an answer. */

import { labelOf } from "./address.mjs";
import { read } from "./codes.mjs";
import { RefusedError } from "./definition.mjs";
import { latinDigits, t, tn } from "./language.mjs";
import { fill } from "./page.mjs";
import { unchanged } from "./unchanged.mjs";

/** The fields for what the link does not say; `read()` gives {group, invitation}, or undefined after marking what is missing. */
export class Entry {
  #survey;
  #fragment;
  #root;

  constructor(root, survey, fragment) {
    this.#survey = survey;
    this.#fragment = fragment;
    this.#root = root;
    this.#offer("group", survey.groups.length > 0 && groupOf(survey, fragment) === undefined);
    this.#offer("code", survey.access === "invited" && !fragment.get("code"));
    const [first] = this.#field("group").options;
    this.#field("group").replaceChildren(first, ...survey.groups.map((group) => Object.assign(new Option(group), { lang: survey.language })));
    const step = root.closest("section");
    const oneOf = tn("It is one of {count} group.", "It is one of {count} groups.", survey.groups.length);
    for (const place of step.querySelectorAll(".one-of")) place.textContent = oneOf;
    step.querySelector(".grouped").hidden = survey.groups.length === 0;
    this.#field("code").value = fragment.get("code") ?? "";
    unchanged(root);
  }

  /** Marks every part that is missing or wrong, and moves the focus to the first. `usable` says whether a code is, to the server. */
  async read(usable) {
    const { groups, access } = this.#survey;
    const group = groupOf(this.#survey, this.#fragment) ?? groups[this.#field("group").selectedIndex - 1];
    const invitation = access === "invited" ? await read(latinDigits(this.#field("code").value)) : undefined;
    const wrong = [["group", groups.length > 0 && group === undefined], ["code", access === "invited" && invitation === undefined]];
    for (const [name, missing] of wrong) this.#mark(name, missing);
    const first = wrong.find(([, missing]) => missing);
    if (!first && (invitation === undefined || (await usable(invitation)))) return { group, invitation };
    if (!first) this.#mark("code", true, "used");
    this.#field(first?.[0] ?? "code").focus();
    return undefined;
  }

  #field(name) {
    return this.#root.querySelector(`[data-field=${name}]`);
  }

  /** Marks a field, or takes the mark off; what is wrong is shown, though the link had it. */
  #mark(name, wrong, kind) {
    if (wrong) this.#offer(name, true);
    mark(this.#field(name), wrong, kind);
  }

  #offer(name, wanted) {
    this.#field(name).closest("label").hidden = !wanted;
    this.#root.hidden = [...this.#root.querySelectorAll("label")].every(({ hidden }) => hidden);
    if (name === "code") this.#tell(wanted);
  }

  /** Says below the buttons what becomes of the code: of one to be typed, or of the link's. */
  #tell(typed) {
    const said = (part) => this.#root.closest("section").querySelector(part);
    said("#hint-code").hidden = !typed;
    said(".invited").hidden = typed || this.#survey.access !== "invited";
  }
}

/** The group that a link names, undefined where it names none. Throws RefusedError for one that the survey does not have. */
export function groupOf({ groups }, fragment) {
  const named = fragment.get("group") ?? undefined;
  const group = named === undefined ? undefined : labelOf(groups, named);
  if (named !== undefined && group === undefined) throw new RefusedError(t("your link names a group that this survey does not have"));
  return group;
}

/** Says in a step which group travels with the record, or nothing where there is none. */
export function sayGroup(step, group) {
  fill(step, { group });
  step.querySelector("[data-slot=group]").parentElement.hidden = group === undefined;
}

/** Shows the problem of this kind beside a field, or none. A hidden one must not describe the field: it would be read out all the same. */
export function mark(field, wrong, kind = "wrong") {
  field.toggleAttribute("aria-invalid", wrong);
  if (wrong) field.setAttribute("aria-invalid", "true");
  const problems = [...field.parentElement.querySelectorAll(".problem")];
  for (const problem of problems) problem.hidden = !wrong || (problem.dataset.kind ?? "wrong") !== kind;
  const hints = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => problems.every((problem) => problem.id !== id));
  field.setAttribute("aria-describedby", [...hints, ...problems.flatMap(({ id, hidden }) => (hidden ? [] : id))].join(" ").trim());
}
