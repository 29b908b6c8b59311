/** The code that erases a record: shown, copied, saved to a file. Only the page that drew the record knows it, and keeps it nowhere by itself. */

import { t } from "./language.mjs";
import { fill, onPress } from "./page.mjs";

/** Shows the code of `own` in a step, where it is that of the envelope `body`, and else that it is gone. */
export function showCode(step, { own, definition: { survey } }, body) {
  const code = own?.id === JSON.parse(body).id ? own.code : null;
  step.querySelector(".withdrawal").hidden = code === null;
  if (code !== null) document.querySelector(".languages").hidden = true; // they load the page anew
  const gone = t("This device did not keep the code with which this record can be erased. Only the page that made the record had it.");
  fill(step, { code, codeGone: code === null ? gone : null, copied: null });
  const element = step.querySelector("[data-slot=code]");
  const address = step.querySelector(".withdrawal a").href;
  onPress(step, "copy", async () => fill(step, { copied: (await copied(element)) ? t("Copied.") : t("It is selected now. Copy it with your keyboard or the menu.") }));
  onPress(step, "save", () => save(`${survey.id}.txt`, `${t("Withdrawal code")}\n${code}\n${address}\n`));
}

/** Copies an element's text; where the browser does not let the page do so, it is selected at least. */
export async function copied(element) {
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
