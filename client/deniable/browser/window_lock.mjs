/**
 * Lock across the windows of one browser.
 *
 * Two windows that perturb the same answers would send two records with independent noise, which reveal more than one. Other windows see a
 * change of the storage a little later, so the lock is held longer than its action.
 */

const DELAY = 2000; // milliseconds after which other windows see this one's changes

/** Checks that the browser has locks. Rejects without them, as where pages may not store anything. */
export function checkLocks() {
  return navigator.locks.request("deniable", () => {});
}

/** Returns the result of `action()`, which runs while no other window holds the lock. */
export function withLock(name, action) {
  return new Promise((resolve, reject) => {
    const request = navigator.locks.request(`deniable:${name}`, async () => {
      resolve(await action());
      await new Promise((release) => setTimeout(release, DELAY));
    });
    request.catch(reject);
  });
}
