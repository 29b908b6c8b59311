"""The link that opens the page is read generously: nothing that mail programs and messengers do to it makes a deceit of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser
Javascript = Callable[..., Any]

DIGEST = "0123456789abcdef" * 4
READ = """
const { digestOf, readAddress } = await import("/address.mjs");
return given.map(([pathname, search, hash]) => {
  const address = readAddress({ origin: "https://x.test", pathname, search, hash });
  const { fragment, ...rest } = address;
  let digest;
  try { digest = digestOf(address) ?? null; } catch (error) { digest = error.name; }
  return { ...rest, digest, group: fragment.get("group"), code: fragment.get("code") };
});
"""
LABELS = """const { matchLabel } = await import("/address.mjs"); return given.map(([labels, text]) => matchLabel(labels, text) ?? null);"""
ENDS = [
    ".",
    ")",
    ",",
    ">",
    ";",
    ":",
    "!",
    "?",
    "]",
    "}",
    '"',
    "'",
    "»",
    "”",
    " ",
    "\n",
    ").",
    "%20",
    "%29",
    "%2E",
    "%2c",
    "%3E",
    "%E2%80%9D",
    "%C2%BB",
]


def read(javascript: Javascript, *addresses: tuple[str, str, str]) -> list[dict[str, Any]]:
    return list(javascript(READ, [list(address) for address in addresses]))


def test_punctuation_at_the_end_belongs_to_no_part_of_a_link(javascript: Javascript) -> None:
    hashes = [f"#digest={DIGEST}{end}" for end in ENDS]
    assert {one["digest"] for one in read(javascript, *(("/s/x", "", each) for each in hashes))} == {DIGEST}
    last = [f"#digest={DIGEST}&group=North{end}" for end in ENDS]
    assert {(one["digest"], one["group"]) for one in read(javascript, *(("/s/x", "", each) for each in last))} == {(DIGEST, "North")}
    last = [f"#digest={DIGEST}&code=ABCD-1234{end}" for end in ENDS]
    assert {(one["digest"], one["code"]) for one in read(javascript, *(("/s/x", "", each) for each in last))} == {(DIGEST, "ABCD-1234")}


@pytest.mark.parametrize(
    "written",
    [
        f"#digest={DIGEST.upper()}",
        f"#DIGEST={DIGEST.upper()}",
        f"#digest%3D{DIGEST}",
        f"#digest={DIGEST[:30]}%0A{DIGEST[30:]}",
        f"#digest={DIGEST[:30]}%E2%80%8B{DIGEST[30:]}",
        f"#PROLIFIC_PID=5f3&digest={DIGEST}",
        f"#digest={DIGEST}.&group=North",
    ],
)
def test_a_digest_is_read_whatever_was_done_to_its_letters(javascript: Javascript, written: str) -> None:
    (address,) = read(javascript, ("/s/x", "", written))
    assert address["digest"] == DIGEST


@pytest.mark.parametrize(
    "torn", ["#digest=", "#digest", "#dig", "#d", f"#digest={DIGEST[:-1]}", f"#digest={DIGEST}0", f"#digest=g{DIGEST[1:]}", "#digest=…"]
)
def test_a_digest_that_is_not_whole_is_a_broken_link(javascript: Javascript, torn: str) -> None:
    (address,) = read(javascript, ("/s/x", "", torn))
    assert address["digest"] == "BrokenLinkError"


def test_a_link_without_a_digest_has_none(javascript: Javascript) -> None:
    assert [one["digest"] for one in read(javascript, *(("/s/x", "", each) for each in ("", "#", "#group=North", "#PROLIFIC_PID=5")))] == [
        None
    ] * 4


def test_no_path_leads_to_another_server(javascript: Javascript) -> None:
    assert [one["path"] for one in read(javascript, ("//s/x", "", ""), ("///s/x", "", ""), ("/s/x", "", ""))] == ["/s/x"] * 3


@pytest.mark.parametrize("tag", ["de", "de-AT", "pt", "pt_BR", "zh-Hant-TW", "es-419", "DE", "gsw"])
def test_a_language_tells_nothing_of_anybody(javascript: Javascript, tag: str) -> None:
    (address,) = read(javascript, ("/s/x", f"?lang={tag}&", ""))
    assert (address["unknown"], address["marks"], address["query"]) == (False, [], f"?lang={tag}")


@pytest.mark.parametrize(
    "search",
    [
        "?lang=en-x-ada1815",
        "?lang=en-US-ada18",
        "?lang=Ada%20Lovelace",
        "?lang=",
        "?PROLIFIC_PID=5",
        "?mc_eid=5",
        "?fbclid=1&id=2",
    ],
)
def test_what_may_name_somebody_is_told_before_anything_else(javascript: Javascript, search: str) -> None:
    (address,) = read(javascript, ("/s/x", search, ""))
    assert address["unknown"]


@pytest.mark.parametrize("mark", ["fbclid", "gclid", "msclkid", "mc_cid", "utm_source", "UTM_Medium", "ttclid", "igshid"])
def test_marks_of_networks_are_dropped_and_named(javascript: Javascript, mark: str) -> None:
    (address,) = read(javascript, ("/s/x", f"?lang=de&{mark}=IwAR0&", f"#digest={DIGEST}"))
    assert (address["unknown"], address["marks"], address["query"]) == (False, [mark.lower()], "?lang=de")
    assert address["link"] == f"https://x.test/s/x?lang=de#digest={DIGEST}"


def test_a_label_is_recognised_whatever_its_case_and_space_where_it_is_the_only_one(javascript: Javascript) -> None:
    labels = ["Berlin Office", "Clinic A", "clinic a", "Clinic B."]
    meant = {
        "berlin  office": "Berlin Office",
        "BERLIN\u00a0OFFICE": "Berlin Office",
        "Clinic A": "Clinic A",
        "clinic b": "Clinic B.",
        "CLINIC A": None,
        "": None,
        "Paris": None,
    }
    assert javascript(LABELS, [[labels, text] for text in meant]) == list(meant.values())
