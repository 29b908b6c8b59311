/**
 * A survey to be tried: the respondents' script as it is released, with a network and a storage in their place of which
 * nothing leaves this frame. Whatever the script asks for but the definition, this answers itself; what it keeps is forgotten
 * with the page. If anything of it cannot be put in place, the script is not started.
 */

const script = document.querySelector("script[data-definition]");
const main = document.querySelector("main");
const own = `/api/v1/surveys/${main.dataset.survey}`;
const network = globalThis.fetch.bind(globalThis);

/** What the script keeps on a device: in memory, and enumerable as the browser's storage is. */
class Memory {
  static #methods = {
    getItem: (kept) => (key) => (Object.hasOwn(kept, key) ? kept[key] : null),
    setItem: (kept) => (key, value) => void (kept[key] = String(value)),
    removeItem: (kept) => (key) => void delete kept[key],
  };

  constructor() {
    for (const [name, method] of Object.entries(Memory.#methods)) {
      Object.defineProperty(this, name, { value: method(this), enumerable: false });
    }
  }
}

/** Answers what the script sends as the server would that keeps it; nothing is passed on but the question for the definition. */
async function answered(address, { method = "GET" } = {}) {
  const { pathname, origin } = new URL(address, location.href);
  if (origin !== location.origin) throw new TypeError("a preview asks nobody else");
  if (method === "GET" && pathname === own) {
    return network(script.dataset.definition, { credentials: "same-origin", cache: "no-store", referrerPolicy: "no-referrer" });
  }
  if (method !== "POST") throw new TypeError("a preview asks for nothing else");
  const said = pathname.endsWith("/invitations/check") ? { usable: true } : { accepted: 1 };
  return new Response(JSON.stringify(said), { headers: { "Content-Type": "application/json" } });
}

Object.defineProperty(globalThis, "localStorage", { value: new Memory(), configurable: false });
Object.defineProperty(globalThis, "fetch", { value: answered, configurable: false });
Object.defineProperty(navigator, "sendBeacon", { value: () => false, configurable: false });

/** Pages about a survey that is published are not there for one that is tried. */
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (link && new URL(link.href).pathname.startsWith("/s/")) event.preventDefault();
});

/**
 * Beside the fields of a draft the questions are what is looked at: once they can be asked for, they are, at the place where somebody
 * was; and nothing takes the focus from who is typing in the fields, until the frame is touched.
 */
function beside() {
  history.replaceState(null, "", location.pathname + location.hash); // the script takes no address with more than a language behind its ?
  const { focus } = HTMLElement.prototype;
  let touched = false;
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, ({ isTrusted }) => (touched ||= isTrusted), { capture: true });
  HTMLElement.prototype.focus = function (...given) {
    if (touched) focus.apply(this, given);
  };
  once("consent", (consent) => consent.querySelector("[data-action=agree]").click());
  once("questions", () => document.body.scrollTo(0, Number(window.name)));
}

/** Calls `action` when this step is shown first. */
function once(id, action) {
  const step = document.getElementById(id);
  const observer = new MutationObserver(() => {
    if (step.hidden) return;
    observer.disconnect();
    action(step);
  });
  observer.observe(step, { attributeFilter: ["hidden"] });
}

if ("beside" in script.dataset) beside();
if (window.parent === window) main.textContent = "A preview is shown in the page of its draft.";
else document.head.append(document.getElementById("script").content.cloneNode(true));
