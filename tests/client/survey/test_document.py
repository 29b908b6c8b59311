"""YAML and JSON text becomes plain values with line numbers, and hostile files end in one clear error."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.errors import SurveyError
from deniable.survey import document


def refused(text: str) -> str:
    with pytest.raises(SurveyError) as caught:
        document.parse(text)
    return str(caught.value)


def test_every_value_has_the_line_it_stands_on():
    parsed = document.parse("a: 1\nb:\n  - x\n  - c: y\n")
    assert parsed.value == {"a": "1", "b": ["x", {"c": "y"}]}
    assert parsed.lines == {"": 1, "a": 1, "b": 3, "b[0]": 3, "b[1]": 4, "b[1].c": 4}


@pytest.mark.parametrize("word", ["yes", "no", "on", "1.10", "010", "0x1F", "1_000", "2024-01-01", "12:30:45", ".inf", "1e3", "true"])
def test_a_scalar_stays_the_text_it_is_written_as(word):
    assert document.parse(f"a: {word}").value == {"a": word}


def test_null_is_none_but_an_empty_or_quoted_value_is_text():
    assert document.parse("{a: null, b: ~, c: 'null', d: '', e: }").value == {"a": None, "b": None, "c": "null", "d": "", "e": ""}


def test_a_key_that_stands_twice_is_a_problem_with_its_line():
    [problem] = document.parse("a: 1\nb: 2\na: 3\n").problems
    assert str(problem) == "a (line 3): must not be repeated"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [1", "file (line 1): is not valid YAML"),
        ("a: b: c", "file (line 1): is not valid YAML: mapping values are not allowed here"),
        ("a: *nowhere", "file (line 1): is not valid YAML: found undefined alias 'nowhere'"),
        ("--- 1\n--- 2\n", "file (line 2): is not valid YAML"),
        ("a: \x00", "file: is not valid YAML"),
        ("[" * 50_000, "file (line 1): must be nested at most 20 deep"),
        ("{a: " * 50_000, "file (line 1): must be nested at most 20 deep"),
        ("".join(f"{' ' * i}a:\n" for i in range(500)), "file (line 20): must be nested at most 20 deep"),
        ("- " * 50_000, "file (line 1): must be nested at most 20 deep"),
        ("a: &a [*a]", "file"),
    ],
)
def test_broken_syntax_is_told_with_its_line(text, told):
    assert refused(text).startswith(told)


def test_aliases_that_multiply_are_stopped():
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        bomb += f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    assert refused(bomb) == "file: must have at most 50,000 values, including repetitions by aliases"


def test_a_file_that_is_too_large_or_not_in_utf8_is_refused(tmp_path):
    big, latin = tmp_path / "big.yaml", tmp_path / "latin.yaml"
    big.write_bytes(b"#" * (document.MAX_BYTES + 1))
    latin.write_bytes("title: é".encode("latin-1"))
    with pytest.raises(SurveyError, match="must be at most 262,144 bytes, got more"):
        document.read(big)
    assert refused("a: é" + "é" * (document.MAX_BYTES // 2)) == "file: must be at most 262,144 bytes, got more"
    with pytest.raises(SurveyError, match="must be UTF-8 text, got another byte at position 7"):
        document.read(latin)


@pytest.mark.parametrize("piece", ["a,", "[],", "{b: c},"])
def test_values_without_end_are_not_all_read(monkeypatch, piece):
    composed = []
    compose = document.Composer.compose_node
    monkeypatch.setattr(document.Composer, "compose_node", lambda *given: composed.append(1) or compose(*given))
    monkeypatch.setattr(document, "MAX_NODES", 100)
    assert refused(f"[{piece * 2000}]") == "file: must have at most 100 values, including repetitions by aliases"
    assert len(composed) <= 200


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path):
    path = tmp_path / "bom.yaml"
    path.write_bytes("a: é".encode("utf-8-sig"))
    assert document.read(path).value == {"a": "é"}


def test_a_character_that_json_escapes_in_two_halves_is_one():
    assert document.parse('"\\ud83d\\ude00"').value == "\U0001f600"


values = st.recursive(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
    lambda s: st.lists(s, max_size=3) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5), s, max_size=3),
)


@settings(max_examples=60, deadline=None)
@given(values)
def test_json_with_texts_only_reads_as_json_does(value):
    assert document.parse(json.dumps(value)).value == value


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%@,\n \t?~\\", max_size=30))
def test_any_text_parses_or_is_refused(text):
    with suppress(SurveyError):
        document.parse(text)


@pytest.mark.parametrize(
    "raw", [b'{"a":1,"a":1}', b'{"a":NaN}', b'{"a":-Infinity}', b"\xff", b"", b'{"a":{"b":1,"b":2}}', b"-1e400", b"[" * 100_000]
)
def test_strict_json_refuses_repeated_keys_and_what_is_no_json(raw):
    with pytest.raises(ValueError):  # noqa: PT011 - decoding errors are ValueErrors of several kinds
        document.strict_json(raw)


def test_folded_and_literal_texts_are_what_yaml_says() -> None:
    value = document.parse("folded: >-\n  one\n  two\n\n  three\nliteral: |\n  one\n  two\n").value
    assert value == {"folded": "one two\nthree", "literal": "one\ntwo\n"}
