/**
 * Preview of a survey: runs the released respondents' script with a stub network and an in-memory storage, so nothing leaves
 * this frame. Only the request for the definition is passed on. If a stub cannot be installed, the script is not started.
 */

const script = document.querySelector("script[data-definition]");
const main = document.querySelector("main");
const own = `/api/v1/surveys/${main.dataset.survey}`;
const network = globalThis.fetch.bind(globalThis);

/** In-memory storage, enumerable like the browser's. */
class Memory {
  static #methods = {
    getItem: (entries) => (key) => (Object.hasOwn(entries, key) ? entries[key] : null),
    setItem: (entries) => (key, value) => void (entries[key] = String(value)),
    removeItem: (entries) => (key) => void delete entries[key],
  };

  constructor() {
    for (const [name, method] of Object.entries(Memory.#methods)) {
      Object.defineProperty(this, name, { value: method(this), enumerable: false });
    }
  }
}

/** Stub of fetch: answers as the server would, and passes on only the request for the definition. */
async function stubFetch(address, { method = "GET", body } = {}) {
  const { pathname, origin } = new URL(address, location.href);
  if (origin !== location.origin) throw new TypeError("a preview sends no request to another server");
  if (method === "GET" && pathname === own) {
    return network(script.dataset.definition, { credentials: "same-origin", cache: "no-store", referrerPolicy: "no-referrer" });
  }
  if (method !== "POST") throw new TypeError("a preview sends no other request");
  const reply = pathname.endsWith("/tokens") ? { signature: sign(JSON.parse(body).blinded) } : { accepted: 1 };
  return new Response(JSON.stringify(reply), { headers: { "Content-Type": "application/json" } });
}

/** Signs a blinded token, as a server would, with the key of previews. */
function sign(blinded) {
  const [modulus, exponent] = script.dataset.key.split(" ").map((digits) => BigInt(`0x${digits}`));
  const bytes = atob(blinded.replaceAll("-", "+").replaceAll("_", "/"));
  let [square, signature] = [BigInt(`0x${Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("")}`), 1n];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) signature = (signature * square) % modulus;
    square = (square * square) % modulus;
  }
  const text = signature.toString(16).padStart(512, "0").replace(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16)));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

Object.defineProperty(globalThis, "localStorage", { value: new Memory(), configurable: false });
Object.defineProperty(globalThis, "fetch", { value: stubFetch, configurable: false });
Object.defineProperty(navigator, "sendBeacon", { value: () => false, configurable: false });

/** Blocks links to pages that only published surveys have. */
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (link && new URL(link.href).pathname.startsWith("/s/")) event.preventDefault();
});

/**
 * Beside the form of a draft, goes on to the questions at the earlier scroll position, and takes no focus from a person who types
 * in the form until the frame is touched.
 */
function continueToQuestions() {
  history.replaceState(null, "", location.pathname + location.hash); // the script accepts only a language after "?"
  const { focus } = HTMLElement.prototype;
  let touched = false;
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, ({ isTrusted }) => (touched ||= isTrusted), { capture: true });
  HTMLElement.prototype.focus = function (...args) {
    if (touched) focus.apply(this, args);
  };
  onFirstShow("consent", (consent) => consent.querySelector("[data-action=agree]").click());
  onFirstShow("questions", () => document.body.scrollTo(0, Number(window.name)));
}

/** Calls `action` when this step is first shown. */
function onFirstShow(id, action) {
  const step = document.getElementById(id);
  const observer = new MutationObserver(() => {
    if (step.hidden) return;
    observer.disconnect();
    action(step);
  });
  observer.observe(step, { attributeFilter: ["hidden"] });
}

if ("beside" in script.dataset) continueToQuestions();
if (window.parent === window) main.textContent = "A preview is shown in the page of its draft.";
else document.head.append(document.getElementById("script").content.cloneNode(true));
