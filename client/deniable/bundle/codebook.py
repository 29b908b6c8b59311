"""Codebook: each column, code and coin, for people (Markdown), for programs (JSON) and for the two scripts (CSV)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from deniable.bundle.counted_records import CountedRecords
from deniable.bundle.variables import Option, Variable, options
from deniable.estimate.moments.output_values import output_values
from deniable.estimate.present import spreadsheet
from deniable.estimate.present.table import Table
from deniable.estimate.tables.survey_means import scores_of
from deniable.mechanism import Channel, Window
from deniable.survey.condition import Condition, SumCondition, in_words
from deniable.survey.piping import without_answers
from deniable.survey.question import Question

COLUMNS = ("variable", "code", "question", "option", "score", "k", "d", "threshold", "epsilon", "text", "window", "low", "high")
"""Columns of codebook.csv. A line means: the option of the question is recorded if the variable is the code.

k, d: a record reports d of k values. threshold: the coins keep the answer if a random number below 2^32 is below it. window, low, high: the
width of a number's window, and the ends of its scale; the score of an output is then its average number.
"""

_MOST_MATRIX = 64  # categories of a matrix that is listed in full


def to_csv(columns: tuple[Variable, ...]) -> str:
    """Returns a line for each code of a public column, which has no coins, and for each recorded value of each item."""
    public = [
        (column.name, code, column.name, label, *[None] * 5, column.label, *[None] * 3)
        for column in columns
        if not column.field
        for code, label in column.values.items()
    ]
    rows = (*public, *map(_line, options(columns)))
    return spreadsheet.render([Table("codes", COLUMNS, tuple(rows))], bom=False)


def _line(option: Option) -> tuple[Any, ...]:
    item, scores = option.item, output_scores(option.item)
    score = scores[option.category] if scores else None
    coins = len(item.recorded), item.d, item.keep_threshold, item.epsilon
    channel = item.channel
    window = (channel.inside, *item.kind.range) if isinstance(channel, Window) and item.kind.range else (None, None, None)
    return option.variable, option.code, item.id, option.label, score, *coins, item.label, *window


def output_scores(item: Question) -> list[float | None] | None:
    """Returns the score of each recorded value, of a category or of an output of a window; None if the item has no scores."""
    scores = scores_of(item)
    if scores is None or not isinstance(item.channel, Window) or item.kind.range is None:
        return scores
    low, high = item.kind.range
    step = (high - low) / (item.channel.levels - 1)
    of_outputs = [(low + high) / 2 + step * float(value) for value in output_values(item.channel)]
    return [*of_outputs[:-1], None] if item.channel.apart else list(of_outputs)


def to_json(counted: CountedRecords, columns: tuple[Variable, ...]) -> str:
    """Returns the variables with their values, and the questions with their channels, as JSON."""
    survey, by_item = counted.survey, _by_item(columns)
    content = {
        "survey": survey.id,
        "title": survey.title,
        "about": survey.about,
        "digest": survey.digest,
        "epsilon": survey.epsilon,
        "n": counted.n,
        "ask": survey.ask,
        "missing": f"not asked{_withheld(counted)}: an empty cell, null or the program's missing value",
        "variables": [
            {"name": column.name, "label": column.label, "values": {str(code): label for code, label in column.values.items()}}
            for column in columns
        ],
        "questions": [_question(question, by_item) for question in survey.questions],
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)


def _withheld(counted: CountedRecords) -> str:
    """Returns what else a missing value means, if some groups are withheld."""
    return ", or that the group has too few records to be shown" if counted.withheld and counted.groups else ""


def _by_item(columns: tuple[Variable, ...]) -> dict[str, list[Variable]]:
    by_item: dict[str, list[Variable]] = {}
    for column in columns:
        if column.field:
            by_item.setdefault(column.field.item.id, []).append(column)
    return by_item


def _question(question: Question, by_item: dict[str, list[Variable]]) -> dict[str, Any]:
    return {
        "id": question.id,
        "text": question.text,
        **({"help": question.help} if question.help else {}),
        **({"section": _without_answers(question.section.raw_texts)} if question.section else {}),
        **({"grid": {"id": question.grid.id, **_without_answers(question.grid.raw_texts)}} if question.grid else {}),
        "type": question.type,
        "options": list(question.labels or question.categories),
        "required": question.required,
        "show_if": question.show_if and question.show_if.to_dict(),
        "epsilon": question.epsilon,
        "items": [_item(item, by_item[item.id]) for item in question.items],
    }


def _without_answers(texts: Mapping[str, str]) -> dict[str, str]:
    """Returns the texts of a section or a rating block without references to answers: a codebook has no answers."""
    return {key: without_answers(text) for key, text in texts.items()}


def _item(item: Question, columns: list[Variable]) -> dict[str, Any]:
    return {
        "id": item.id,
        "recorded": [{"option": option.label, "variable": option.variable, "code": option.code} for option in options(columns)],
        "scores": output_scores(item),
        "channel": channel(item.channel),
    }


def channel(coins: Channel) -> dict[str, Any]:
    """Returns the exact chance that a record reports an option: a matrix of answers (rows) by options (columns).

    Each cell is a whole number over `denominator`, (k - 1) 2^32. With more than 64 categories the matrix is left out: `own` and `other` are
    its only two values.
    """
    if isinstance(coins, Window):
        return _window(coins)
    own, other = coins.keep_threshold * (coins.k - 1), coins.d * coins.coin - coins.keep_threshold
    cells = [[own if i == j else other for j in range(coins.k)] for i in range(coins.k)] if coins.k <= _MOST_MATRIX else None
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
    """Returns the matrix of levels (rows) by outputs (columns); each cell is a whole number over `denominator`."""
    denominator = coins.coin * coins.inside * coins.outside
    cells = [[int(chance * denominator) for chance in row] for row in coins.chances] if coins.outputs <= _MOST_MATRIX else None
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


def to_markdown(counted: CountedRecords, columns: tuple[Variable, ...]) -> str:
    """Returns each question with its text, its columns and its coins, for people."""
    survey, by_item = counted.survey, _by_item(columns)
    head = [
        f"# Codebook: {escape_markdown(survey.title)}",
        f"{counted.n:,} records of the survey `{survey.id}`, whose definition has the SHA-256 `{survey.digest}`. A record is one row of "
        "`rows.csv`, `rows.parquet`, `rows.sav`, `rows.dta` and `rows.xlsx`, with the same whole numbers in each. No row has an answer: "
        f"each answer was randomized before it was sent. A missing value means that the person was not asked{_withheld(counted)}.",
        "## Who randomized, and groups",
        *(_values(column) for column in columns if not column.field),
    ]
    return "\n\n".join([*head, *(_section(question, by_item) for question in survey.questions)]) + "\n"


def _section(question: Question, by_item: dict[str, list[Variable]]) -> str:
    columns = [column for item in question.items for column in by_item[item.id]]
    facts = [
        f"type {question.type.replace('_', ' ')}",
        "required" if question.required else "may be left out",
        f"epsilon {question.epsilon:.6f}",
    ]
    lines = [f"## {escape_markdown(question.id)}"]
    if question.section:
        section = ": ".join(filter(None, (escape_markdown(question.section.title), escape_markdown(question.section.note))))
        lines.append(f"A section begins here: {section}")
    if question.grid:
        grid = ": ".join(filter(None, (escape_markdown(question.grid.text), escape_markdown(question.grid.help))))
        lines.append(f"An item of the rating block {escape_markdown(question.grid.id)}: {grid}")
    lines += [escape_markdown(text) for text in (question.text, question.help) if text]
    lines.append(" · ".join(facts))
    if question.show_if:
        lines.append(f"Shown to people who answer {in_words(question.show_if, _escaped)}; all others send a randomized “no answer”.")
    return "\n\n".join([*lines, *map(_values, columns), _coins(question.channel)])


def _escaped(single: Condition | SumCondition) -> str:
    return condition_in_words(single, escape_markdown)


def condition_in_words(single: Condition | SumCondition, quote: Callable[[str], str] = str) -> str:
    """Returns a single condition as the object of "answer"; `quote` escapes an option."""
    options = " or ".join(map(quote, single.options))
    if isinstance(single, Condition):
        return f"{options} to {single.question}"
    names = ", ".join(single.questions)
    if single.word == "count":
        return f"{single.range_in_words} of {names} with {options}"
    return f"{names} with a sum of scores of {single.range_in_words}"


def _values(column: Variable) -> str:
    rows = "\n".join(f"| {code} | {escape_markdown(label)} |" for code, label in column.values.items())
    return f"**`{column.name}`**: {escape_markdown(column.label)}\n\n| value | meaning |\n|---|---|\n{rows}"


def coins_in_words(coins: Channel) -> str:
    """Returns what a channel's coins do, in a sentence or two."""
    condition = f"a random number below 2^32 is below {coins.keep_threshold:,}"
    if isinstance(coins, Window):
        rule = (
            f"a number is rounded at random to one of {coins.levels} levels. Level j, counted from 1, has a window of the outputs j to "
            f"j + {coins.width - 1}. A record reports one output; it is in the answer's window if {condition}."
        )
        if coins.apart:
            rule += f" “No answer” has the last output, which is {coins.width} times as likely by chance as another output."
        return rule
    return f"a record reports {coins.d} of {coins.k} options, the answer among them if {condition}."


def _coins(coins: Channel) -> str:
    chances, rule = channel(coins), coins_in_words(coins)
    names = ("an output in the answer's window", "each other output") if isinstance(coins, Window) else ("the answer", "each other option")
    rows = [
        f"| {name} | {chances[key]['numerator']:,} of {chances['denominator']:,} | {chances[key]['probability']:.9f} |"
        for name, key in zip(names, ("own", "other"), strict=True)
    ]
    return "\n".join([f"Coins: {rule}\n", "| a record reports | exactly | chance |", "|---|---|---|", *rows])


def escape_markdown(text: str) -> str:
    """Returns a text on one line, without the meaning that its characters have in Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&!])", r"\\\1", " ".join(text.split()))
