"""Compiled survey: what a server needs of a definition to check and count its records, without parsing its questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from deniable.survey.layout import Rule, block_masks
from deniable.survey.survey import Survey

VERSION = 1
"""The version of the encoding. Raise it when a field of `CompiledSurvey` or its meaning changes: servers then compile surveys again."""


class RecordLayout(Protocol):
    """Layout of records, as far as their check needs it: a `Layout` or a `CompiledLayout`."""

    @property
    def bits(self) -> int:
        """The number of stored bits, excluding padding."""

    @property
    def bytes(self) -> int:
        """Length of one record in bytes."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Rules of the fields that cannot have every value."""


class SurveyRules(Protocol):
    """Rules of a survey for its records: a `Survey` or a `CompiledSurvey`. `Survey` describes the attributes."""

    @property
    def id(self) -> str: ...  # noqa: D102 - as in `Survey`
    @property
    def digest(self) -> str: ...  # noqa: D102
    @property
    def access(self) -> str: ...  # noqa: D102
    @property
    def release(self) -> str: ...  # noqa: D102
    @property
    def batch(self) -> int: ...  # noqa: D102
    @property
    def groups(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def ask(self) -> int | None: ...  # noqa: D102
    @property
    def issuer(self) -> str: ...  # noqa: D102
    @property
    def coins_can_answer(self) -> bool: ...  # noqa: D102
    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]: ...  # noqa: D102
    @property
    def block_bits(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def record(self) -> RecordLayout: ...  # noqa: D102


@dataclass(frozen=True)
class CompiledLayout:
    """Layout of records. fields: the arguments of `Rule.of` for each rule."""

    bits: int
    fields: tuple[tuple[str, int, int, int, int | None], ...]

    @property
    def bytes(self) -> int:
        """Length of one record in bytes."""
        return -(-self.bits // 8)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Rules of the fields that cannot have every value."""
        return tuple(Rule.of(self.bytes, *values) for values in self.fields)


@dataclass(frozen=True)
class CompiledSurvey:
    """A survey without its questions. `Survey` describes the attributes; `blocks` are empty if every question is asked."""

    id: str
    digest: str
    access: str
    release: str
    batch: int
    groups: tuple[str, ...]
    ask: int | None
    issuer: str
    coins_can_answer: bool
    blocks: tuple[tuple[int, ...], ...]
    record: CompiledLayout

    @classmethod
    def of(cls, survey: Survey) -> CompiledSurvey:
        """Compiles a survey."""
        return cls(
            survey.id,
            survey.digest,
            survey.access,
            survey.release,
            survey.batch,
            survey.groups,
            survey.ask,
            survey.issuer,
            survey.coins_can_answer,
            () if survey.ask is None else survey.blocks,
            CompiledLayout(survey.record.bits, tuple(survey.record.compiled_rules())),
        )

    @cached_property
    def block_bits(self) -> tuple[int, ...]:
        """The mask of each block in a record that is read as one integer."""
        return block_masks(self.blocks, self.record.bytes)

    @property
    def size(self) -> int:
        """The approximate size in memory, in bytes."""
        labels = sum(len(group) for group in self.groups)
        return 2048 + 4 * labels + 100 * len(self.groups) + (self.record.bytes + 400) * (len(self.record.fields) + len(self.blocks))

    def to_json(self) -> str:
        """Encodes it as JSON, in ASCII."""
        own = vars(self)
        fields: dict[str, Any] = {name: own[name] for name in self.__match_args__ if name != "record"}
        return json.dumps({**fields, "bits": self.record.bits, "fields": self.record.fields}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> CompiledSurvey:
        """Decodes what `to_json` encoded. Raises ValueError, KeyError or TypeError for anything else."""
        fields = json.loads(text)
        record = CompiledLayout(fields.pop("bits"), _tuples(fields.pop("fields")))
        return cls(**{**fields, "groups": tuple(fields["groups"]), "blocks": _tuples(fields["blocks"])}, record=record)


def _tuples(rows: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    return tuple(tuple(row) for row in rows)
