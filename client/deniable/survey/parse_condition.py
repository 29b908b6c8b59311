"""Parser of `show_if`: an earlier question with options or a range of its bins, or a list of conditions with `all` or `any`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deniable.survey.condition import MOST, Condition, Joined, ShowIf
from deniable.survey.question import Question
from deniable.survey.reading import Reading, shown
from deniable.survey.types.base import number

WORDS = ("all", "any")
RANGE = ("at_least", "below")


@dataclass(frozen=True)
class Conditions:
    """Parses conditions on earlier questions. earlier: these, by id; all: whether every one of them was valid."""

    reading: Reading
    earlier: Mapping[str, Question]
    all: bool

    def read(self, source: Any, where: str, words: Sequence[str] = WORDS) -> ShowIf | None:
        """Returns the condition of a `show_if`; None if it is invalid, which is reported. words: the lists allowed here."""
        if not isinstance(source, Mapping):
            rule = "must be a mapping with the keys question and is" + (f", or {' or '.join(words)} with a list of such" if words else "")
            self.reading.refuse(where, f"{rule}, got {type(source).__name__}")
            return None
        lists = [word for word in WORDS if word in source]
        if not lists:
            return self._single(source, where)
        if lists[0] not in words:
            self.reading.refuse(
                where, "must be a condition: lists of `any` may stand in one of `all`, or the other way round, and none deeper"
            )
            return None
        return self._joined(source, where, lists[0], [word for word in words if word != lists[0]])

    def _joined(self, source: Mapping[str, Any], where: str, word: str, inside: Sequence[str]) -> Joined | None:
        """Returns a list of conditions; two levels can express every combination."""
        self.reading.keys(source, where, required=[word], optional=[])
        parts = source[word]
        if not isinstance(parts, list | tuple) or not 2 <= len(parts) <= MOST:
            got = f"{len(parts):,}" if isinstance(parts, list | tuple) else type(parts).__name__
            self.reading.refuse(f"{where}.{word}", f"must be a list of 2 to {MOST} conditions, got {got}")
            return None
        read = [self.read(part, f"{where}.{word}[{index}]", inside) for index, part in enumerate(parts)]
        right = tuple(part for part in read if part is not None)
        return Joined("all" if word == "all" else "any", right) if len(right) == len(read) else None

    def _single(self, source: Mapping[str, Any], where: str) -> Condition | None:
        ranged = [key for key in RANGE if key in source]
        beside = [*RANGE, *(["is"] if ranged else [])]
        self.reading.keys(source, where, required=["question"] if ranged else ["question", "is"], optional=beside)
        if "question" not in source or not (ranged or "is" in source):
            return None
        name = source["question"]
        earlier = self.earlier.get(name) if isinstance(name, str) else None
        if earlier is None or earlier.rounds or (ranged and "bins" not in earlier.settings):
            if earlier or self.all:  # else its own mistakes come first
                kind = "number with bins" if ranged else "question with options"
                self.reading.refuse(f"{where}.question", f"must be the id of an earlier {kind}, got {shown(name)}")
            return None
        if "is" in source and ranged:
            self.reading.refuse(f"{where}.is", f"must not stand beside {' and '.join(ranged)}; keep one of the two")
            return None
        options = self._bins(source, where, earlier) if ranged else self._options(source["is"], f"{where}.is", earlier)
        return Condition(earlier.id, options) if options else None

    def _options(self, options: Any, where: str, asked: Question) -> tuple[str, ...] | None:
        known = asked.labels or (asked.categories if asked.required else asked.categories[:-1])
        if not isinstance(options, list | tuple) or not options or len(set(map(str, options))) < len(options):
            self.reading.refuse(where, "must be a list of at least one of that question's options, each once")
            return None
        for index, option in enumerate(options):
            if option not in known:
                self.reading.refuse(f"{where}[{index}]", f"must be one of {', '.join(known[:8])}, got {shown(option)}")
        return tuple(map(str, options))

    def _bins(self, written: Mapping[str, Any], where: str, asked: Question) -> tuple[str, ...] | None:
        """Returns the bins from `at_least` up to `below`; a bin begins at each, since a record cannot tell parts of one."""
        bins = asked.settings["bins"]
        starts = [one["from"] for one in bins]
        places = {"at_least": 0, "below": len(bins)}
        for key, allowed in (("at_least", starts), ("below", starts[1:])):
            if key not in written:
                continue
            if (value := number(written[key])) not in allowed:
                edges = ", ".join(f"{start:.15g}" for start in allowed[:8])
                rule = f"must be where a bin of {asked.id} begins, one of {edges}"
                self.reading.refuse(f"{where}.{key}", f"{rule}, got {shown(written[key])}")
                return None
            places[key] = starts.index(value)
        if places["at_least"] >= places["below"]:
            self.reading.refuse(f"{where}.below", "must be above at_least")
            return None
        return tuple(one["name"] for one in bins[places["at_least"] : places["below"]])
