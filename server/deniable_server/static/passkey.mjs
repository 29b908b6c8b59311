/** Passkey forms: `data-passkey` is "create" or "get", `data-options` the server's options. Without JavaScript they stay hidden. */

const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const withIds = (list) => list?.map((credential) => ({ ...credential, id: bytes(credential.id) }));

/** Converts the server's JSON to the browser's options. */
function options(json) {
  const { challenge, user, excludeCredentials, allowCredentials, ...rest } = JSON.parse(json);
  const converted = { ...rest, challenge: bytes(challenge) };
  if (user) converted.user = { ...user, id: bytes(user.id) };
  if (excludeCredentials) converted.excludeCredentials = withIds(excludeCredentials);
  if (allowCredentials) converted.allowCredentials = withIds(allowCredentials);
  return converted;
}

/** Serializes the browser's credential as JSON. */
function answer({ id, rawId, type, response }) {
  const parts = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];
  const fields = parts.filter((name) => response[name]).map((name) => [name, text(response[name])]);
  return JSON.stringify({ id, rawId: text(rawId), type, response: Object.fromEntries(fields) });
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  form.hidden = !window.PublicKeyCredential;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const request = { publicKey: options(form.dataset.options) };
      form.elements.credential.value = answer(await navigator.credentials[form.dataset.passkey](request));
      form.submit();
    } catch {
      form.querySelector("[role=alert]").textContent = "The device gave no passkey. Try again, or use a code.";
    }
  });
}
