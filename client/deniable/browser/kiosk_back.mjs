/**
 * Back button of the kiosk: it leads to the previous question, and never out of the page.
 *
 * The page has one history entry above its own for all people, with the same state before, during and after the questions. So the history
 * says neither how many people have answered nor whether one was in the middle.
 */

const HELD = "kiosk";

/** Returns to the page whenever Back leads below it, after `back()`. Call it on a press: browsers skip entries that no press has added. */
export function holdBack(back) {
  history.scrollRestoration = "manual";
  if (history.state !== HELD) history.pushState(HELD, "");
  stayOnPage(back);
}

/** Does the same from now on, without an entry of its own. */
export function stayOnPage(back = () => {}) {
  onpopstate = () => {
    if (history.state === HELD) return;
    back();
    history.forward();
  };
}
