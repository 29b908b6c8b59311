/** Error pages: refusals by this browser, network errors, server errors and bugs of the page. */

import { BrokenLinkError } from "./address.mjs";
import { RefusedError } from "./definition.mjs";
import { DeliveryError, ForeignReplyError } from "./delivery.mjs";
import { t } from "./language.mjs";
import { fill, onPress, show } from "./page.mjs";
import { showSent, sendState } from "./send_state.mjs";

const OWN = /\/browser\/((?:types\/)?[a-z_]+\.mjs(?::\d+){0,2})/;
const ANSWERING = ["consent", "questions", "review"];

/** Calls `report(error)` for each uncaught error of this page's modules. Errors of browser extensions are ignored. */
export function watchErrors(report) {
  addEventListener("error", ({ error, filename }) => {
    if (OWN.test(`${error?.stack} ${filename}`)) report(error);
  });
  addEventListener("unhandledrejection", ({ reason }) => {
    if (OWN.test(reason?.stack)) report(reason);
  });
}

/** Shows why the page has stopped. No message quotes an answer. */
export function showRefusal(error, device) {
  showSent(sendState(device));
  if (error instanceof DeliveryError) return showUnloaded(reasonOf(error), error.message);
  if (error instanceof ForeignReplyError) return showUnloaded(t("The network answered in place of the server, perhaps with a page to log in. Open any other page to see it, then reload this one."));
  if (error instanceof BrokenLinkError) return showBroken();
  if (!(error instanceof RefusedError)) return showFault(error, device);
  const reason = t("Your browser refuses: {reason}.", { reason: error.message });
  return showRefused(t("This survey cannot be answered here"), { reason, advice: t("Do not answer. Ask whoever sent you the link."), detail: error.detail });
}

function reasonOf({ status }) {
  return status ? t("The server does not give it at the moment. Reload the page a little later.") : t("Check your connection, then reload the page.");
}

function showUnloaded(reason, detail = null) {
  showRefused(t("The survey could not be loaded"), { reason, advice: null, detail });
}

/** Shows that the link was damaged on its way: this is no deception by the server. */
function showBroken() {
  const advice = t("Open it again where you got it, or copy all of it: 64 digits and letters come after “digest=”. Or ask for it once more.");
  showRefused(t("Your link is not whole"), { reason: t("A part of it was lost or changed on its way to you."), advice, detail: null });
}

function showRefused(heading, texts) {
  const step = show("refused");
  fill(step, { heading, ...texts });
  step.querySelector("details").hidden = !texts.detail;
}

/** Shows a bug of the page or of this browser. A stored record stays stored, and a button leads back to unfinished answers. */
export function showFault(error, device) {
  const hasRecord = showSent(sendState(device)) === "kept";
  const unfinished = hasRecord ? undefined : ANSWERING.find((id) => document.getElementById(id)?.hidden === false);
  const step = show("fault");
  fill(step, {
    reason: hasRecord && device?.waiting ? explainRecord(device) : null,
    detail: describeError(error),
  });
  onPress(step, "again", () => (unfinished ? show(unfinished) : location.reload()));
}

/** Returns what happens to a stored record. */
function explainRecord({ isLasting }) {
  return isLasting
    ? t("Your record is safe: it waits on this device and goes out once the page works again. You need not answer again.")
    : t("This browser keeps nothing, so your record goes with this page. It may have reached the server: do not answer again.");
}

/**
 * Returns an error's name and position, "TypeError, form.mjs:45:12". Its message is left out, because engines may quote values, such as
 * answers.
 */
function describeError(error) {
  return [error?.name, OWN.exec(error?.stack)?.[1]].filter((part) => typeof part === "string").join(", ");
}
