"""The page waits as long as a busy server asks for, and sends the same bytes again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser
Javascript = Callable[..., Any]

DELIVER = """
const { deliver } = await import("/delivery.mjs");
const real = [window.fetch, window.setTimeout], waited = [], bodies = [], told = [];
window.fetch = async (url, { body }) => {
  bodies.push(body);
  const [status, asked] = given.replies.shift() ?? [200, null];
  return new Response("{}", { status, headers: asked === null ? {} : { "Retry-After": asked } });
};
window.setTimeout = (work, milliseconds) => { waited.push(milliseconds); work(); };
try {
  await deliver("/", "the record", (attempt) => told.push(attempt));
} catch (error) {
  told.push(error.name);
} finally {
  [window.fetch, window.setTimeout] = real;
}
return [waited, told, [...new Set(bodies)]];
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
        ([[403, "7"]], [], ["RejectedError"]),
    ],
)
def test_the_page_waits_as_the_server_asks(javascript: Javascript, replies: list[Any], waited: list[int], told: list[Any]) -> None:
    assert javascript(DELIVER, {"replies": replies}) == [waited, told, ["the record"]]
