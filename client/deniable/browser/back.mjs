/**
 * The browser's Back leads to the previous question, as it does everywhere on a phone, and not out of the survey. For this the page has
 * one entry of the history above its own: the same address, and the same for everybody, whatever was answered and shown. Back
 * goes down to the page's own entry, and the page goes up again by itself for as long as there is a previous step.
 */

const ABOVE = "asking";

/**
 * Takes Back and Forward over. `back()` goes one step back and says whether there was one; where there was none, the page is on its
 * own entry again, one more Back leaves it, and Forward calls `again()`.
 */
export function takeBack(back, again) {
  history.scrollRestoration = "manual";
  if (history.state !== ABOVE) history.pushState(ABOVE, "");
  let below = false;
  onpopstate = () => {
    if (history.state !== ABOVE) {
      below = !back();
      if (!below) history.forward();
    } else if (below) {
      below = false;
      again();
    }
  };
}

/** Whether the page was loaded anew, or opened again, while somebody was answering: the mark of its entry outlives it. */
export function wasAsking() {
  return history.state === ABOVE;
}

/** Gives Back and Forward back to the browser, and takes the mark off its entry. */
export function giveBack() {
  onpopstate = null;
  if (history.state === ABOVE) history.replaceState(null, "");
}
