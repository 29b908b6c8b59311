/** Draft recovery: the source text stays in this tab until the server has it, also across a login. */

const field = document.getElementById("source");
const PREFIX = "source ";
const key = `${PREFIX}${location.pathname} ${field.form.elements.revision.value}`;

/** Returns the text sent for this page's revision, if any, and removes all others: they have arrived or belong to other revisions. */
function takeText() {
  const text = sessionStorage.getItem(key);
  for (const name of Object.keys(sessionStorage)) if (name.startsWith(PREFIX)) sessionStorage.removeItem(name);
  return text;
}

try {
  const text = takeText();
  if (text !== null && text !== field.value) {
    field.value = text;
    document.getElementById("kept").hidden = false;
  }
  field.form.addEventListener("submit", () => sessionStorage.setItem(key, field.value));
} catch {
  // Storage is blocked: there is no recovery.
}
