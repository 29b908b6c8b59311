"""Sentences that reassure, warn or advise are in the table of claims alone, and every claim has its place on a page."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

import deniable
from deniable.privacy.claims import all_claims
from deniable_server import paths
from deniable_server.web.claims import SCRIPTED

PHRASES = re.compile(
    r"\b(?:hid(?:e|es|den|ing)\b|accus|prov(?:e|es|en)\b|cannot see|tell the truth|not even (?:we|those)|nothing more|more about you"
    r"|(?:may|can|could) (?:know|learn)\b|nobody (?:can|not|finds|learns|knows)\b|who sent (?:which|it)|who took part"
    r"|(?:strong|medium|weak|no) protection|leaves? no trace|never left|accuses)",
    re.IGNORECASE,
)
"""What only a claim says."""

ALLOWED = {
    "Does your link have a question mark": "the sender of a link, not of a record",
    "How much could somebody learn about me?": "a heading above a number",
}
RESEARCHERS = ("drafts", "researchers", "access", "pages")
PRINTED = re.compile(r"\b(?:tell the truth|accuses|cannot see (?:your|their) answers|never proves?\b|nobody can see)", re.IGNORECASE)


def texts() -> Iterator[str]:
    """The texts of respondents' pages that are not in the table."""
    for message in read_po(io.BytesIO((paths.TRANSLATIONS / "deniable.pot").read_bytes())):
        if not any(file.endswith("claims.json") for file, _ in message.locations):
            yield from message.id if isinstance(message.id, tuple) else [message.id]


def test_no_text_beside_the_table_reassures_warns_or_advises() -> None:
    found = [text for text in texts() if PHRASES.search(text) and not text.startswith(tuple(ALLOWED))]
    assert found == []
    assert all(any(text.startswith(start) for text in texts()) for start in ALLOWED)


@pytest.mark.parametrize(
    "text",
    [
        "The coins hide it.",
        "So tell the truth.",
        "Nobody, not even we, can see your answers.",
        "It never proves what you said.",
        "A thief finds records, and nothing more.",
        "Who sent which is not kept.",
        "Others may learn when you answered.",
        "Weak protection.",
    ],
)
def test_a_sentence_of_that_kind_is_noticed(text: str) -> None:
    """The control."""
    assert PHRASES.search(text)


def test_most_claims_have_such_a_phrase() -> None:
    """So that the list of phrases is one of claims."""
    assert sum(bool(PHRASES.search(claim.text)) for claim in all_claims()) > 30


def test_researchers_pages_and_commands_print_no_claim_of_their_own() -> None:
    files = [file for folder in RESEARCHERS for file in (paths.TEMPLATES / folder).glob("*.html")]
    files += [*Path(deniable.__file__).parent.rglob("*.py"), *paths.STATIC.glob("*.mjs")]
    assert [file.name for file in files if PRINTED.search(file.read_text(encoding="utf-8"))] == []
    assert PRINTED.search("Nobody can see your answers")  # the control


def test_every_topic_is_printed_somewhere_and_the_script_has_those_that_it_fills_in() -> None:
    pages = "\n".join(file.read_text(encoding="utf-8") for file in sorted((paths.TEMPLATES / "respondents").glob("*.html")))
    filled = set(re.findall(r'data-claims="(\w+)"', pages))
    assert filled | {"excuse"} == set(SCRIPTED)
    printed = filled | {"excuse"} | set(re.findall(r'claims(?:_list)?\("(\w+)"', pages))
    assert printed == {claim.topic for claim in all_claims() if not claim.english}


def test_templates_state_no_facts_but_what_their_own_words_say() -> None:
    """A page by a device; and what follows on privacy after `Where it asks for an invitation`."""
    stated = {
        file.name: set(re.findall(r"claims(?:_list)?\(\"\w+\", (\{[^}]*\})", file.read_text(encoding="utf-8")))
        for file in (paths.TEMPLATES / "respondents").glob("*.html")
    }
    assert {fact for name, facts in stated.items() if name != "privacy.html" for fact in facts} == {'{"by": "device"}'}
    assert stated["privacy.html"] == {'{"codes": "yes"}'}
