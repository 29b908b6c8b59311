"""Writes the vectors of claims: for each cell of facts, the claims that are true, by rules that are stated here once more.

It shares no code with the project and does not read its table: a condition that is changed there disagrees with this file.

Run: python tests/vectors/make_claim_vectors.py [FOLDER]   (the standard library only; the same bytes on every run)
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def level(bound: float) -> str:
    return "strong" if bound <= 75 else "medium" if bound <= 90 else "weak" if bound <= 99 else "none"


def at_most(bound: float) -> Callable[[Json], bool]:
    """True where neither one answer nor the whole record can make a guess surer than this many percent."""
    return lambda cell: max(cell["bounds"]) <= bound


def between(low: float, high: float) -> Callable[[Json], bool]:
    return lambda cell: low < max(cell["bounds"]) <= high


def both(*rules: Callable[[Json], bool]) -> Callable[[Json], bool]:
    return lambda cell: all(rule(cell) for rule in rules)


def one_at_most(bound: float) -> Callable[[Json], bool]:
    return lambda cell: cell["bounds"][0] <= bound


def one_above(bound: float) -> Callable[[Json], bool]:
    return lambda cell: cell["bounds"][0] > bound


def is_device(cell: Json) -> bool:
    return bool(cell["by"] == "device")


def is_hand(cell: Json) -> bool:
    return bool(cell["by"] == "hand")


def always(cell: Json) -> bool:
    return True


def batch(low: int, high: int = 10**9) -> Callable[[Json], bool]:
    return lambda cell: low <= cell["batch"] <= high


def fact(name: str, value: str) -> Callable[[Json], bool]:
    return lambda cell: bool(cell[name] == value)


def has_groups(cell: Json) -> bool:
    return bool(cell["groups"] >= 2)


def is_public(cell: Json) -> bool:
    return bool(cell.get("results") == "public")


RULES: dict[str, Callable[[Json], bool]] = {
    "level.strong": at_most(75),
    "level.medium": between(75, 90),
    "level.weak": between(90, 99),
    "level.none": between(99, 100),
    "crowd.of": always,
    "blind.guess": always,
    "one.guess": always,
    "all.guess": always,
    "promise.strong": at_most(75),
    "promise.medium": between(75, 90),
    "promise.weak": both(between(90, 99), one_above(90)),
    "promise.weak_sum": both(between(90, 99), one_at_most(90)),
    "promise.none": both(between(99, 100), one_above(90)),
    "promise.none_sum": both(between(99, 100), one_at_most(90)),
    "coins.change": is_device,
    "advice.truth": at_most(90),
    "advice.think": between(90, 99),
    "advice.public": between(99, 100),
    "least.hidden": always,
    "excuse.yes": both(one_at_most(75), at_most(90)),
    "lock.device": both(at_most(90), is_device),
    "lock.toss": both(between(90, 100), is_device),
    "review.here": is_device,
    "arrived.hidden": both(at_most(90), is_device),
    "arrived.open": both(between(90, 100), is_device),
    "learn.shares": always,
    "release.close": fact("release", "close"),
    "release.daily": both(fact("release", "daily"), batch(2)),
    "release.alone": both(fact("release", "daily"), batch(0, 1)),
    "floor.few": batch(2, 9),
    "floor.one": batch(0, 1),
    "spare.codes": lambda cell: cell.get("spare", False),
    "groups.of": has_groups,
    "groups.small": has_groups,
    "sample.open": fact("sample", "yes"),
    "public.results": is_public,
    "public.groups": both(is_public, has_groups),
    "public.erased": is_public,
    "asker.hidden": at_most(90),
    "asker.sum": both(between(90, 100), one_at_most(90)),
    "asker.open": one_above(90),
    "server.records": always,
    "thief.records": always,
    "thief.codes": fact("codes", "yes"),
    "sender.part": always,
    "network.visit": always,
    "code.start": fact("codes", "yes"),
    "send.before": always,
    "withdraw.code": always,
    "lost.code": always,
    "leave.before": always,
    "leave.after": always,
    "known.stays": always,
    "limits.screen": is_device,
    "limits.coins": is_hand,
    "limits.part": always,
    "limits.copy": is_device,
    "limits.server": is_device,
    "limits.again": is_hand,
    "twice.more": always,
    "device.marks": is_device,
    "shared.marks": is_device,
    "hand.truth": both(at_most(90), is_hand),
    "hand.keep": is_hand,
    "every.record": always,
    "cannot.visit": always,
    "cannot.minutes": always,
    "cannot.by_hand": always,
    "cannot.screen": always,
    "cannot.server": always,
    "cannot.more": always,
    "reply.same": always,
    "others.nothing": always,
    "save.file": always,
    "return.site": always,
    "publish.rows": at_most(90),
    "publish.weak": between(90, 100),
    "clients.refuse": batch(0, 9),
    "rows.sum": always,
    "rows.groups": has_groups,
}
BOUNDS = [
    (50.4, 50.4),
    (75, 75),
    (75, 75.1),
    (64, 90),
    (90, 90),
    (80, 90.1),
    (74, 97),
    (95.3, 95.3),
    (75, 99),
    (73, 99.4),
    (93, 99.9),
    (99.9955, 99.9955),
    (100, 100),
]


def cells() -> list[Json]:
    found = []
    others = itertools.product(("device", "hand"), ("close", "daily"), (1, 2, 9, 10), (0, 2), ("no", "yes"), ("no", "yes"))
    for number, (by, release, floor, groups, codes, sample) in enumerate(others):
        for one, record in BOUNDS if number % 7 == 0 else (BOUNDS[number % len(BOUNDS)],):
            cell: Json = {
                "bounds": [one, record],
                "by": by,
                "release": release,
                "batch": floor,
                "groups": groups,
                "codes": codes,
                "sample": sample,
                "spare": codes == "yes" and number % 3 == 0,
            }
            facts = {**cell, "one": level(one), "record": level(record), "weaker": level(max(one, record)), "of": 100}
            del facts["bounds"]
            if cell["spare"]:
                facts |= {"made": 240, "expected": 100}
            del facts["spare"]
            found.append({"bounds": cell["bounds"], "facts": facts, "true": [name for name, rule in RULES.items() if rule(cell)]})
    return found + public_cells()


def public_cells() -> list[Json]:
    """Cells that also know whether results are public; in the others above, it is not known."""
    bounds, found = (64, 74), []
    for results, by, groups in itertools.product(("private", "public"), ("device", "hand"), (0, 2)):
        facts = {"by": by, "release": "close", "batch": 10, "groups": groups, "codes": "no", "sample": "no", "results": results}
        cell = {**facts, "bounds": list(bounds)}
        levels = {"one": level(bounds[0]), "record": level(bounds[1]), "weaker": level(max(bounds)), "of": 100}
        found.append({"bounds": list(bounds), "facts": {**facts, **levels}, "true": [name for name, rule in RULES.items() if rule(cell)]})
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    lines = ",\n".join(json.dumps(cell, separators=(",", ":")) for cell in cells())
    (folder / "claims.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
