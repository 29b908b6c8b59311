"""Parser of surveys: a document becomes the parts of a Survey; everything is validated, and all mistakes are reported together."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from deniable.errors import SurveyError
from deniable.survey import lookalikes
from deniable.survey.document import Document
from deniable.survey.parse_questions import bits_of, parse_questions
from deniable.survey.parse_translations import parse_translations
from deniable.survey.question import Question, blocks_of
from deniable.survey.reading import Reading, join, shown, whole
from deniable.survey.total import HIGH, exceeds, total_epsilon
from deniable.survey.translation import TEXTS
from deniable.survey.types.base import label_problems

FORMAT = 1
OPTIONAL = (
    *("epsilon", "ask", "contact", "ethics", "thanks", "closed", "return_link", "groups", "access", "layout", "batch"),
    *("language", "translations", "accept_high_epsilon"),
)
MAX_BITS = 2048
ACCESS = ("open", "invited")
LAYOUT = ("list", "steps")
BATCH = 10  # records that a server counts together at least, where a survey does not say
MAX_BATCH = 1000
RETURN_LINK = re.compile(r"https://(?:[A-Za-z0-9-]+\.)*[A-Za-z0-9-]+(?::[0-9]{1,5})?(?:[/?][A-Za-z0-9._~!$&'()*+,;=:@/?%-]*)?")
MAX_LINK = 500  # characters
SURVEY_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class Parts(NamedTuple):
    """The parts of a survey, in the order of its fields."""

    id: str
    title: str
    about: str
    questions: tuple[Question, ...]
    ask: int | None
    contact: str = ""
    ethics: str = ""
    thanks: str = ""
    closed: str = ""
    return_link: str = ""
    groups: tuple[str, ...] = ()
    access: str = "open"
    layout: str = "list"
    batch: int = BATCH
    language: str = "en"
    translations: Mapping[str, Any] = MappingProxyType({})
    accept_high_epsilon: bool = False


def parse(source: Document) -> Parts:
    """Returns the parts of a document's survey.

    Texts that look alike are refused in files and in definitions from a server alike: a server could mark each respondent by a label.

    Raises:
        SurveyError: The document breaks rules; it lists every problem in the file's order.
    """
    reading = Reading(source)
    _look_alike(reading, source.value)
    return _parts(reading)


def _look_alike(reading: Reading, top: Any) -> None:
    """Refuses titles and labels with characters that do not show, and labels of one list that look alike."""
    if not isinstance(top, Mapping):
        return
    translations = top.get("translations")
    versions = list(translations.items()) if isinstance(translations, Mapping) else []
    for where, texts in (("", top), *((f"translations.{language}", texts) for language, texts in versions)):
        if not isinstance(texts, Mapping):
            continue
        if isinstance(title := texts.get("title"), str) and (name := lookalikes.invisible(title)):
            reading.refuse(join(where, "title"), f"must have no characters that do not show, got {name}")
        for place, labels in (("groups", texts.get("groups")), *_options(texts.get("questions"))):
            if isinstance(labels, list | tuple):
                for here, message in lookalikes.problems(labels, join(where, place)):
                    reading.refuse(here, message)


def _options(questions: Any) -> Iterator[tuple[str, Any]]:
    """Yields (place, labels) of each question's options and bins, of a survey or of a translation."""
    named = questions.items() if isinstance(questions, Mapping) else enumerate(questions) if isinstance(questions, list | tuple) else ()
    for name, question in named:
        if isinstance(question, Mapping):
            place = f"questions.{name}" if isinstance(name, str) else f"questions[{name}]"
            yield f"{place}.options", question.get("options")
            if isinstance(bins := question.get("bins"), list | tuple):
                yield f"{place}.bins", [one.get("name") if isinstance(one, Mapping) else None for one in bins]


def _parts(reading: Reading) -> Parts:
    reading.problems.extend(reading.source.problems)
    top = reading.source.value
    if not isinstance(top, Mapping):
        reading.refuse("file", "must be a mapping with the keys deniable, id, title, about, epsilon, questions")
        raise SurveyError(reading.problems)
    reading.keys(top, "", required=("deniable", "id", "title", "about", "questions"), optional=OPTIONAL)
    if "deniable" in top and str(top["deniable"]) != str(FORMAT):
        reading.refuse("deniable", f"must be {FORMAT}, the version of the format, got {shown(top['deniable'])}")
    reading.identifier(top, "id", SURVEY_ID, "1 to 64 of a-z, 0-9, - and _, a letter or digit first")
    for key in TEXTS:
        reading.text(top, "", key)
    _return_link(reading, top)
    questions = parse_questions(reading, top, most_bits=2 * MAX_BITS)
    ask = _asked(reading, top, questions)
    _size(reading, top, questions, ask)
    _groups(reading, top)
    _one_of(reading, top, "access", ACCESS)
    _one_of(reading, top, "layout", LAYOUT)
    batch = _batch(reading, top)
    translations = parse_translations(reading, top, questions)
    accepts = _high(reading, top, questions, ask)
    if reading.problems:
        raise SurveyError(sorted(reading.problems, key=lambda p: p.line or 0))
    own = (*TEXTS[2:], "return_link", "access", "layout", "language")
    others: dict[str, Any] = {key: top[key] for key in own if key in top}
    others |= {"groups": tuple(top.get("groups", ())), "batch": batch, "translations": translations, "accept_high_epsilon": accepts}
    return Parts(top["id"], top["title"], top["about"], questions, ask, **others)


def _return_link(reading: Reading, top: Mapping[str, Any]) -> None:
    """Checks the return link: one address for all respondents, since differences would identify them."""
    written = top.get("return_link", "https://a")
    if not isinstance(written, str) or len(written) > MAX_LINK or not RETURN_LINK.fullmatch(written):
        rule = f"must be one address for everybody that begins with https://, of at most {MAX_LINK} characters"
        reading.refuse("return_link", f"{rule}, without spaces, #, {{ and }}, got {shown(written)}")


def _groups(reading: Reading, top: Mapping[str, Any]) -> None:
    if "groups" in top:
        for where, message in label_problems(top["groups"], "groups"):
            reading.refuse(where, message)


def _one_of(reading: Reading, top: Mapping[str, Any], key: str, allowed: Sequence[str]) -> None:
    if key in top and top[key] not in allowed:
        reading.refuse(key, f"must be {' or '.join(allowed)}, got {shown(top[key])}")


def _batch(reading: Reading, top: Mapping[str, Any]) -> int:
    """Returns the fewest records that a server counts together."""
    batch = whole(top.get("batch", BATCH))
    if batch is None or not 1 <= batch <= MAX_BATCH:
        reading.refuse("batch", f"must be a whole number from 1 to {MAX_BATCH:,}, got {shown(top['batch'])}")
    return batch or BATCH


def _asked(reading: Reading, top: Mapping[str, Any], questions: tuple[Question, ...]) -> int | None:
    """Returns how many blocks are drawn; there must be more."""
    if "ask" not in top:
        return None
    ask, blocks = whole(top["ask"]), len(blocks_of(questions)) if questions else 0
    if ask is None or not 1 <= ask < max(blocks, 2):
        reading.refuse("ask", f"must be a whole number from 1 to {max(blocks, 2) - 1}, fewer than all, got {shown(top['ask'])}")
    return ask


def _size(reading: Reading, top: Mapping[str, Any], questions: Sequence[Question], ask: int | None) -> None:
    bits = sum(map(bits_of, questions)) + (len(questions) if ask else 0)
    if bits > MAX_BITS:
        more = " or more" if len(questions) < len(top["questions"]) else ""
        reading.refuse("questions", f"must need at most {MAX_BITS:,} bits in all (options less one, added up), got {bits:,}{more}")


def _high(reading: Reading, top: Mapping[str, Any], questions: Sequence[Question], ask: int | None) -> bool:
    """Returns whether the file accepts a high total epsilon, and refuses one otherwise."""
    accepts = reading.flag(top, "accept_high_epsilon", False)
    if not reading.problems and not accepts and exceeds(questions, ask, HIGH):
        total = math.ceil(total_epsilon(questions, ask) * 1e4) / 1e4
        reading.refuse(
            "epsilon" if "epsilon" in top else "questions",
            f"must be at most {HIGH} in total, got {total:,.4f}: lower it, or write `accept_high_epsilon: true` beside it "
            f"if it must be; respondents are then told how weakly they are protected",
        )
    return accepts
