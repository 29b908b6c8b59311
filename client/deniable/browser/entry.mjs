/** Entry fields before the questions: public group and invitation code. Neither is an answer. */

import { matchLabel } from "./address.mjs";
import { parseCode } from "./codes.mjs";
import { syncDefaults } from "./control_defaults.mjs";
import { RefusedError } from "./definition.mjs";
import { latinDigits, t, tn } from "./language.mjs";
import { fill } from "./page.mjs";

/** The fields that the link does not fill. `read()` returns {group, code}, or undefined after it has marked the missing ones. */
export class Entry {
  #survey;
  #fragment;
  #root;

  /** `full`: the groups that take no more records. */
  constructor(root, survey, fragment, full = []) {
    this.#survey = survey;
    this.#fragment = fragment;
    this.#root = root;
    this.#offer("group", survey.groups.length > 0 && groupOf(survey, fragment) === undefined);
    this.#offer("code", survey.access === "invited" && !fragment.get("code"));
    const [first] = this.#field("group").options;
    this.#field("group").replaceChildren(first, ...survey.groups.map((group) => Object.assign(new Option(group), { lang: survey.language, disabled: full.includes(group) })));
    const step = root.closest("section");
    const oneOf = tn("It is one of {count} group.", "It is one of {count} groups.", survey.groups.length);
    for (const element of step.querySelectorAll(".one-of")) element.textContent = oneOf;
    this.#field("code").value = fragment.get("code") ?? "";
    syncDefaults(root);
  }

  /** Marks each missing or invalid field, and focuses the first. `exchange` resolves to false if the server refuses an invitation code. */
  async read(exchange) {
    const { groups, access } = this.#survey;
    const group = groupOf(this.#survey, this.#fragment) ?? groups[this.#field("group").selectedIndex - 1];
    const code = access === "invited" ? await parseCode(latinDigits(this.#field("code").value)) : undefined;
    const wrong = [["group", groups.length > 0 && group === undefined], ["code", access === "invited" && code === undefined]];
    for (const [name, missing] of wrong) this.#mark(name, missing);
    const first = wrong.find(([, missing]) => missing);
    if (!first && (code === undefined || (await exchange(code)))) return { group, code };
    if (!first) this.#mark("code", true, "used");
    this.#field(first?.[0] ?? "code").focus();
    return undefined;
  }

  #field(name) {
    return this.#root.querySelector(`[data-field=${name}]`);
  }

  /** Marks a field or removes its mark. An invalid value from the link is shown, too. */
  #mark(name, wrong, kind) {
    if (wrong) this.#offer(name, true);
    mark(this.#field(name), wrong, kind);
  }

  #offer(name, wanted) {
    this.#field(name).closest("label").hidden = !wanted;
    this.#root.hidden = [...this.#root.querySelectorAll("label")].every(({ hidden }) => hidden);
  }
}

/** Returns the group that a link names, or undefined. Throws RefusedError if the survey does not have it. */
export function groupOf({ groups }, fragment) {
  const name = fragment.get("group") ?? undefined;
  const group = name === undefined ? undefined : matchLabel(groups, name);
  if (name !== undefined && group === undefined) throw new RefusedError(t("your link names a group that this survey does not have"));
  return group;
}

/** Shows which group is sent with the record, if any. */
export function showGroup(step, group) {
  fill(step, { group });
  step.querySelector("[data-slot=group]").parentElement.hidden = group === undefined;
}

/** Shows or hides a field's problem of this kind. A hidden one must not describe the field, or screen readers would still read it. */
export function mark(field, wrong, kind = "wrong") {
  field.toggleAttribute("aria-invalid", wrong);
  if (wrong) field.setAttribute("aria-invalid", "true");
  const problems = [...field.parentElement.querySelectorAll(".problem")];
  for (const problem of problems) problem.hidden = !wrong || (problem.dataset.kind ?? "wrong") !== kind;
  const hints = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => problems.every((problem) => problem.id !== id));
  field.setAttribute("aria-describedby", [...hints, ...problems.flatMap(({ id, hidden }) => (hidden ? [] : id))].join(" ").trim());
}
