"""The page of the atlas: docs/reference/coverage.md."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.atlas.cell import APPROXIMATE, EXACT, REJECTS, Cell, Line, Result
from benchmarks.atlas.grid import COMMON, RARE
from benchmarks.atlas.lines import ELSEWHERE


def _percent(part: float) -> str:
    return f"{100 * part:g}%"


HEAD = f"""# Coverage atlas

Look up how often a figure's 95% interval holds the truth, and how often its test rejects a true
hypothesis: at epsilon 0.5 to 8, from 20 reports to 50,000, for rare answers and for common ones, in
small groups and large ones. Each survey is a simulation with new people and new coins.
`make bench NAME=atlas` writes this page (`python -m benchmarks.atlas --help`).

## Reading a cell

- A number is the coverage: the percentage of surveys whose 95% interval holds the truth, among
  surveys with an interval. For a test it is the percentage that rejects a true hypothesis at 5%.
- `w40`: 40% of the surveys warn, beside the figure, that its interval may miss the truth more often
  than stated.
- `r40`: 40% refuse the figure, with the reason. `-`: all refuse it.
- **!**: the promise is broken by more than two standard errors of the simulation, or an interval
  has no width.
- `c`: a careful test, which rejects fewer than {_percent(REJECTS[0])}: counts are whole numbers, and few of them are
  likely. It is not wrong more often, and rejects less.

**Promise**: no figure misleads without a warning. Of all surveys, those that miss the truth with
neither warning nor refusal are at most {_percent(1 - EXACT)} where limits are exact, at most {_percent(1 - APPROXIMATE)} where they are
approximate, and tests reject at most {_percent(REJECTS[1])}.

Rare: {_percent(RARE)} of people give the answer; common: {_percent(COMMON)}. `benchmarks/atlas/` has the shares of scales,
tables and clinics. A figure is exact where all outcomes can be enumerated; else its table states the
number of surveys: 1,000 know 95% to 0.7%, 100 to 2.2%. Where expected counts are small a test here
draws 199 surveys instead of 999 for its p-value, to save time.
"""


def render(lines: Sequence[Line], results: Mapping[str, Sequence[Result]]) -> str:
    """Returns the page; results: the cells of each figure, by its name."""
    measured = [(line, cells) for line in lines if (cells := results.get(line.figure))]
    missing = [line.figure for line in lines if not results.get(line.figure)]
    elsewhere = "; ".join(f"`{'`, `'.join(names)}` by `benchmarks/{program}`" for program, names in ELSEWHERE.items())
    notes = [f"Measured elsewhere: {elsewhere}."] + ([f"Not measured yet: {'; '.join(missing)}."] if missing else [])
    paragraphs = [textwrap.fill(note, 100, break_on_hyphens=False) + "\n" for note in notes]
    return "\n".join([HEAD, *_summary(measured), *paragraphs, *(text for line, cells in measured for text in _section(line, cells))])


def _summary(measured: Sequence[tuple[Line, Sequence[Result]]]) -> Iterator[str]:
    """Yields the rows of the summary: a figure, its cells, those that fail, the worst one."""
    yield "## All figures\n"
    yield "Misled: the percentage of the worst cell's surveys whose figure is wrong without a warning.\n"
    yield "| figure | claim | cells | surveys a cell | misled, worst cell | at most | cells that warn | that refuse | careful | marked ! |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for line, cells in measured:
        worst, claims = max(cells, key=lambda one: one.misled - _most(line, one.cell)), {_most(line, one.cell) for one in cells}
        counts = (
            sum(one.warned > 0.005 for one in cells),
            sum(one.refused > 0.005 for one in cells),
            sum(one.is_careful(line) for one in cells),
            sum(one.fails(line) for one in cells),
        )
        columns = " | ".join(f"{count}" for count in counts)
        claim = "test" if line.test else " and ".join(sorted((_named_claim(one) for one in claims), reverse=True))
        head = f"| {line.figure} | {claim} | {len(cells)} | {_drawn(cells)}"
        yield f"{head} | {100 * worst.misled:.1f} | {100 * _most(line, worst.cell):g} | {columns} |"
    yield ""


def _drawn(cells: Sequence[Result]) -> str:
    """Returns the number of surveys of a cell that was not enumerated."""
    return f"{most:,}" if (most := max(one.surveys for one in cells)) else "enumerated"


def _named_claim(most: float) -> str:
    return "exact" if most == round(1 - EXACT, 10) else "approximate"


def _most(line: Line, cell: Cell) -> float:
    return REJECTS[1] if line.test else round(1 - line.claim_of(cell), 10)


def _section(line: Line, cells: Sequence[Result]) -> Iterator[str]:
    """Yields the table of one figure: epsilon down, sizes across."""
    sizes = list(dict.fromkeys(one.cell.sizes for one in cells))
    by_cell = {one.cell: one for one in cells}
    drawn = sorted({one.surveys for one in cells} - {0})
    how = [f"{drawn[0]:,} surveys a cell"] if drawn else []
    how += ["enumerated"] if any(not one.surveys for one in cells) else []
    yield f"## {line.figure[0].upper()}{line.figure[1:]}\n"
    yield f"`{'`, `'.join(line.names)}`. {'Rejects, %' if line.test else 'Covers, %'}; {' or '.join(how)}.\n"
    yield f"| answers | epsilon | {' | '.join(named(size) for size in sizes)} |\n|---|---|{'---|' * len(sizes)}"
    for rare in (True, False):
        for epsilon in dict.fromkeys(one.cell.epsilon for one in cells if one.cell.rare == rare):
            row = (by_cell.get(Cell(epsilon, size, rare)) for size in sizes)
            texts = " | ".join("" if one is None else _text(line, one) for one in row)
            yield f"| {'rare' if rare else 'common'} | {epsilon:g} | {texts} |"
    yield ""


def _text(line: Line, one: Result) -> str:
    if math.isnan(one.holds):
        return "-"
    figure = 1 - one.holds if line.test else one.holds
    marks = [f"{mark}{100 * part:.0f}" for mark, part in (("w", one.warned), ("r", one.refused)) if part > 0.005]
    marks += ["c"] if one.is_careful(line) else []
    return " ".join([f"{100 * figure:.1f}", *marks, *(["**!**"] if one.fails(line) else [])])


def named(sizes: tuple[int, ...]) -> str:
    """Returns the sizes of one group, two groups or clinics, in words."""
    if len(sizes) < 5:
        return " and ".join(f"{n:,}" for n in sizes)
    least, most = min(sizes), max(sizes)
    if least == most:
        return f"{len(sizes)} of {least:,}"
    return f"{len(sizes)}, one of {most:,}" if sorted(sizes)[-2] == least else f"{len(sizes)} of {least:,} to {most:,}"
