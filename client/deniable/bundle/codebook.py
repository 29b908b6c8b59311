"""What each column, number and coin means: for people, for programs, and for the two scripts."""

from __future__ import annotations

import json
import re
from typing import Any

from deniable.bundle.counted import Counted
from deniable.bundle.variables import Option, Variable, options
from deniable.estimate.present import spreadsheet
from deniable.estimate.present.table import Table
from deniable.estimate.tables.survey_means import scores_of
from deniable.mechanism import Channel
from deniable.survey.condition import in_words
from deniable.survey.question import Question

CODES = ("variable", "code", "question", "option", "score", "k", "d", "threshold", "epsilon", "text")
"""Of codebook.csv: the option of the question was recorded where the variable is the code. threshold: of 2^32."""

_WRITTEN_OUT = 64  # categories up to which a matrix has all its cells


def to_csv(columns: tuple[Variable, ...]) -> str:
    """A line for each option of each item, and for each value of what is public, which has no coins."""
    public = [
        (one.name, code, one.name, label, *[None] * 5, one.label) for one in columns if not one.field for code, label in one.values.items()
    ]
    rows = (*public, *map(_line, options(columns)))
    return spreadsheet.written([Table("codes", CODES, tuple(rows))], bom=False)


def _line(one: Option) -> tuple[Any, ...]:
    item, scores = one.item, scores_of(one.item)
    score = scores[one.category] if scores else None
    return one.variable, one.code, item.id, one.label, score, item.k, item.d, item.keep_threshold, item.epsilon, item.text


def to_json(counted: Counted, columns: tuple[Variable, ...]) -> str:
    """Variables with their values, and questions with their channels."""
    survey, own = counted.survey, _by_item(columns)
    said = {
        "survey": survey.id,
        "title": survey.title,
        "about": survey.about,
        "digest": survey.digest,
        "epsilon": survey.epsilon,
        "n": counted.n,
        "ask": survey.ask,
        "missing": "not asked: an empty cell, null, or the program's own missing value",
        "variables": [
            {"name": one.name, "label": one.label, "values": {str(c): label for c, label in one.values.items()}} for one in columns
        ],
        "questions": [_question(question, own) for question in survey.questions],
    }
    return json.dumps(said, ensure_ascii=False, allow_nan=False, indent=1)


def _by_item(columns: tuple[Variable, ...]) -> dict[str, list[Variable]]:
    found: dict[str, list[Variable]] = {}
    for column in columns:
        if column.field:
            found.setdefault(column.field.item.id, []).append(column)
    return found


def _question(question: Question, own: dict[str, list[Variable]]) -> dict[str, Any]:
    return {
        "id": question.id,
        "text": question.text,
        **({"help": question.help} if question.help else {}),
        **({"section": question.section.to_dict()} if question.section else {}),
        "type": question.type,
        "options": list(question.labels or question.categories),
        "required": question.required,
        "show_if": question.show_if and question.show_if.to_dict(),
        "epsilon": question.epsilon,
        "items": [_item(item, own[item.id]) for item in question.items],
    }


def _item(item: Question, columns: list[Variable]) -> dict[str, Any]:
    return {
        "id": item.id,
        "recorded": [{"option": one.label, "variable": one.variable, "code": one.code} for one in options(columns)],
        "scores": scores_of(item),
        "channel": channel(item.channel),
    }


def channel(coins: Channel) -> dict[str, Any]:
    """The chance that a record names an option: a matrix of the answer (rows) by the option (columns), exactly.

    Each cell is a whole number over `denominator`, (k - 1) 2^32; up to 64 categories the matrix is written out.
    """
    own, other = coins.keep_threshold * (coins.k - 1), coins.d * coins.coin - coins.keep_threshold
    cells = [[own if i == j else other for j in range(coins.k)] for i in range(coins.k)] if coins.k <= _WRITTEN_OUT else None
    return {
        "k": coins.k,
        "d": coins.d,
        "threshold": coins.keep_threshold,
        "of": coins.coin,
        "epsilon": coins.epsilon,
        "denominator": (coins.k - 1) * coins.coin,
        "own": {"numerator": own, "probability": float(coins.theta)},
        "other": {"numerator": other, "probability": float(coins.phi)},
        "matrix": cells,
    }


def to_markdown(counted: Counted, columns: tuple[Variable, ...]) -> str:
    """The same to be read: each question with its text, its columns and its coins."""
    survey, own = counted.survey, _by_item(columns)
    head = [
        f"# Codebook: {plain(survey.title)}",
        f"{counted.n:,} records of the survey `{survey.id}`, whose definition has the SHA-256 `{survey.digest}`. A record is one row of "
        "`rows.csv`, `rows.parquet`, `rows.sav`, `rows.dta` and `rows.xlsx`: the same whole numbers in all of them. Nothing in a row is "
        "an answer: each was randomized before it was sent. A missing value means that the person was not asked.",
        "## Who randomized, and groups",
        *(_values(one) for one in columns if not one.field),
    ]
    return "\n\n".join([*head, *(_section(question, own) for question in survey.questions)]) + "\n"


def _section(question: Question, columns: dict[str, list[Variable]]) -> str:
    own = [one for item in question.items for one in columns[item.id]]
    facts = [
        f"type {question.type.replace('_', ' ')}",
        "required" if question.required else "may be left out",
        f"epsilon {question.epsilon:.6f}",
    ]
    lines = [f"## {plain(question.id)}", plain(question.text), *([plain(question.help)] if question.help else []), " · ".join(facts)]
    if question.section:
        begun = ": ".join(filter(None, (plain(question.section.title), plain(question.section.note))))
        lines.insert(1, f"Here begins the section {begun}")
    if question.show_if:
        told = in_words(question.show_if, lambda one: f"{' or '.join(map(plain, one.options))} to {one.question}")
        lines.append(f"Shown to those who answer {told}; of others a randomized “no answer” is sent.")
    return "\n\n".join([*lines, *map(_values, own), _coins(question.channel)])


def _values(column: Variable) -> str:
    rows = "\n".join(f"| {code} | {plain(label)} |" for code, label in column.values.items())
    return f"**`{column.name}`**: {plain(column.label)}\n\n| value | meaning |\n|---|---|\n{rows}"


def _coins(coins: Channel) -> str:
    told = channel(coins)
    rows = [
        (name, told[key]["numerator"], told[key]["probability"]) for name, key in (("the own option", "own"), ("any one other", "other"))
    ]
    cells = "\n".join(f"| {name} | {top:,} of {told['denominator']:,} | {chance:.9f} |" for name, top, chance in rows)
    return (
        f"Coins: a record names {coins.d} of {coins.k} options; the own one is among them if a random number below 2^32 is below "
        f"{coins.keep_threshold:,}.\n\n| a record names | exactly | chance |\n|---|---|---|\n{cells}"
    )


def plain(text: str) -> str:
    """A text in one line, of which Markdown makes nothing else."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&!])", r"\\\1", " ".join(text.split()))
