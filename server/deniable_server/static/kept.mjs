/** The text of a draft that was sent stays in this tab until the server has it: whoever was logged out finds it again after the login. */

const field = document.getElementById("source");
const PREFIX = "source ";
const key = `${PREFIX}${location.pathname} ${field.form.elements.revision.value}`;

/** What was sent from here for the revision that the page was made from, if anything; whatever else was sent has arrived, or is for another. */
function taken() {
  const text = sessionStorage.getItem(key);
  for (const each of Object.keys(sessionStorage)) if (each.startsWith(PREFIX)) sessionStorage.removeItem(each);
  return text;
}

try {
  const text = taken();
  if (text !== null && text !== field.value) {
    field.value = text;
    document.getElementById("kept").hidden = false;
  }
  field.form.addEventListener("submit", () => sessionStorage.setItem(key, field.value));
} catch {
  // Storage is blocked: nothing is kept, and nothing else is different.
}
