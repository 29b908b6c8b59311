"""What each column, number and coin means: for people, for programs, and for the two scripts."""

from __future__ import annotations

import json
import re
from typing import Any

from deniable.bundle.counted import Counted
from deniable.bundle.variables import Option, Variable, options
from deniable.estimate.moments.output_values import output_values
from deniable.estimate.present import spreadsheet
from deniable.estimate.present.table import Table
from deniable.estimate.tables.survey_means import scores_of
from deniable.mechanism import Channel, Window
from deniable.survey.condition import in_words
from deniable.survey.question import Question

CODES = ("variable", "code", "question", "option", "score", "k", "d", "threshold", "epsilon", "text", "window", "low", "high")
"""Of codebook.csv: the option of the question was recorded where the variable is the code. k: what a record can name, d of it.
threshold: of 2^32. window, low, high: of a number that goes through a window; its score is what the output says of the number."""

_WRITTEN_OUT = 64  # categories up to which a matrix has all its cells


def to_csv(columns: tuple[Variable, ...]) -> str:
    """A line for each option of each item, and for each value of what is public, which has no coins."""
    public = [
        (one.name, code, one.name, label, *[None] * 5, one.label, *[None] * 3)
        for one in columns
        if not one.field
        for code, label in one.values.items()
    ]
    rows = (*public, *map(_line, options(columns)))
    return spreadsheet.render([Table("codes", CODES, tuple(rows))], bom=False)


def _line(one: Option) -> tuple[Any, ...]:
    item, scores, window = one.item, values(one.item), isinstance(one.item.channel, Window)
    score = scores[one.category] if scores else None
    coins = len(item.recorded), item.d, item.keep_threshold, item.epsilon
    ends = (item.channel.inside, *item.kind.range) if window and item.kind.range else (None, None, None)
    return one.variable, one.code, item.id, one.label, score, *coins, item.text, *ends


def values(item: Question) -> list[float | None] | None:
    """What each bit of a report says of the scores: that of its category, or the value of a window's output; None where there are none."""
    scores = scores_of(item)
    if scores is None or not isinstance(item.channel, Window) or item.kind.range is None:
        return scores
    low, high = item.kind.range
    step = (high - low) / (item.channel.levels - 1)
    told = [(low + high) / 2 + step * float(value) for value in output_values(item.channel)]
    return [*told[:-1], None] if item.channel.apart else list(told)


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
        "missing": f"not asked{_withheld(counted)}: an empty cell, null, or the program's own missing value",
        "variables": [
            {"name": one.name, "label": one.label, "values": {str(c): label for c, label in one.values.items()}} for one in columns
        ],
        "questions": [_question(question, own) for question in survey.questions],
    }
    return json.dumps(said, ensure_ascii=False, allow_nan=False, indent=1)


def _withheld(counted: Counted) -> str:
    """What a missing value in the column of groups means, where there are some."""
    return ", or that the record is of a group with too few records to be told apart" if counted.withheld and counted.groups else ""


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
        "scores": values(item),
        "channel": channel(item.channel),
    }


def channel(coins: Channel) -> dict[str, Any]:
    """The chance that a record names an option: a matrix of the answer (rows) by the option (columns), exactly.

    Each cell is a whole number over `denominator`, (k - 1) 2^32; up to 64 categories the matrix is written out.
    """
    if isinstance(coins, Window):
        return _window(coins)
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


def _window(coins: Window) -> dict[str, Any]:
    """A matrix of the level (rows) by the output (columns); each cell is a whole number over `denominator`."""
    denominator = coins.coin * coins.inside * coins.outside
    cells = [[int(chance * denominator) for chance in row] for row in coins.chances] if coins.outputs <= _WRITTEN_OUT else None
    own, other = coins.keep_threshold * coins.outside, (coins.coin - coins.keep_threshold) * coins.inside
    return {
        "k": coins.k,
        "outputs": coins.outputs,
        "window": coins.width,
        "threshold": coins.keep_threshold,
        "of": coins.coin,
        "epsilon": coins.epsilon,
        "denominator": denominator,
        "own": {"numerator": own, "probability": own / denominator},
        "other": {"numerator": other, "probability": other / denominator},
        "matrix": cells,
    }


def to_markdown(counted: Counted, columns: tuple[Variable, ...]) -> str:
    """The same to be read: each question with its text, its columns and its coins."""
    survey, own = counted.survey, _by_item(columns)
    head = [
        f"# Codebook: {plain(survey.title)}",
        f"{counted.n:,} records of the survey `{survey.id}`, whose definition has the SHA-256 `{survey.digest}`. A record is one row of "
        "`rows.csv`, `rows.parquet`, `rows.sav`, `rows.dta` and `rows.xlsx`: the same whole numbers in all of them. Nothing in a row is "
        f"an answer: each was randomized before it was sent. A missing value means that the person was not asked{_withheld(counted)}.",
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
    told, windowed = channel(coins), isinstance(coins, Window)
    named = ("an output of the own window", "any one other output") if windowed else ("the own option", "any one other")
    rows = [(name, told[key]["numerator"], told[key]["probability"]) for name, key in zip(named, ("own", "other"), strict=True)]
    cells = "\n".join(f"| {name} | {top:,} of {told['denominator']:,} | {chance:.9f} |" for name, top, chance in rows)
    said = f"a record names {coins.d} of {coins.k} options; the own one is among them"
    if isinstance(coins, Window):
        said = (
            f"a number is rounded at random to one of {coins.levels} levels; level j has the outputs j to j + {coins.width - 1}, counted "
        )
        said += "from 1; a record names one of these"
        if coins.apart:
            said += f", and “no answer” has the last output, which is likelier by chance than another one, {coins.width} times"
    return (
        f"Coins: {said} if a random number below 2^32 is below "
        f"{coins.keep_threshold:,}.\n\n| a record names | exactly | chance |\n|---|---|---|\n{cells}"
    )


def plain(text: str) -> str:
    """A text in one line, of which Markdown makes nothing else."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&!])", r"\\\1", " ".join(text.split()))
