"""Every form that results have lists the same figures: none is in one file and missing in another."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from deniable.bundle import figures
from deniable.estimate import Analysis, analyse
from deniable.survey import Survey
from deniable.wire.tally import Tally

SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "every",
        "title": "T",
        "about": "A test.",
        "epsilon": 8,
        "questions": [
            {"id": "smokes", "text": "?", "type": "yes_no"},
            {"id": "party", "text": "?", "type": "choice", "options": ["red", "blue", "green"], "required": False},
            {"id": "mood", "text": "?", "type": "scale", "options": ["bad", "fair", "good"]},
            {"id": "drugs", "text": "?", "type": "multi_choice", "options": ["tea", "coffee"]},
            {"id": "age", "text": "?", "type": "number", "low": 0, "high": 100},
            {"id": "years", "text": "?", "type": "number", "low": 0, "high": 20, "levels": 3, "required": False},
        ],
    }
)
EXPECTED = [
    *(("share", item.id, option) for item in SURVEY.items for option in item.shared),
    *(("mean", item.id, "") for item in SURVEY.items if item.scores is not None),
]


@pytest.fixture(scope="module", params=[0, 500])
def analysis(request: pytest.FixtureRequest) -> Analysis:
    n, rng = request.param, np.random.default_rng(1)
    parts = []
    for field in SURVEY.record.fields:
        outputs = field.item.channel.outputs
        chosen = np.argsort(rng.random((n, outputs)), axis=1)[:, : field.item.channel.d]
        bits = np.zeros((n, outputs), dtype=bool)
        np.put_along_axis(bits, chosen, True, axis=1)
        parts.append(bits[:, :-1])
    return analyse(SURVEY, Tally.from_bits(np.hstack(parts)))


def of_text(analysis: Analysis) -> Iterator[tuple[str, str, str]]:
    for table in analysis.results.tables():
        share = "option" in table.columns
        yield from (("share", row[0], row[1]) if share else ("mean", row[0], "") for row in table.rows)


def of_csv(text: str) -> list[tuple[str, str, str]]:
    return [(line["figure"], line["question"], line["option"]) for line in csv.DictReader(io.StringIO(text))]


def of_frame(frame: pd.DataFrame) -> list[tuple[str, str, str]]:
    return list(zip(frame["figure"], frame["question"], frame["option"].fillna(""), strict=True))


def test_frame_csv_json_text_html_limits_and_the_bundle_list_the_same_figures(analysis: Analysis) -> None:
    results = analysis.results
    told = results.to_dict()
    of_json = [
        *(("share", row["question"], row["option"]) for row in told["rows"]),
        *(("mean", row["question"], "") for row in told["means"]),
    ]
    forms = {
        "frame": of_frame(results.to_frame()),
        "frame of the analysis": of_frame(analysis.to_frame()),
        "CSV": of_csv(results.to_csv()),
        "JSON": of_json,
        "text": list(of_text(analysis)),
        "bundle": of_csv(figures.to_csv((results,))),
        "limits": [("share" if option else "mean", question, option) for question, option in results.conf_int().index],
    }
    assert {name: sorted(found) for name, found in forms.items()} == dict.fromkeys(forms, sorted(EXPECTED))
    assert len(re.findall("<tr>", results._repr_html_())) == len(EXPECTED) + 2  # two headers


def test_frame_and_csv_have_the_same_values(analysis: Analysis) -> None:
    frame, other = analysis.to_frame(), pd.read_csv(io.StringIO(analysis.to_csv()))
    assert list(frame.columns) == list(other.columns)
    for name in ("n", "ones", "estimate", "std_error", "low", "high"):
        assert frame[name].astype(float).to_numpy() == pytest.approx(other[name].astype(float).to_numpy(), nan_ok=True)


def test_limits_can_be_had_at_any_confidence_by_either_name(analysis: Analysis) -> None:
    wide, narrow = analysis.conf_int(alpha=0.01), analysis.conf_int(confidence=0.5)
    assert analysis.conf_int(confidence=0.99).equals(wide)
    assert analysis.conf_int().equals(analysis.results.conf_int())
    assert analysis.tally.n == 0 or (wide["high"] - wide["low"] > narrow["high"] - narrow["low"]).all()
