"""Import of translated files: checks each row against the survey file, and adds the translations that are sound.

Nothing is lost: a translation that the survey file has stays where the translated file has an empty cell, or a row that is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any

from deniable.errors import Problem, SurveyError
from deniable.survey import Survey
from deniable.survey.piping import MAX_FALLBACK, pipes
from deniable.survey.types.base import number
from deniable.translation_files.translatable_texts import TranslatableText, own_language, translatable_texts, translated_languages
from deniable.translation_files.translation_tables import TranslationRow, TranslationTable

Path = tuple[str, ...]
"""The keys of a translation in a survey file, below its language."""


@dataclass(frozen=True)
class RowProblem:
    """Why a row was not imported. number: the row in a spreadsheet, or None for a text that has no row."""

    number: int | None
    key: str
    message: str

    def __str__(self) -> str:
        """Returns the problem with its place."""
        return f"{f'row {self.number:,}, ' if self.number else ''}{self.key}: {self.message}"


@dataclass(frozen=True)
class TranslationImport:
    """The result of an import.

    Attributes:
        document: The survey file with the imported translations.
        language: The tag of their language.
        imported: The number of new or changed translations.
        unchanged: The number of rows whose translation the survey file already had.
        lacking: The number of texts that still have no translation.
        problems: The rows that were not imported, and the texts without a row, in the file's order.
    """

    document: dict[str, Any]
    language: str
    imported: int
    unchanged: int
    lacking: int
    problems: tuple[RowProblem, ...]


def import_translations(document: Mapping[str, Any], table: TranslationTable) -> TranslationImport:
    """Returns a survey file with the translations of a table, and every problem of the table at once.

    Args:
        document: The survey file's value, which may have mistakes.
        table: The translated file.

    Raises:
        SurveyError: The table is in the survey's own language, or the survey file's translations have another structure.
    """
    if table.language.lower() == own_language(document).lower():
        raise SurveyError([Problem("file", f"must be in another language than the survey's own, got {table.language}")])
    present = {tag.lower(): tag for tag in translated_languages(document)}
    language = present.get(table.language.lower(), table.language)
    _refuse_misshapen(document, language)
    importer = _Importer(document, language, {text.key: text for text in translatable_texts(document, language)})
    importer.read(table.rows)
    return importer.result()


@dataclass
class _Importer:
    """Importer of one table.

    Attributes:
        document: The survey file's value.
        language: The tag of the table's language.
        texts: The texts of the survey by their keys.
        accepted: The rows with sound translations, by the keys of their texts.
        problems: The problems so far.
    """

    document: Mapping[str, Any]
    language: str
    texts: Mapping[str, TranslatableText]
    accepted: dict[str, TranslationRow] = field(default_factory=dict)
    problems: list[RowProblem] = field(default_factory=list)

    @cached_property
    def texts_at(self) -> Mapping[Path, Sequence[TranslatableText]]:
        """The texts by their paths: the options of a question have the same."""
        by_path: dict[Path, list[TranslatableText]] = {}
        for text in self.texts.values():
            by_path.setdefault(text.path, []).append(text)
        return by_path

    def read(self, rows: Sequence[TranslationRow]) -> None:
        """Checks all rows."""
        rows = [row for row in rows if row.key or row.translation]
        by_key = {key: list(own) for key, own in groupby(sorted(rows, key=lambda row: row.key), lambda row: row.key)}
        for key, own in by_key.items():
            if message := self.problem(key, own):
                self.problems.append(RowProblem(own[0].number, key or "a row without a key", message))
            elif key and own[0].translation:
                self.accepted[key] = own[0]
        absent = [text for text in self.texts.values() if text.key not in by_key]
        self.problems += [RowProblem(None, text.key, f"{text.place}: is not in the file; {_state(text)}") for text in absent]
        self.check_options()

    def problem(self, key: str, rows: Sequence[TranslationRow]) -> str | None:
        """Returns why the rows with a key cannot be imported, or None if they can."""
        if not key:
            return "has lost its key: copy it from the downloaded file"
        if key not in self.texts:
            return "is unknown: the survey has no such text, or it has another name now"
        if len({(row.original, row.translation) for row in rows}) > 1:
            return f"is in the file {len(rows)} times, with different texts: keep one of them"
        row, text = rows[0], self.texts[key]
        if not _is_same(row.original, text.original):
            return "its original text has changed since the download: translate the new text"
        if row.translation and text.shows_answers:
            return _reference_problem(text.original, row.translation)
        return None

    def check_options(self) -> None:
        """Refuses the options of a question if some would have no translation: a survey has them all together or none."""
        for path, texts in self.texts_at.items():
            options = [text for text in texts if text.index is not None]
            rows = [self.accepted[text.key] for text in options if text.key in self.accepted]
            empty = [text for text in options if text.key not in self.accepted and not text.translation]
            if rows and empty:
                names = " and ".join(text.key.rpartition(".")[2] for text in empty)
                message = f"lack a translation of {names}: a question's options are translated all together"
                self.refuse(path, message)

    def refuse(self, path: Path, message: str) -> None:
        """Takes back the accepted translations at a path."""
        rows = [self.accepted.pop(text.key) for text in self.texts_at[path] if text.key in self.accepted]
        self.problems.append(RowProblem(min((row.number for row in rows), default=None), ".".join(path), message))

    def result(self) -> TranslationImport:
        """Returns the import without translations that break a rule of survey files."""
        for path, message in self.broken_rules():
            self.refuse(path, message)
        imported = [key for key, row in self.accepted.items() if row.translation != self.texts[key].translation]
        document = self.merged(imported)
        lacking = sum(not text.translation for text in translatable_texts(document, self.language))
        problems = sorted(self.problems, key=lambda problem: (problem.number is None, problem.number or 0))
        return TranslationImport(document, self.language, len(imported), len(self.accepted) - len(imported), lacking, tuple(problems))

    def broken_rules(self) -> list[tuple[Path, str]]:
        """Returns the paths of accepted translations that break a rule which the survey file kept before, each with the rule."""
        before = _problems(self.document, self.language)
        after = _problems(self.merged(self.accepted), self.language)
        paths = {".".join(self.texts[key].path): self.texts[key].path for key in self.accepted}
        broken: dict[Path, str] = {}
        for where, message in after:
            place = re.sub(r"\[\d+\]$", "", where)
            if (where, message) not in before and place in paths:
                option = int(where[len(place) + 1 : -1]) + 1 if place != where else None
                broken.setdefault(paths[place], f"{f'no. {option} ' if option else ''}{message}")
        return list(broken.items())

    def merged(self, keys: Iterable[str]) -> dict[str, Any]:
        """Returns the survey file with the accepted translations of some keys."""
        words = _copy(_mapping(_mapping(self.document.get("translations")).get(self.language)))
        for path in dict.fromkeys(self.texts[key].path for key in keys):
            translations = [self.translation(text) for text in self.texts_at[path]]
            _set(words, path, translations[0] if self.texts_at[path][0].index is None else translations)
        if not words:
            return dict(self.document)
        languages = {**_mapping(self.document.get("translations")), self.language: words}
        if "translations" in self.document:
            return {**self.document, "translations": languages}
        head = {key: value for key, value in self.document.items() if key != "questions"}
        return {**head, "translations": languages, **{key: self.document[key] for key in ("questions",) if key in self.document}}

    def translation(self, text: TranslatableText) -> str:
        return self.accepted[text.key].translation if text.key in self.accepted else text.translation


def _refuse_misshapen(document: Mapping[str, Any], language: str) -> None:
    """Raises SurveyError if an import would replace a value that is no mapping, and so lose it."""
    words: Any = document
    for key in ("translations", language, "questions"):
        words = words.get(key) or {}
        if not isinstance(words, Mapping):
            raise SurveyError([Problem("translations", "must have the structure of a survey file: mend the source of the draft first")])
    for own in words.values():
        parts = [own, *(own.get(part) or {} for part in ("section", "grid"))] if isinstance(own, Mapping) else [own]
        if not all(isinstance(part, Mapping) for part in parts):
            raise SurveyError([Problem("translations", "must have the structure of a survey file: mend the source of the draft first")])


def _state(text: TranslatableText) -> str:
    return "the survey keeps its translation" if text.translation else "it has no translation"


def _is_same(first: str, second: str) -> bool:
    """Returns whether two texts are equal but for spaces, and for how a spreadsheet writes a number."""
    one, other = (" ".join(text.split()) for text in (first, second))
    return one == other or (number(one) is not None and number(one) == number(other))


def _reference_problem(original: str, translation: str) -> str | None:
    """Returns how a translation's references differ from the original's, or None if they do not."""
    expected, got = ({pipe.question: pipe.fallback for pipe in pipes(text)} for text in (original, translation))
    if "" in got:
        return "must write a reference as ${id} or ${id|text without an answer}, and a literal ${ as $${"
    if lost := [name for name in expected if name and name not in got]:
        return f"has lost {' and '.join(f'${{{name}}}' for name in lost)}: keep it as in the original"
    if added := [name for name in got if name not in expected]:
        return f"has {' and '.join(f'${{{name}}}' for name in added)}, which the original has not: write the names of the original"
    for name, fallback in got.items():
        if (fallback is None) != (expected[name] is None):
            return f"has lost the text in ${{{name}|…}}" if fallback is None else f"must write ${{{name}}} without |, as the original"
        if fallback is not None and not 1 <= len(fallback.strip()) <= len(fallback) <= MAX_FALLBACK:
            return f"must have 1 to {MAX_FALLBACK} characters after | in ${{{name}|…}}"
    return None


def _problems(document: Mapping[str, Any], language: str) -> list[tuple[str, str]]:
    """Returns (place below the language, rule broken) for the mistakes of one language."""
    start = f"translations.{language}."
    try:
        Survey.from_dict(document)
    except SurveyError as error:
        return [(one.where.removeprefix(start), one.message) for one in error.problems if one.where.startswith(start)]
    return []


def _set(words: dict[str, Any], path: Path, value: Any) -> None:
    """Sets a value below nested mappings, which are added where they are missing."""
    for key in path[:-1]:
        words[key] = inner = dict(_mapping(words.get(key)))
        words = inner
    words[path[-1]] = value


def _copy(words: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _copy(value) if isinstance(value, Mapping) else value for key, value in words.items()}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
