"""Labels that look alike are refused, and spellings of every language that need characters that do not show are not."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import httpx
import pytest
import rfc8785
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable import SurveyClient
from deniable.cli import main
from deniable.delivery import transport
from deniable.errors import RefusedError, SurveyError
from deniable.survey import Survey
from deniable.survey.lookalikes import first_invisible, lookalikes, skeletons

FILE = """
deniable: 1
id: towns
title: {title}
about: Who asks, and why.
epsilon: 2
groups: [{groups}]
questions:
  - {{id: party, text: Which party?, type: choice, options: [{options}]}}
translations:
  de: {{title: {german}, questions: {{party: {{options: [{german_options}]}}}}}}
"""
PARTS = {"title": "A study", "groups": "North, South", "options": "Red, Blue", "german": "Eine Studie", "german_options": "Rot, Blau"}
HIDDEN = [
    *("\u00ad", "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u2060", "\u202e", "\u2066", "\u061c", "\ufeff", "\ufe0f", "\U000e0061"),
    *("\u00a0", "\u2009", "\u3000", "\u034f", "\u3164", "\U000e0100", "\ue000", "\u0378"),
]
SAME = [
    *(
        ("North", "N\u043erth"),
        ("North", "N\u03bfrth"),
        ("North", "north"),
        ("\u00e1da", "a\u0301da"),
        ("10", "1O"),
        ("Il", "ll"),
        ("\uff21", "A"),
    ),
    *(("\u0430\u0440\u0435", "ape"), ("Stra\u00dfe", "STRASSE"), ("barn", "bam"), ("a  b", "a b"), ("5", "\u01bc")),
    ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u062e\u0648\u0627\u0647\u0645"),
]
RIGHT = {
    "Persian": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Hindi": "\u0930\u094d\u200d\u092f",
    "Sinhala": "\u0dc1\u0dca\u200d\u0dbb\u0dd3",
    "emoji": "\u2764\ufe0f \U0001f469\u200d\u2695\ufe0f \U0001f469\U0001f3fd\u200d\U0001f4bb",
    "Arabic": "\u0645\u062f\u064a\u0646\u0629",
    "Hebrew": "\u05e6\u05e4\u05d5\u05df",
    "German": "Gr\u00f6\u00dfe",
    "Vietnamese": "Ti\u1ebfng Vi\u1ec7t",
}


def text(**parts: str) -> str:
    return FILE.format(**{**PARTS, **parts})


@pytest.mark.parametrize("mark", HIDDEN, ids=ascii)
@pytest.mark.parametrize("part", PARTS)
def test_a_character_that_does_not_show_is_refused_wherever_people_choose(part: str, mark: str) -> None:
    with pytest.raises(SurveyError, match="must have no invisible characters"):
        Survey.from_text(text(**{part: PARTS[part].replace("t", f"t{mark}", 1).replace("R", f"R{mark}", 1)}))


@pytest.mark.parametrize(("one", "other"), SAME, ids=ascii)
@pytest.mark.parametrize("part", ["groups", "options", "german_options"])
def test_two_labels_that_look_alike_are_refused(part: str, one: str, other: str) -> None:
    with pytest.raises(SurveyError, match="must not look like the other"):
        Survey.from_text(text(**{part: f"'{one}', '{other}'"}))


@pytest.mark.parametrize("label", RIGHT.values(), ids=RIGHT)
def test_what_a_language_needs_is_taken(label: str) -> None:
    assert first_invisible(label) == ""
    assert label in Survey.from_text(text(groups=f"{label}, Other")).groups


def test_two_hundred_groups_that_all_read_north_are_refused_by_the_command(tmp_path: Path) -> None:
    marks = "\u200b\u200c\u200d\u2060"
    labels = ["No" + "".join(marks[n >> 2 * i & 3] for i in range(4)) + "rth" for n in range(200)]
    file = tmp_path / "towns.yaml"
    file.write_text(text(groups=", ".join(labels)), encoding="utf-8")
    done = CliRunner().invoke(main, ["check", str(file)])
    assert done.exit_code != 0
    assert "ZERO WIDTH" in done.output
    assert not any(mark in done.output for mark in marks)


BINS = {"id": "age", "text": "Age?", "type": "number", "low": 0, "high": 99, "epsilon": 1}


def served(one: str, other: str, part: str) -> bytes:
    """Returns the definition that a hostile server makes: right in every byte but for two labels that it puts in place of others."""
    bins = {**BINS, "bins": [{"name": "First", "from": 0}, {"name": "Second", "from": 50}]}
    right = Survey.from_text(text()).to_dict()
    definition = json.loads(Survey.from_dict({**right, "questions": [*right["questions"], bins]}).definition)
    party, age = definition["questions"]
    if part == "groups":
        definition["groups"] = [one, other]
    elif part == "options":
        party["options"] = party["categories"] = [one, other]
    elif part == "bins":
        age["categories"] = [one, other]
        age["bins"] = [{**bin_, "name": name} for bin_, name in zip(age["bins"], (one, other), strict=True)]
    else:
        definition["translations"]["de"]["questions"]["party"]["options"] = [one, other]
    return rfc8785.dumps(definition)


PLACES = ["groups", "options", "bins", "german_options"]


@pytest.mark.parametrize(("one", "other"), [*SAME, *((f"N{mark}o", "No") for mark in HIDDEN)], ids=ascii)
@pytest.mark.parametrize("part", PLACES)
def test_a_fetched_definition_with_labels_that_look_alike_is_refused(part: str, one: str, other: str) -> None:
    with pytest.raises(RefusedError, match=r"must not look like the other|must have no invisible characters"):
        Survey.from_definition(served(one, other, part))


@pytest.mark.parametrize("part", PLACES)
def test_a_fetched_definition_with_labels_that_differ_is_read(part: str) -> None:
    assert Survey.from_definition(served("One", "Other", part)).definition == served("One", "Other", part)


@pytest.mark.parametrize("mark", HIDDEN, ids=ascii)
def test_a_fetched_title_with_a_character_that_does_not_show_is_refused(mark: str) -> None:
    definition = json.loads(Survey.from_text(text()).definition)
    with pytest.raises(RefusedError, match="title: must have no invisible characters"):
        Survey.from_definition(rfc8785.dumps({**definition, "title": f"A{mark} study"}))


def test_a_client_refuses_what_a_server_serves_and_sends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[str] = []

    def reply(request: httpx.Request) -> httpx.Response:
        requests.append(request.method)
        return httpx.Response(200, stream=httpx.ByteStream(served("North", "N\u043erth", "groups")))

    monkeypatch.setattr(transport, "_new_client", lambda url, timeout: httpx.Client(base_url=url, transport=httpx.MockTransport(reply)))
    client = SurveyClient("https://survey.example", outbox=tmp_path / "outbox")
    with pytest.raises(RefusedError, match="must not look like the other"):
        client.submit("towns", {"party": "Red"})
    client.close()
    assert requests == ["GET"]


@settings(deadline=None)
@given(st.text(max_size=8), st.sampled_from(HIDDEN))
def test_a_mark_that_does_not_show_never_makes_another_look(label: str, mark: str) -> None:
    assert skeletons(f"x{mark}{label}") & skeletons(f"x{' ' if mark.isspace() else ''}{label}")


@pytest.mark.parametrize(
    "labels", [["Yes", "No"], [str(n) for n in range(1, 1000)], [f"School {n}" for n in range(200)], ["I", "II", "III", "IV"]]
)
def test_labels_that_differ_are_no_twins(labels: list[str]) -> None:
    assert list(lookalikes(labels)) == []


def test_letters_without_capitals_have_the_look_of_the_same_letters_with_them() -> None:
    """The browser compares by `toLowerCase`: where it says alike, Python must, so that no page refuses what this package publishes."""
    characters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    assert [ascii(one) for one in characters if one.lower().casefold() != one.casefold()] == []
