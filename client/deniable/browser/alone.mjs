/**
 * One window at a time. Two windows of a browser that drew at once would send two records of the same answers, with fresh noise each,
 * which tells more than one. What a window writes to the storage reaches the others a little later, so the lock outlasts it.
 */

const SEEN = 2000; // milliseconds in which what is written here has long been seen in the other windows

/** Whether the browser lets pages take turns. Rejects where it does not, as where it forbids a page to keep anything. */
export function possible() {
  return navigator.locks.request("deniable", () => {});
}

/** What `action()` gives, which runs while no other window of this browser is at it, or has just been. */
export function alone(name, action) {
  return new Promise((resolve, reject) => {
    const turn = navigator.locks.request(`deniable:${name}`, async () => {
      resolve(await action());
      await new Promise((seen) => setTimeout(seen, SEEN));
    });
    turn.catch(reject);
  });
}
