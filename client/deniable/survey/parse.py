"""Parser of surveys: a document becomes the content of a survey. Everything is validated, and all problems are reported together."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deniable.errors import SurveyError
from deniable.survey import lookalikes
from deniable.survey.content import BATCH, DEFAULTS, Content, default_release
from deniable.survey.document import Document
from deniable.survey.other_option import with_other_options
from deniable.survey.parse_questions import bits_of, parse_questions
from deniable.survey.parse_translations import parse_translations
from deniable.survey.question import Question, blocks_of
from deniable.survey.rating import dependencies
from deniable.survey.total import HIGH, exceeds, total_epsilon
from deniable.survey.translation import TEXTS
from deniable.survey.types.base import ORDERS, label_problems, whole_number
from deniable.survey.validator import Validator, excerpt, join

FORMAT = 1
MAX_BITS = 2048
ACCESS = ("open", "invited")
LAYOUT = ("list", "steps")
RELEASE = ("close", "daily")
RESULTS = ("private", "public")
MAX_BATCH = 1000
ISSUER = re.compile(r"[g-z0-9_-][A-Za-z0-9_-]{340}[Qw]")
"""An odd number of exactly 2,048 bits in base64url: the modulus of an RSA key."""
RETURN_LINK = re.compile(r"https://(?:[A-Za-z0-9-]+\.)*[A-Za-z0-9-]+(?::[0-9]{1,5})?(?:[/?][A-Za-z0-9._~!$&'()*+,;=:@/?%-]*)?")
MAX_LINK = 500  # characters
LOGO = re.compile(r"data:image/(?:png;base64,iVBORw0KGgo|webp;base64,UklGR)[A-Za-z0-9+/]+={0,2}")
MAX_LOGO = 27_000  # characters: a picture of 20 kB
SURVEY_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def parse(source: Document) -> Content:
    """Returns the content of a document's survey.

    Lookalikes are refused in files and in definitions from a server: otherwise a server could mark each respondent by a label.

    Raises:
        SurveyError: The document breaks rules; it lists every problem in the file's order.
    """
    source = Document(with_other_options(source.value), source.lines, source.problems)
    validator = Validator(source)
    _refuse_lookalikes(validator, source.value)
    return _content(validator)


def _refuse_lookalikes(validator: Validator, top: Any) -> None:
    """Refuses titles and labels with invisible characters, and labels of one list that look alike."""
    if not isinstance(top, Mapping):
        return
    translations = top.get("translations")
    versions = list(translations.items()) if isinstance(translations, Mapping) else []
    for where, texts in (("", top), *((f"translations.{language}", texts) for language, texts in versions)):
        if not isinstance(texts, Mapping):
            continue
        if isinstance(title := texts.get("title"), str) and (name := lookalikes.first_invisible(title)):
            validator.refuse(join(where, "title"), f"must have no invisible characters, got {name}")
        for key, labels in (("groups", texts.get("groups")), *_options(texts.get("questions"))):
            if isinstance(labels, list | tuple):
                for here, message in lookalikes.problems(labels, join(where, key)):
                    validator.refuse(here, message)


def _options(questions: Any) -> Iterator[tuple[str, Any]]:
    """Yields (location, labels) of each question's options and bins, of a survey or of a translation."""
    pairs = questions.items() if isinstance(questions, Mapping) else enumerate(questions) if isinstance(questions, list | tuple) else ()
    for name, question in pairs:
        if isinstance(question, Mapping):
            where = f"questions.{name}" if isinstance(name, str) else f"questions[{name}]"
            yield f"{where}.options", question.get("options")
            if isinstance(bins := question.get("bins"), list | tuple):
                yield f"{where}.bins", [entry.get("name") if isinstance(entry, Mapping) else None for entry in bins]


def _content(validator: Validator) -> Content:
    """Returns the content of a survey; reads every part even after problems."""
    validator.problems.extend(validator.source.problems)
    top = validator.source.value
    if not isinstance(top, Mapping):
        validator.refuse("file", "must be a mapping with the keys deniable, id, title, about, epsilon, questions")
        raise SurveyError(validator.problems)
    validator.keys(top, "", required=("deniable", "id", "title", "about", "questions"), optional=("epsilon", *DEFAULTS))
    if "deniable" in top and str(top["deniable"]) != str(FORMAT):
        validator.refuse("deniable", f"must be {FORMAT}, the version of the format, got {excerpt(top['deniable'])}")
    validator.identifier(top, "id", SURVEY_ID, "1 to 64 of a-z, 0-9, - and _, a letter or digit first")
    for key in TEXTS:
        validator.text(top, "", key)
    _check_logo(validator, top)
    _check_return_link(validator, top)
    questions = parse_questions(validator, top, most_bits=2 * MAX_BITS)
    ask = _ask(validator, top, questions)
    _check_size(validator, top, questions, ask)
    _check_groups(validator, top)
    _check_word(validator, top, "access", ACCESS)
    _check_word(validator, top, "layout", LAYOUT)
    _check_word(validator, top, "release", RELEASE)
    _check_word(validator, top, "order", ORDERS)
    _check_word(validator, top, "section_order", ORDERS)
    _check_word(validator, top, "results", RESULTS)
    batch, accepts_small = _batch(validator, top)
    _check_issuer(validator, top)
    translations = parse_translations(validator, top, questions)
    accepts = _accept_high_epsilon(validator, top, questions, ask)
    if validator.problems:
        raise SurveyError(sorted(validator.problems, key=lambda p: p.line or 0))
    return Content(
        questions=questions,
        ask=ask,
        groups=tuple(top.get("groups", ())),
        release=top.get("release", default_release(top.get("access"))),
        batch=batch,
        accept_small_batches=accepts_small,
        translations=translations,
        accept_high_epsilon=accepts,
        **{
            key: top[key]
            for key in ("id", *TEXTS, "logo", "return_link", "access", "layout", "order", "section_order", "results", "language", "issuer")
            if key in top
        },
    )


def _check_logo(validator: Validator, top: Mapping[str, Any]) -> None:
    """Checks the logo: a small picture in the file itself, since the page loads nothing from elsewhere, and the name that describes it."""
    if "logo" not in top:
        return
    logo = top["logo"]
    if not isinstance(logo, str) or len(logo) > MAX_LOGO or not LOGO.fullmatch(logo):
        rule = f"must be a PNG or WebP picture as `data:image/png;base64,...`, of at most {MAX_LOGO:,} characters"
        validator.refuse("logo", f"{rule}, got {excerpt(logo)}")
    elif "institution" not in top:
        validator.refuse("logo", "must have an institution beside it: its name is what a screen reader says")


def _check_return_link(validator: Validator, top: Mapping[str, Any]) -> None:
    """Checks the return link: one address for all respondents, since differences would identify them."""
    link = top.get("return_link", "https://a")
    if not isinstance(link, str) or len(link) > MAX_LINK or not RETURN_LINK.fullmatch(link):
        rule = f"must be one address for everybody that begins with https://, of at most {MAX_LINK} characters"
        validator.refuse("return_link", f"{rule}, without spaces, #, {{ and }}, got {excerpt(link)}")


def _check_groups(validator: Validator, top: Mapping[str, Any]) -> None:
    """Checks the labels of groups."""
    if "groups" in top:
        for where, message in label_problems(top["groups"], "groups"):
            validator.refuse(where, message)


def _check_word(validator: Validator, top: Mapping[str, Any], key: str, allowed: Sequence[str]) -> None:
    """Checks a key that is one of some words."""
    if key in top and top[key] not in allowed:
        validator.refuse(key, f"must be {' or '.join(allowed)}, got {excerpt(top[key])}")


def _batch(validator: Validator, top: Mapping[str, Any]) -> tuple[int, bool]:
    """Returns the fewest records that a server releases together, and whether the file accepts fewer than BATCH."""
    batch, accepts = whole_number(top.get("batch", BATCH)), validator.flag(top, "accept_small_batches", False)
    if batch is None or not 1 <= batch <= MAX_BATCH:
        validator.refuse("batch", f"must be a whole number from 1 to {MAX_BATCH:,}, got {excerpt(top['batch'])}")
    elif batch < BATCH and not accepts:
        validator.refuse(
            "batch",
            f"must be at least {BATCH}, got {batch}: raise it, or if it must be so small, add `accept_small_batches: true`; the page then "
            f"tells respondents among how few records theirs is shown",
        )
    return batch or BATCH, accepts


def _check_issuer(validator: Validator, top: Mapping[str, Any]) -> None:
    """Checks the public key for blind signatures, which only surveys by invitation have."""
    if "issuer" not in top:
        return
    if top.get("access") != "invited":
        validator.refuse("issuer", "must be left out: only a survey with `access: invited` has one")
    elif not isinstance(top["issuer"], str) or not ISSUER.fullmatch(top["issuer"]):
        validator.refuse("issuer", f"must be an odd number of 2,048 bits in base64url, got {excerpt(top['issuer'])}")


def _ask(validator: Validator, top: Mapping[str, Any], questions: tuple[Question, ...]) -> int | None:
    """Returns the number of blocks to draw, fewer than there are."""
    if "ask" not in top:
        return None
    ask, blocks = whole_number(top["ask"]), len(blocks_of(questions)) if questions else 0
    if ask is None or not 1 <= ask < max(blocks, 2):
        validator.refuse("ask", f"must be a whole number from 1 to {max(blocks, 2) - 1}, fewer than all, got {excerpt(top['ask'])}")
    return ask


def _check_size(validator: Validator, top: Mapping[str, Any], questions: Sequence[Question], ask: int | None) -> None:
    """Checks the number of bits of a record."""
    bits = sum(map(bits_of, questions)) + (len(questions) if ask else 0)
    if bits > MAX_BITS:
        more = " or more" if len(questions) < len(dependencies(top["questions"])) else ""
        validator.refuse("questions", f"must need at most {MAX_BITS:,} bits in all (options less one, added up), got {bits:,}{more}")


def _accept_high_epsilon(validator: Validator, top: Mapping[str, Any], questions: Sequence[Question], ask: int | None) -> bool:
    """Returns whether the file accepts a high total epsilon, and refuses one otherwise."""
    accepts = validator.flag(top, "accept_high_epsilon", False)
    if not validator.problems and not accepts and exceeds(questions, ask, HIGH):
        total = math.ceil(total_epsilon(questions, ask) * 1e4) / 1e4
        validator.refuse(
            "epsilon" if "epsilon" in top else "questions",
            f"must be at most {HIGH} in total, got {total:,.4f}: lower it, or if it must be so high, add "
            f"`accept_high_epsilon: true`; the page then warns respondents that their protection is weak",
        )
    return accepts
