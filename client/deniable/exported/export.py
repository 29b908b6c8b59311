"""Reader of exports: the manifest of a folder, and the tally of its records."""

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
"""The version of the manifest's format."""


@dataclass(frozen=True)
class Export:
    """A survey's perturbed records in a folder.

    Attributes:
        folder: The folder.
        survey: The survey.
        is_open: Whether the survey was open: more records may have come, or waited to be counted.
        sizes: The number of records of each part.
        pieces: The files with the records.
    """

    folder: Path
    survey: Survey
    is_open: bool
    sizes: Mapping[Part, int]
    pieces: tuple[Piece, ...]

    @classmethod
    def open(cls, folder: str | Path) -> Export:
        """Reads the manifest of a folder.

        Raises:
            ExportError: There is no manifest, or it contradicts itself.
            OSError: It cannot be read.
        """
        path = Path(folder) / MANIFEST
        try:
            manifest = strict_json(path.read_bytes())
            if manifest["deniable_export"] != FORMAT:
                raise ExportError(f"{path} must be of format {FORMAT}, got another; this version of deniable reads no other")
            survey = Survey.from_definition(rfc8785.dumps(manifest["survey"]))
            export = cls(Path(folder), survey, bool(manifest["open"]), _sizes(manifest), _pieces(manifest))
        except FileNotFoundError:
            raise ExportError(f"{folder} must be the folder of a complete export, with a {MANIFEST}") from None
        except RefusedError as error:
            raise ExportError(f"{path}: {error}") from None
        except (ValueError, TypeError, LookupError, RecursionError, rfc8785.CanonicalizationError):
            raise ExportError(f"{path} must be the manifest of an export, got something else") from None
        numbers = {manifest["n"], sum(export.sizes.values()), sum(piece.n for piece in export.pieces)}
        if manifest["digest"] != export.survey.digest or len(numbers) > 1:
            raise ExportError(f"{path} must agree with itself: its digest and its survey, or its numbers of records, differ")
        return export

    def manifest(self) -> bytes:
        """Returns the manifest, as JSON, that `open` reads."""
        parts = [{"group": part.group, "mode": part.mode, "n": n} for part, n in self.sizes.items()]
        manifest = {
            "deniable_export": FORMAT,
            "digest": self.survey.digest,
            "n": sum(self.sizes.values()),
            "open": self.is_open,
            "parts": parts,
            "pieces": [piece._asdict() for piece in self.pieces],
            "survey": json.loads(self.survey.definition),
        }
        return json.dumps(manifest, ensure_ascii=False, indent=1).encode()

    def parts(self, group: str | None = None, by_hand: bool = False) -> frozenset[Part]:
        """Returns the parts that are counted together.

        Args:
            group: A group, or None for all groups.
            by_hand: Selects records made by hand instead of those by devices and organisations.

        Raises:
            ExportError: The group is unknown, or has too few records to be shown.
        """
        if group is not None and group not in self.survey.groups:
            rule = f"must be {some_of(self.survey.groups)}" if self.survey.groups else f"must be left out: {self.survey.id} has no groups"
            raise ExportError(f"group {rule}")
        if group is not None and all(part.group != group for part in self.sizes) and self._has_unlabelled:
            raise ExportError(f"group must have enough records to be shown: {group} has too few, or none")
        return frozenset(part for part in self.sizes if (part.mode == "by_hand") == by_hand and group in (None, part.group))

    @property
    def _has_unlabelled(self) -> bool:
        """Whether there are records of groups with too few to be shown."""
        return any(part.group is None for part in self.sizes)

    def described(self, group: str | None = None, by_hand: bool = False) -> dict[str, Any]:
        """Returns the fields of `Results` that a server adds to the estimates of these parts. Takes and raises the same as `parts`."""
        chosen = self.parts(group, by_hand)
        fields = {"group": group, "by_hand": by_hand}
        if by_hand:
            return fields
        organisations = sum(self.sizes[part] for part in chosen if part.mode == "organisation")
        return {**fields, "n_by_hand": sum(map(self.sizes.__getitem__, self.parts(group, True))), "n_organisation": organisations}

    def tally(self, group: str | None = None, by_hand: bool = False, client: Client | None = None) -> Tally:
        """Counts all records of these parts.

        Args:
            group: A group, or None for all groups.
            by_hand: Selects records made by hand instead of those by devices and organisations.
            client: A client of a Dask cluster whose workers see this folder at the same path. By default this process counts.

        Raises:
            ExportError: The group is unknown, a file is damaged, or the count differs from the manifest.
        """
        chosen = self.parts(group, by_hand)
        if client is None:
            each = (pieces.tallies(self.folder / piece.name, piece, self.survey, chosen) for piece in self.pieces)
            tally = Tally.total(chain.from_iterable(each), self.survey.record.bits)
        else:
            tally = cluster.of_export(self.folder, self.pieces, self.survey, chosen, client)
        if tally.n != (n := sum(self.sizes[part] for part in chosen)):
            raise ExportError(f"the export must have the {n:,} records of its manifest, got {tally.n:,}")
        return tally


def _sizes(manifest: Mapping[str, Any]) -> dict[Part, int]:
    sizes = {Part(entry["group"], entry["mode"]): entry["n"] for entry in manifest["parts"]}
    is_valid = all(part.mode in get_args(Mode) and type(n) is int and n >= 1 for part, n in sizes.items())
    if len(sizes) < len(manifest["parts"]) or not is_valid:
        raise ValueError
    return sizes


def _pieces(manifest: Mapping[str, Any]) -> tuple[Piece, ...]:
    files = tuple(Piece(entry["name"], entry["n"], entry["sha256"]) for entry in manifest["pieces"])
    names = {piece.name for piece in files}
    if len(names) < len(files) or any(Path(name).name != name for name in names) or any(type(piece.n) is not int for piece in files):
        raise ValueError
    return files
