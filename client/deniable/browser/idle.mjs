/** Idle time: asks whether a person is still there, and gives up some time later. */

const ASK_AFTER = 180_000; // milliseconds without a touch
const WAIT = 60_000; // milliseconds for an answer
const TICK = 1000;
const TOUCHES = ["pointerdown", "keydown", "input", "wheel", "touchmove"];

/**
 * Calls `ask()` when a person has touched nothing for a while, and `expire()` when none answers. Ends with `signal`.
 *
 * Nothing happens before the first touch. Touches do not answer the question: the next person may touch the screen, too. Call the returned
 * function when it was answered. Clocks of sleeping devices stop, so the time of day decides.
 */
export function watchIdle(ask, expire, signal) {
  let last; // when the screen was touched, or undefined
  let asking = false;
  const touch = () => {
    if (!asking) last = Date.now();
  };
  for (const type of TOUCHES) addEventListener(type, touch, { signal, capture: true, passive: true });
  const look = () => {
    const idle = last === undefined ? 0 : Date.now() - last;
    if (idle > ASK_AFTER + WAIT) expire();
    else if (idle > ASK_AFTER && !asking) {
      asking = true;
      ask();
    }
  };
  const timer = setInterval(look, TICK);
  addEventListener("visibilitychange", look, { signal });
  signal.addEventListener("abort", () => clearInterval(timer));
  return () => {
    asking = false;
    touch();
  };
}
