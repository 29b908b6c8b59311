"""Data package: datapackage.json, which describes the tables of a bundle for programs (Frictionless Data Package 1, tabular profile)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deniable.bundle import codebook, figures
from deniable.bundle.counted_records import CountedRecords
from deniable.bundle.variables import Variable

LICENCES: Mapping[str, Mapping[str, str]] = {
    "cc-by-4.0": {"name": "CC-BY-4.0", "path": "https://creativecommons.org/licenses/by/4.0/", "title": "Creative Commons Attribution 4.0"},
    "cc0-1.0": {"name": "CC0-1.0", "path": "https://creativecommons.org/publicdomain/zero/1.0/", "title": "CC0 1.0"},
}
"""The licences of `texts.LICENCES` that have a name elsewhere."""

_WORDS = ("variable", "question", "option", "text", "group", "figure", "epsilon_of", "method", "target", "warning")


@dataclass(frozen=True)
class FileHash:
    """The size of a file in bytes, and its SHA-256 in hexadecimal."""

    size: int
    sha256: str


def to_json(counted: CountedRecords, columns: tuple[Variable, ...], licence: str, hashes: Mapping[str, FileHash]) -> str:
    """Returns the description of rows.csv, codebook.csv and estimates.csv.

    Args:
        counted: The records.
        columns: The columns of the rows.
        licence: One of `texts.LICENCES`.
        hashes: The size and hash of each of the three files.
    """
    survey = counted.survey
    fields = {
        "rows.csv": [_field(column) for column in columns],
        "codebook.csv": _plain_fields(codebook.COLUMNS),
        "estimates.csv": _plain_fields(figures.COLUMNS),
    }
    titles = {"rows.csv": "Perturbed records", "codebook.csv": "Codes and coins", "estimates.csv": "Estimates with their intervals"}
    content = {
        "profile": "tabular-data-package",
        "name": survey.id.replace("_", "-").strip("-") or "survey",
        "id": survey.digest,
        "title": survey.title,
        "description": survey.about,
        "language": survey.language,
        "languages": list(survey.languages),
        "epsilon": survey.epsilon,
        **({"licenses": [LICENCES[licence]]} if licence in LICENCES else {}),
        **({"contributors": [{"title": survey.institution, "role": "publisher"}]} if survey.institution else {}),
        "resources": [_resource(name, titles[name], fields[name], hashes[name]) for name in fields],
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _resource(name: str, title: str, fields: list[dict[str, Any]], file_hash: FileHash) -> dict[str, Any]:
    return {
        "profile": "tabular-data-resource",
        "name": name.removesuffix(".csv"),
        "title": title,
        "path": name,
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "bytes": file_hash.size,
        "hash": f"sha256:{file_hash.sha256}",
        "schema": {"fields": fields, "missingValues": [""]},
    }


def _field(column: Variable) -> dict[str, Any]:
    field: dict[str, Any] = {
        "name": column.name,
        "title": column.label,
        "type": "integer",
        "constraints": {"enum": list(column.values)},
        "categories": [{"value": code, "label": label} for code, label in column.values.items()],
    }
    if column.field:
        field["mechanism"] = {"item": column.field.item.id, **codebook.channel(column.field.item.channel)}
    return field


def _plain_fields(names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [{"name": name, "type": "string" if name in _WORDS else "number"} for name in names]
