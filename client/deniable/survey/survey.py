"""Survey and its definition in canonical JSON, the document that clients receive and hash.

The definition is the survey in canonical JSON (RFC 8785) with each question's categories, declared epsilon, k, d and keep_threshold. It is
a function of the survey file: a client parses a definition, writes it again and compares, so that it refuses any bit that the declared
epsilons do not imply.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import rfc8785

from deniable.errors import Problem, RefusedError, SurveyError
from deniable.survey import document
from deniable.survey.content import DEFAULTS, Content, default_release
from deniable.survey.layout import Layout, block_masks
from deniable.survey.parse import FORMAT, parse
from deniable.survey.piping import without_answers
from deniable.survey.question import Grid, Question, blocks_of
from deniable.survey.total import odds_of_all, total_epsilon
from deniable.survey.translation import TEXTS, negotiate, plain

COMPUTED = ("categories", "k", "d", "outputs", "keep_threshold")
"""The keys that a definition adds to each question."""
MAX_DEFINITION = 1 << 20
"""Bytes of the longest definition that clients read."""


@dataclass(frozen=True)
class Survey(Content):
    """A valid survey: its content, and everything that follows from it. Build it with `from_file`, `from_dict` or `from_definition`."""

    @classmethod
    def from_file(cls, path: str | Path) -> Survey:
        """Reads a YAML 1.2 or JSON survey file. Raises SurveyError, which lists every problem; OSError as `open` does."""
        return cls._of(document.read(path))

    @classmethod
    def from_text(cls, text: str) -> Survey:
        """Parses the text of a survey file. Raises SurveyError."""
        return cls._of(document.parse(text))

    @classmethod
    def from_dict(cls, source: Mapping[str, Any]) -> Survey:
        """Builds a survey from the value of a survey file. Raises SurveyError."""
        return cls._of(document.Document(source))

    @classmethod
    def _of(cls, source: document.Document) -> Survey:
        """Builds a survey from a parsed document."""
        survey = cls(**vars(parse(source)))
        if (size := len(survey.definition)) > MAX_DEFINITION:
            raise SurveyError(
                [Problem("file", f"must give a definition of at most {MAX_DEFINITION:,} bytes, got {size:,}: shorten its texts")]
            )
        return survey

    @classmethod
    def from_definition(cls, raw: bytes) -> Survey:
        """Parses a published definition. Raises RefusedError unless its declared epsilons imply every byte."""
        if len(raw) > MAX_DEFINITION:
            raise RefusedError(f"the definition must be at most {MAX_DEFINITION:,} bytes, got more")
        try:
            served = document.strict_json(raw)
            survey = cls.from_dict(_without_computed(served))
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise RefusedError(f"the definition must be a JSON object as published: {type(error).__name__}") from None
        except SurveyError as error:
            raise RefusedError(f"the definition breaks the rules of a survey:\n{error}") from None
        survey._refuse_other_mechanism(served["questions"])
        if survey.definition != raw:
            raise RefusedError("the definition must be the canonical JSON of its survey, got other bytes")
        if not survey.is_final:
            raise RefusedError("the definition of a survey by invitation must have an issuer, the key that a server adds at publication")
        return survey

    @property
    def is_final(self) -> bool:
        """Whether the definition is as published: the file of a survey by invitation lacks the key that a server adds."""
        return self.access != "invited" or bool(self.issuer)

    def with_issuer(self, issuer: str) -> Survey:
        """Returns the survey with a server's public key for blind signatures, or without one if `issuer` is empty."""
        return replace(self, issuer=issuer)

    def is_same_as(self, other: Survey) -> bool:
        """Returns whether two surveys are equal apart from the key that a server adds: whether they are the same file."""
        return self.with_issuer("").definition == other.with_issuer("").definition

    @cached_property
    def items(self) -> tuple[Question, ...]:
        """The items of all questions, in the order of their bits."""
        return tuple(item for question in self.questions for item in question.items)

    @cached_property
    def record(self) -> Layout:
        """Layout of a record."""
        return Layout.of(self.questions, masked=self.ask is not None)

    @property
    def coins_can_answer(self) -> bool:
        """Whether two fair coins can replace a device: every question is yes/no, always asked, and keeps an answer with chance 3/4."""
        two_coins = all(q.categories == ("yes", "no") and not q.labels and q.keep_threshold == 3 << 30 for q in self.questions)
        return two_coins and self.ask is None

    @property
    def draws_order(self) -> bool:
        """Whether a respondent's device draws the order of sections, questions, items or options."""
        of_questions = any(question.kind.drawn_order or (question.grid and question.grid.order) for question in self.questions)
        return bool(self.order or self.section_order) or of_questions

    @cached_property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """The blocks that a sampled survey draws together: a question and the questions that depend on it, by number."""
        return blocks_of(self.questions)

    @cached_property
    def block_bits(self) -> tuple[int, ...]:
        """The mask of each block in a record read as one integer (`layout.Rule`): set bits say that its questions were asked."""
        return block_masks(self.blocks, self.record.bytes)

    @cached_property
    def definition(self) -> bytes:
        """The bytes that clients receive and hash: canonical JSON (RFC 8785), UTF-8."""
        computed = [{"categories": list(q.categories), **q.channel.published} for q in self.questions]
        source = self.to_dict()
        return rfc8785.dumps({**source, "questions": [q | more for q, more in zip(source["questions"], computed, strict=True)]})

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the definition, 64 lower-case hexadecimal digits."""
        return hashlib.sha256(self.definition).hexdigest()

    @property
    def epsilon(self) -> float:
        """The total privacy loss of one submission (sequential composition)."""
        return total_epsilon(self.questions, self.ask)

    @cached_property
    def odds(self) -> Fraction:
        """e^epsilon, exactly: the largest ratio of the chances of one submission under two answers."""
        return odds_of_all(self.questions, self.ask)

    @property
    def return_host(self) -> str:
        """The host name of the return link, or empty."""
        return urlsplit(self.return_link).netloc

    @property
    def languages(self) -> tuple[str, ...]:
        """The tags of the survey's languages: its own first, then in the order of a definition."""
        return (self.language, *sorted(self.translations))

    def negotiate(self, preferred: Iterable[str]) -> str:
        """Returns the survey's language for a reader's preferred languages, best first; its own if it has no such language."""
        return negotiate(preferred, self.languages) or self.language

    def text_in(self, language: str, key: str) -> tuple[str, str]:
        """Returns one of TEXTS, such as the title, for a reader of `language`, and its language: the survey's own if untranslated."""
        tag, texts = self._translation(language)
        return (texts[key], tag) if key in texts else (getattr(self, key), self.language)

    def question_in(self, language: str, question: Question, key: str = "text") -> tuple[str, str]:
        """Returns a question's text for a reader of `language`, or its help, without earlier answers, and the text's language."""
        own, tag = self._words(language, question)
        return (without_answers(own[key]), tag) if key in own else (getattr(question, key), self.language)

    def options_in(self, language: str, question: Question) -> tuple[Sequence[str], str]:
        """Returns the texts to choose from, for a reader of `language`, and their language; empty if the page has its own words."""
        own, tag = self._translated(language, question.grid.first if question.grid else question.id)
        return (own["options"], tag) if "options" in own else (question.options, self.language)

    def grid_in(self, language: str, grid: Grid, key: str = "text") -> tuple[str, str]:
        """Returns the text of a rating block, or its help, as `question_in` does."""
        own, tag = self._translated(language, grid.first)
        texts = own.get("grid", {})
        return (without_answers(texts[key]), tag) if key in texts else (getattr(grid, key), self.language)

    def section_in(self, language: str, question: Question, key: str) -> tuple[str, str]:
        """Returns the title or the note of the section that begins with a question, as `question_in` does."""
        own, tag = self._words(language, question)
        section = own.get("section", {})
        return (without_answers(section[key]), tag) if key in section else (getattr(question.section, key), self.language)

    def _words(self, language: str, question: Question) -> tuple[Mapping[str, Any], str]:
        """Returns the translated texts of a question for a language, and their tag."""
        return self._translated(language, question.id)

    def _translated(self, language: str, question_id: str) -> tuple[Mapping[str, Any], str]:
        tag, texts = self._translation(language)
        return texts.get("questions", {}).get(question_id, {}), tag

    def _translation(self, language: str) -> tuple[str, Mapping[str, Any]]:
        """Returns the tag and texts for a language: itself, or a relative (de for de-AT), if any. Twin: `words.mjs`."""
        if language in self.translations:
            return language, self.translations[language]
        family = language.split("-")[0]
        tags = [] if self.language.split("-")[0] == family else [tag for tag in self.translations if tag.split("-")[0] == family]
        return (tags[0], self.translations[tags[0]]) if tags else (self.language, {})

    @property
    def untranslated(self) -> tuple[tuple[str, str], ...]:
        """(language, key) for each text that a language of the survey lacks."""
        gaps = []
        for language, texts in self.translations.items():
            gaps += [(language, key) for key in TEXTS if getattr(self, key) and key not in texts]
            for question in self.questions:
                own = texts.get("questions", {}).get(question.id, {})
                here = f"questions.{question.id}"
                grid = question.grid.raw_texts if question.grid and question.grid.first == question.id else {}
                has_options = question.options and (not question.grid or grid)
                keys = ["text", *(["options"] if has_options else []), *(["help"] if question.help else [])]
                gaps += [(language, f"{here}.{key}") for key in keys if key not in own]
                section = question.section.raw_texts if question.section else {}
                gaps += [(language, f"{here}.section.{key}") for key in section if key not in own.get("section", {})]
                gaps += [(language, f"{here}.grid.{key}") for key in grid if key not in own.get("grid", {})]
        return tuple(gaps)

    def to_dict(self) -> dict[str, Any]:
        """Returns the survey as in a survey file, without defaults."""
        defaults = DEFAULTS | {"release": default_release(self.access)}
        optional = {key: getattr(self, key) for key, default in defaults.items() if getattr(self, key) != default}
        return {
            "deniable": FORMAT,
            "id": self.id,
            "title": self.title,
            "about": self.about,
            **{key: list(value) if isinstance(value, tuple) else plain(value) for key, value in optional.items()},
            "questions": [question.to_dict() for question in self.questions],
        }

    def _refuse_other_mechanism(self, served: Sequence[Mapping[str, Any]]) -> None:
        """Refuses a definition whose coins are not those that its declared epsilons imply."""
        if len(served) != len(self.questions):
            raise RefusedError("the definition must have each item of a rating block as a question of its own")
        for question, received in zip(self.questions, served, strict=True):
            for name, value in question.channel.published.items():
                if received.get(name) != value:
                    raise RefusedError(
                        f"question {question.id}: {name} must be {value}, which epsilon {question.declared_epsilon} implies, "
                        f"got {received.get(name)!r}"
                    )


def _without_computed(served: Any) -> dict[str, Any]:
    questions = [{key: value for key, value in q.items() if key not in COMPUTED} for q in served["questions"]]
    return {**served, "questions": questions}
