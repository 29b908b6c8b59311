"""Copies of surveys: a survey file under another id with its comments, and a survey file from a published definition."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode

from deniable.errors import SurveyError
from deniable.survey.document import parse
from deniable.survey.dump import to_yaml
from deniable.survey.epsilon import parse_epsilon
from deniable.survey.survey import COMPUTED, Survey

COPY = "copy"
"""The end of the ids of copies."""
MAX_ID = 64
"""Characters of the longest id of a survey."""


def with_id(text: str, survey_id: str) -> str:
    """Returns a survey file with another id. Its comments and its layout stay, unless an alias elsewhere refers to the id.

    Raises:
        SurveyError: The text is not valid YAML.
    """
    source = parse(text).value
    document = {**source, "id": survey_id} if isinstance(source, Mapping) else {"id": survey_id}
    replaced = _replace_id(text, survey_id)
    if replaced is not None and _has_value(replaced, document):
        return replaced
    return to_yaml(document)


def survey_file(survey: Survey) -> str:
    """Returns a survey file whose survey is the same, in YAML and without the key of a server.

    Epsilons are written as a person would write them, such as one `ln 9` for all questions, where that gives the same coins.
    """
    document = survey.with_issuer("").to_dict()
    for shorter in _shorter(document):
        try:
            if Survey.from_dict(shorter).is_same_as(survey):
                return to_yaml(shorter)
        except SurveyError:
            continue
    return to_yaml(document)


def file_of_definition(text: str) -> str | None:
    """Returns the survey file of a definition in JSON, indented or not; None if the text is not a definition.

    Nothing is checked beyond its form. A definition that breaks the rules of a survey becomes a file that breaks them.
    """
    try:
        value = json.loads(text)
        questions = value["questions"]
        if not any(COMPUTED[0] in question for question in questions):
            return None
        plain = [{key: entry for key, entry in question.items() if key not in COMPUTED} for question in questions]
        document = {**{key: entry for key, entry in value.items() if key != "issuer"}, "questions": plain}
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None
    try:
        return survey_file(Survey.from_dict(document))
    except SurveyError:
        return to_yaml(document)


def next_ids(survey_id: str, word: str = "") -> Iterator[str]:
    """Yields ids for a copy, the best first: `smoking-2`, `smoking-3` ... of `smoking`; with a word `smoking-copy`, `smoking-copy-2` ..."""
    base, _, end = survey_id.rpartition("-")
    number = int(end) + 1 if base and end.isascii() and end.isdigit() and len(end) < 9 and not word else 0
    if not number:
        base, number = survey_id, 2
    if word:
        base = base if base.endswith(f"-{word}") else f"{base[: MAX_ID - len(word) - 1]}-{word}"
        yield base
    for count in range(number, number + 10_000):
        yield f"{base[: MAX_ID - len(str(count)) - 1]}-{count}"


def _replace_id(text: str, survey_id: str) -> str | None:
    """Returns the text with another id in the place of its own, or None without an id."""
    try:
        node = YAML(typ="safe", pure=True).compose(text)
    except (YAMLError, RecursionError):
        return None
    entries = node.value if isinstance(node, MappingNode) else []
    for key, value in entries:
        if key.value == "id" and isinstance(value, ScalarNode):
            quote = value.style if value.style in ("'", '"') else ""
            return f"{text[: value.start_mark.index]}{quote}{survey_id}{quote}{text[value.end_mark.index :]}"
    return None


def _has_value(text: str, document: Mapping[str, Any]) -> bool:
    try:
        source = parse(text)
    except SurveyError:
        return False
    return bool(source.value == document and not source.problems)


def _shorter(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the same survey with one epsilon for all questions, then with each epsilon as a logarithm."""
    questions: Sequence[Mapping[str, Any]] = document["questions"]
    epsilons = [question["epsilon"] for question in questions]
    plain = [{key: value for key, value in question.items() if key != "epsilon"} for question in questions]
    begin = {key: value for key, value in document.items() if key != "questions"}
    if len(set(epsilons)) == 1 or not document.get("ask"):
        blocks = document.get("ask") or len(questions)
        for total in _spellings(math.fsum(sorted(epsilons)[-blocks:])):
            yield {**begin, "epsilon": total, "questions": plain}
    own = [{**question, "epsilon": _spelled(question["epsilon"])} for question in questions]
    yield {**begin, "questions": own}


def _spelled(epsilon: float) -> str | float:
    """Returns `ln x` for an epsilon if that is the same number, else the number."""
    text = f"ln {math.exp(epsilon):.6g}"
    return text if _is_epsilon(text, epsilon) else epsilon


def _spellings(total: float) -> Iterator[str]:
    yield f"ln {math.exp(total):.4g}" if total < 10 else f"{total:.4g}"
    yield f"{total:.6g}"
    yield repr(total)


def _is_epsilon(text: str, epsilon: float) -> bool:
    try:
        return parse_epsilon(text) == epsilon
    except ValueError:
        return False
