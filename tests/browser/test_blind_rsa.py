"""Blind RSA signatures in the three engines: the vectors of the RFC and of an independent implementation, as in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.kit.pages.chromium import open_browser
from tests.kit.pages.engines import ENGINES

pytestmark = pytest.mark.browser
Vectors = Callable[[str], list[dict[str, Any]]]

RUN = """
const { blind, bytesOf, finalize, numberOf, sizeOf } = await import("/blind_rsa.mjs");
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const number = (text) => BigInt(`0x${text || "0"}`);
const hex = (value, size) => [...bytesOf(value, size)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const inverse = (value, n) => {
  let [a, b, x, y] = [n, value, 0n, 1n];
  while (b) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return ((x % n) + n) % n;
};
return Promise.all(given.map(async (each) => {
  const modulus = number(each.modulus), size = sizeOf(modulus);
  const made = await blind(modulus, fromHex(each.message), fromHex(each.salt), inverse(number(each.inverse), modulus));
  let signature = null;
  try {
    signature = hex(finalize(modulus, made.blinded, number(each.blind_signature), made.inverse), size);
  } catch (error) {
    if (error.name !== "BlindSignatureError") throw error;
  }
  return [hex(made.blinded, size), hex(made.inverse, size), signature, numberOf(bytesOf(made.blinded, size)) === made.blinded];
}));
"""


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if request.param == "chromium":
        with open_browser() as driver:
            yield driver
        return
    driver = ENGINES[request.param](tmp_path_factory.mktemp(request.param) / "profile")
    yield driver
    driver.quit()


def compared(got: list[Any], cases: list[dict[str, Any]]) -> list[str]:
    """The names of the vectors that a browser did not follow.

    The length of a reply is not checked here but where it is read; and the salt of the RFC's other variant is not ours, but the page,
    which knows its own message, compares that instead.
    """
    wrong = []
    for (blinded, inverse, signature, is_same), case in zip(got, cases, strict=True):
        valid = case["valid"] or "PSSZERO" in case["name"] or case["name"] == "bad: one byte more"
        expected = case["signature"].removeprefix("00" if "byte more" in case["name"] else "") if valid else None
        if (blinded, inverse, signature, is_same) != (case["blinded"], case["inverse"], expected, True):
            wrong.append(case["name"])
    return wrong


def test_every_vector_is_followed_in_every_engine(engine: Any, modules: str, javascript_at: Callable[..., Any], vectors: Vectors) -> None:
    cases = vectors("blind_rsa")
    assert compared(javascript_at(engine, modules, RUN, cases), cases) == []


WRONG = {
    "the salt is missing": ("block.set([1, ...salt], block.length - salt.length - 1)", "block.set([1], block.length - salt.length - 1)"),
    "the mask begins again": ("0, 0, 0, start / HASH_BYTES", "0, 0, 0, 0"),
    "the highest bit stays": ("block[0] &= 127;", ""),
    "any reply is a signature": ("verificationPower(signature, modulus) !== blinded", "false"),
    "the exponent is 32769": ("bit < 16", "bit < 15"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_the_control_each_of_these_mistakes_breaks_a_vector(wrong: str, broken_javascript: Callable[..., Any], vectors: Vectors) -> None:
    cases = vectors("blind_rsa")
    assert compared(broken_javascript("blind_rsa.mjs", *WRONG[wrong], RUN, cases), cases)
