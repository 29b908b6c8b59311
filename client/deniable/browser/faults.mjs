/** What stands in the way, and whose it is: a rule of this browser's, the network, the server, or the page's own fault. */

import { BrokenLinkError } from "./address.mjs";
import { RefusedError } from "./definition.mjs";
import { DeliveryError, ForeignReplyError } from "./delivery.mjs";
import { t } from "./language.mjs";
import { fill, onPress, show } from "./page.mjs";
import { saySent, sentState } from "./sent.mjs";

const OWN = /\/browser\/((?:types\/)?[a-z_]+\.mjs(?::\d+){0,2})/;
const ANSWERING = ["consent", "questions", "review"];

/** Calls `tell(error)` for every error of this page's modules that nothing has caught; what others run in the page is theirs. */
export function watch(tell) {
  addEventListener("error", ({ error, filename }) => {
    if (OWN.test(`${error?.stack} ${filename}`)) tell(error);
  });
  addEventListener("unhandledrejection", ({ reason }) => {
    if (OWN.test(reason?.stack)) tell(reason);
  });
}

/** Says why it does not go on. No message here ever quotes an answer. */
export function refuse(error, device) {
  saySent(sentState(device));
  if (error instanceof DeliveryError) return sayUnloaded(reasonOf(error), error.message);
  if (error instanceof ForeignReplyError) return sayUnloaded(t("The network answered in place of the server, perhaps with a page to log in. Open any other page to see it, then reload this one."));
  if (error instanceof BrokenLinkError) return sayBroken();
  if (!(error instanceof RefusedError)) return sayFault(error, device);
  const reason = t("Your browser refuses: {reason}.", { reason: error.message });
  return sayRefused(t("This survey cannot be answered here"), { reason, advice: t("Do not answer. Ask whoever sent you the link."), detail: error.detail });
}

function reasonOf({ status }) {
  return status ? t("The server does not give it at the moment. Reload the page a little later.") : t("Check your connection, then reload the page.");
}

function sayUnloaded(reason, detail = null) {
  sayRefused(t("The survey could not be loaded"), { reason, advice: null, detail });
}

/** A link that was damaged on its way is no deceit of the server's. */
function sayBroken() {
  const advice = t("Open it again where you got it, or copy all of it: 64 digits and letters come after “digest=”. Or ask for it once more.");
  sayRefused(t("Your link is not whole"), { reason: t("A part of it was lost or changed on its way to you."), advice, detail: null });
}

function sayRefused(heading, texts) {
  const step = show("refused");
  fill(step, { heading, ...texts });
  step.querySelector("details").hidden = !texts.detail;
}

/**
 * The page itself is at fault, or this browser does something otherwise. A record that is kept stays kept, and so do answers that
 * are still being given: where there are any, there is a way back to them.
 */
export function sayFault(error, device) {
  const kept = saySent(sentState(device)) === "kept";
  const answering = kept ? undefined : ANSWERING.find((id) => document.getElementById(id)?.hidden === false);
  const step = show("fault");
  fill(step, {
    reason: kept && device?.waiting ? becomes(device) : null,
    detail: named(error),
  });
  onPress(step, "again", () => (answering ? show(answering) : location.reload()));
}

/** What becomes of the record that is kept, here or in the page alone. */
function becomes({ lasts }) {
  return lasts
    ? t("Your record is safe: it waits on this device and goes out once the page works again. You need not answer again.")
    : t("This browser keeps nothing, so your record goes with this page. It may have reached the server: do not answer again, since two records tell more about you than one.");
}

/** What went wrong and where, "TypeError, form.mjs:45:12". Not the message: engines write values into it, which may be answers. */
function named(error) {
  return [error?.name, OWN.exec(error?.stack)?.[1]].filter((part) => typeof part === "string").join(", ");
}
