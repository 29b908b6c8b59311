"""An export as it is read: what its manifest says is there, and the tally of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import rfc8785

from deniable.errors import ExportError, RefusedError
from deniable.exported import cluster, pieces
from deniable.exported.pieces import Piece
from deniable.survey import Survey
from deniable.survey.document import strict_json
from deniable.wire.part import Mode, Part
from deniable.wire.public import some_of
from deniable.wire.tally import Tally

if TYPE_CHECKING:
    from distributed import Client

MANIFEST = "manifest.json"
FORMAT = 1
"""Of a manifest."""


@dataclass(frozen=True)
class Export:
    """A survey's perturbed records in a folder. sizes: how many each part has; pieces: the files that have them.

    is_open: whether the survey was open, so that more may have come, and waited to be counted.
    """

    folder: Path
    survey: Survey
    is_open: bool
    sizes: Mapping[Part, int]
    pieces: tuple[Piece, ...]

    @classmethod
    def open(cls, folder: str | Path) -> Export:
        """Reads the manifest of a folder. Raises ExportError where it is none or does not agree with itself, OSError."""
        path = Path(folder) / MANIFEST
        try:
            told = strict_json(path.read_bytes())
            if told["deniable_export"] != FORMAT:
                raise ExportError(f"{path} must be of format {FORMAT}, got another; this version of deniable reads no other")
            survey = Survey.from_definition(rfc8785.dumps(told["survey"]))
            made = cls(Path(folder), survey, bool(told["open"]), _sizes(told), _pieces(told))
        except FileNotFoundError:
            raise ExportError(f"{folder} must be the folder of a finished export, which has a {MANIFEST}") from None
        except RefusedError as error:
            raise ExportError(f"{path}: {error}") from None
        except (ValueError, TypeError, LookupError, RecursionError, rfc8785.CanonicalizationError):
            raise ExportError(f"{path} must be the manifest of an export, and is none") from None
        sums = {told["n"], sum(made.sizes.values()), sum(piece.n for piece in made.pieces)}
        if told["digest"] != made.survey.digest or len(sums) > 1:
            raise ExportError(f"{path} must agree with itself: its digest and its survey, or its numbers of records, differ")
        return made

    def manifest(self) -> bytes:
        """What `open` reads: JSON."""
        parts = [{"group": part.group, "mode": part.mode, "n": n} for part, n in self.sizes.items()]
        told = {
            "deniable_export": FORMAT,
            "digest": self.survey.digest,
            "n": sum(self.sizes.values()),
            "open": self.is_open,
            "parts": parts,
            "pieces": [piece._asdict() for piece in self.pieces],
            "survey": json.loads(self.survey.definition),
        }
        return json.dumps(told, ensure_ascii=False, indent=1).encode()

    def parts(self, group: str | None = None, by_hand: bool = False) -> frozenset[Part]:
        """The parts that are counted together: of one group or of all, by devices and organisations or by hand. Raises ExportError."""
        if group is not None and group not in self.survey.groups:
            rule = f"must be {some_of(self.survey.groups)}" if self.survey.groups else f"must be left out: {self.survey.id} has no groups"
            raise ExportError(f"group {rule}")
        if group is not None and all(part.group != group for part in self.sizes) and self._has_unlabelled:
            raise ExportError(f"group must be one whose records are told apart here: {group} has too few, or none")
        return frozenset(part for part in self.sizes if (part.mode == "by_hand") == by_hand and group in (None, part.group))

    @property
    def _has_unlabelled(self) -> bool:
        """Whether there are records of groups that have too few to be told apart."""
        return any(part.group is None for part in self.sizes)

    def described(self, group: str | None = None, by_hand: bool = False) -> dict[str, Any]:
        """What a server says of the records of these parts, by the names of fields of `Results`. Raises ExportError."""
        chosen, labels = self.parts(group, by_hand), [group] if group is not None else self.survey.groups or [None]
        waiting = len(labels) * (1 if by_hand else 2) * self.survey.most_waiting if self.is_open else 0
        told = {"group": group, "by_hand": by_hand, "may_wait": waiting}
        if by_hand:
            return told
        organisations = sum(self.sizes[part] for part in chosen if part.mode == "organisation")
        return {**told, "n_by_hand": sum(map(self.sizes.__getitem__, self.parts(group, True))), "n_organisation": organisations}

    def tally(self, group: str | None = None, by_hand: bool = False, client: Client | None = None) -> Tally:
        """The tally of these parts, all of them or it raises. client: of a Dask cluster, whose workers see this folder at the same path.

        Raises ExportError where a file is damaged or something is counted that the manifest does not have, or not counted that it has.
        """
        chosen = self.parts(group, by_hand)
        if client is None:
            each = (pieces.tallies(self.folder / piece.name, piece, self.survey, chosen) for piece in self.pieces)
            found = Tally.total(chain.from_iterable(each), self.survey.record.bits)
        else:
            found = cluster.of_export(self.folder, self.pieces, self.survey, chosen, client)
        if found.n != (n := sum(self.sizes[part] for part in chosen)):
            raise ExportError(f"{found.n:,} records were counted of the {n:,} that the manifest has: nothing can be said of them")
        return found


def _sizes(told: Mapping[str, Any]) -> dict[Part, int]:
    sizes = {Part(one["group"], one["mode"]): one["n"] for one in told["parts"]}
    if len(sizes) < len(told["parts"]) or any(part.mode not in get_args(Mode) or type(n) is not int or n < 1 for part, n in sizes.items()):
        raise ValueError
    return sizes


def _pieces(told: Mapping[str, Any]) -> tuple[Piece, ...]:
    found = tuple(Piece(one["name"], one["n"], one["sha256"]) for one in told["pieces"])
    names = {piece.name for piece in found}
    if len(names) < len(found) or any(Path(name).name != name for name in names) or any(type(piece.n) is not int for piece in found):
        raise ValueError
    return found
