/** Withdrawal code display: show, copy and save. Only the page that drew the record has the code, and it never stores it by itself. */

import { t } from "./language.mjs";
import { fill, onPress } from "./page.mjs";

/** Shows the code of `own` if it belongs to the envelope `body`, and otherwise says that it is gone. */
export function showCode(step, { own, definition: { survey } }, body) {
  const code = own?.id === JSON.parse(body).id ? own.code : null;
  step.querySelector(".withdrawal").hidden = code === null;
  if (code !== null) document.querySelector(".languages").hidden = true; // they reload the page
  const goneText = t("This device did not keep the code with which this record can be erased. Only the page that made the record had it.");
  fill(step, { code, codeGone: code === null ? goneText : null, copied: null });
  const element = step.querySelector("[data-slot=code]");
  const address = step.querySelector(".withdrawal a").href;
  onPress(step, "copy", async () => fill(step, { copied: (await copyText(element)) ? t("Copied.") : t("It is selected now. Copy it with your keyboard or the menu.") }));
  onPress(step, "save", () => save(`${survey.id}.txt`, `${t("Withdrawal code")}\n${code}\n${address}\n`));
}

/** Copies an element's text, or selects it if the browser forbids copying. */
export async function copyText(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(element);
    return document.execCommand("copy");
  }
}

function save(name, text) {
  const link = Object.assign(document.createElement("a"), { download: name, href: URL.createObjectURL(new Blob([text], { type: "text/plain" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}
