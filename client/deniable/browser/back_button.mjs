/**
 * Back button: leads to the previous question instead of out of the survey.
 *
 * The page has one history entry above its own, with the same address whatever was answered or shown. Back goes down to the page's own
 * entry; the page goes up again for as long as there is a previous step.
 */

const ANSWERING = "asking";

/**
 * Handles Back and Forward. `back()` goes one step back and returns whether there was one. If not, the page stays on its own entry, the
 * next Back leaves it, and Forward calls `again()`.
 */
export function handleBack(back, again) {
  history.scrollRestoration = "manual";
  if (history.state !== ANSWERING) history.pushState(ANSWERING, "");
  let below = false;
  onpopstate = () => {
    if (history.state !== ANSWERING) {
      below = !back();
      if (!below) history.forward();
    } else if (below) {
      below = false;
      again();
    }
  };
}

/** Returns whether the page was reloaded or reopened during the questions: the state of its history entry outlives it. */
export function wasAnswering() {
  return history.state === ANSWERING;
}

/** Returns Back and Forward to the browser, and clears the entry's state. */
export function releaseBack() {
  onpopstate = null;
  if (history.state === ANSWERING) history.replaceState(null, "");
}
