/** Forms that a passkey answers: `data-passkey` is "create" or "get", `data-options` what the server asks for. Without JavaScript they stay hidden. */

const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const named = (list) => list?.map((one) => ({ ...one, id: bytes(one.id) }));

/** What the browser takes, of the server's JSON. */
function options(json) {
  const { challenge, user, excludeCredentials, allowCredentials, ...rest } = JSON.parse(json);
  const given = { ...rest, challenge: bytes(challenge) };
  if (user) given.user = { ...user, id: bytes(user.id) };
  if (excludeCredentials) given.excludeCredentials = named(excludeCredentials);
  if (allowCredentials) given.allowCredentials = named(allowCredentials);
  return given;
}

/** The browser's answer as JSON. */
function answer({ id, rawId, type, response }) {
  const parts = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];
  const sent = parts.filter((name) => response[name]).map((name) => [name, text(response[name])]);
  return JSON.stringify({ id, rawId: text(rawId), type, response: Object.fromEntries(sent) });
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  form.hidden = !window.PublicKeyCredential;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const given = { publicKey: options(form.dataset.options) };
      form.elements.credential.value = answer(await navigator.credentials[form.dataset.passkey](given));
      form.submit();
    } catch {
      form.querySelector("[role=alert]").textContent = "The device gave no passkey. Try again, or use a code.";
    }
  });
}
