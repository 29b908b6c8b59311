"""The page waits as long as a busy server asks for, and sends the same bytes again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser
Javascript = Callable[..., Any]

DELIVER = """
const { deliver } = await import("/delivery.mjs");
const { fetch, setTimeout, clearTimeout } = window, waited = [], bodies = [], told = [];
const running = new Set(); // the clocks that have been started and neither stopped nor run out
let sending = false;
window.fetch = async (url, { body }) => {
  sending = true;
  bodies.push(body);
  const [status, asked, said] = given.replies.shift() ?? [200, null, '{"accepted":1}'];
  return new Response(status === 204 ? null : (said ?? "{}"), { status, headers: asked === null ? {} : { "Retry-After": asked } });
};
window.setTimeout = (work, milliseconds) => {
  const clock = {};
  running.add(clock);
  setTimeout(() => { // at once, except for the patience with a request that is under way, which ends with the reply
    if (sending || !running.delete(clock)) return;
    waited.push(milliseconds);
    work();
  });
  return clock;
};
window.clearTimeout = (clock) => {
  sending = false;
  running.delete(clock);
};
try {
  await deliver("/", "the record", (attempt) => told.push(attempt));
} catch (error) {
  told.push(error.name);
} finally {
  Object.assign(window, { fetch, setTimeout, clearTimeout });
}
return [waited, told, [...new Set(bodies)], running.size];
"""


@pytest.mark.parametrize(
    ("replies", "waited", "told"),
    [
        ([], [], []),
        ([[429, "7"]], [7000], [2]),
        ([[429, "1"], [503, "2"], [429, "5"]], [1000, 2000, 5000], [2, 3, 4]),
        ([[429, "600"]], [30000], [2]),
        ([[429, None], [429, "soon"], [429, "-5"]], [1000, 2000, 4000], [2, 3, 4]),
        ([[429, "1.5"], [429, "9" * 30]], [1000, 2000], [2, 3]),
        ([[429, "2"]] * 4, [2000, 2000, 4000], [2, 3, 4, "DeliveryError"]),
        ([[425, None], [520, None], [524, None]], [1000, 2000, 4000], [2, 3, 4]),  # of a proxy: the server may have the record
        ([[403, "7"]], [], ["RejectedError"]),
        ([[200, None, "<!doctype html><h1>Welcome to our hotel</h1>"]], [1000], [2]),
        (
            [[200, None, said] for said in ("null", '{"accepted":true}', "")] + [[204, None, None]],
            [1000, 2000, 4000],
            [2, 3, 4, "DeliveryError"],
        ),
    ],
)
def test_the_page_waits_as_the_server_asks(javascript: Javascript, replies: list[Any], waited: list[int], told: list[Any]) -> None:
    assert javascript(DELIVER, {"replies": replies}) == [waited, told, ["the record"], 0]
