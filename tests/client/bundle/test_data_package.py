"""datapackage.json is valid, and its fields, sizes and hashes are those of the tables."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from deniable.bundle import Bundle

FOLDER = Path(__file__).parents[2] / "vendor" / "data-package"
PROFILE = FOLDER / "tabular-data-package.json"


@pytest.fixture(scope="module", params=["every", "asked", "coins", "wide"])
def bundle(request: pytest.FixtureRequest, make: Callable[[str], Any]) -> Bundle:
    """The bundles of `conftest.SURVEYS`."""
    made: Bundle = make(request.param).bundle
    return made


def written(bundle: Bundle, name: str) -> bytes:
    file = io.BytesIO()
    bundle.write(name, file)
    return file.getvalue()


def described(bundle: Bundle) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(written(bundle, "datapackage.json"))
    return value


def test_the_profile_is_the_published_one() -> None:
    assert hashlib.sha256(PROFILE.read_bytes()).hexdigest() in (FOLDER / "README.md").read_text()


def test_it_is_valid(bundle: Bundle) -> None:
    jsonschema.validate(described(bundle), json.loads(PROFILE.read_text()))


def test_a_resource_without_a_path_is_noticed(bundle: Bundle) -> None:
    """The control."""
    value = described(bundle)
    del value["resources"][0]["path"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, json.loads(PROFILE.read_text()))


def test_its_fields_sizes_and_hashes_are_those_of_the_tables(bundle: Bundle) -> None:
    for resource in described(bundle)["resources"]:
        raw = written(bundle, resource["path"])
        assert (resource["bytes"], resource["hash"]) == (len(raw), f"sha256:{hashlib.sha256(raw).hexdigest()}")
        header, *lines = csv.reader(io.StringIO(raw.decode(), newline=""))
        assert [field["name"] for field in resource["schema"]["fields"]] == header
        for name, field, *cells in zip(header, resource["schema"]["fields"], *lines, strict=True):
            for cell in filter(None, cells):
                assert field["type"] == "string" or float(cell) is not None, name
                if "constraints" in field:
                    assert int(cell) in field["constraints"]["enum"]


def test_each_randomized_column_states_its_mechanism(bundle: Bundle) -> None:
    fields = described(bundle)["resources"][0]["schema"]["fields"]
    assert [bool(field.get("mechanism")) for field in fields] == [column.field is not None for column in bundle.counted.columns]
