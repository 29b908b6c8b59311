"""Charts: what they show, what they say to people who cannot see them, and that files need no browser."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from deniable.errors import EstimateError
from deniable.estimate import MeanRow, Results, Row
from deniable.estimate.moments import applicability

YES = Row("smokes", "yes", 1000, 240, 0.3, 0.027, 0.25, 0.36, 0.3, 1.0986, 0.95, "feldman-cousins", "population", 0.25, "")
ROWS = (
    YES,
    replace(YES, option="no", estimate=0.7, low=0.64, high=0.75),
    replace(YES, question="party", option="<b>Red</b> & \x1b", estimate=-0.04, low=0.0, high=0.02),
)
RESULTS = Results("health", 'A "study" of <health>', "ab" * 32, 1000, 1.0986, ROWS)


def panels(results: Results, question: str | None = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = results.plot(question).to_dict()["vconcat"]
    return found


def domain(panel: dict[str, Any]) -> list[float]:
    found: list[float] = panel["layer"][0]["encoding"]["x"]["scale"]["domain"]
    return found


def test_there_is_a_panel_for_each_question_and_a_mark_for_each_option() -> None:
    drawn = RESULTS.plot().to_dict()
    first, second = drawn["vconcat"]
    assert (first["title"]["text"], second["title"]["text"]) == ("smokes", "party")
    assert [(v["label"], v["estimate"], v["low"], v["high"]) for v in drawn["datasets"][first["data"]["name"]]] == [
        ("yes", 0.3, 0.25, 0.36),
        ("no", 0.7, 0.64, 0.75),
    ]


MOOD = MeanRow("hours", 1000, 3.5, 0.2, 3.1, 3.9, 1.0986, 0.95, "population", 0.0, 40.0)
LEVELS = tuple(replace(YES, question="hours", option=o, warning=f"far off; {applicability.LEVELS_NOTE}") for o in ("0", "40"))
ITEMS = tuple(replace(YES, question=f"drugs[{name}]", option=option) for name in ("tea", "mud") for option in ("yes", "no", "no answer"))
MIXED = replace(RESULTS, rows=(*LEVELS, *ITEMS), means=(MOOD,))


def test_a_number_shows_its_mean_on_its_scale_first_and_says_of_its_levels_that_they_are_rounded() -> None:
    mean, levels, _ = MIXED.panels()
    assert mean.dicts() == [{"label": "mean", "estimate": 3.5, "low": 3.1, "high": 3.9, "lowest": 0.0, "highest": 40.0, "unit": ""}]
    assert [row["label"] for row in levels.dicts()] == ["0", "40"]
    drawn = panels(MIXED)
    assert domain(drawn[0]) == [0.0, 40.0]
    assert (
        "format" not in drawn[0]["layer"][0]["encoding"]["x"]["axis"] or "%" not in drawn[0]["layer"][0]["encoding"]["x"]["axis"]["format"]
    )
    assert drawn[1]["title"]["subtitle"] == ["numbers were rounded at random to these levels"]
    assert drawn[2]["title"].get("subtitle", []) == []
    assert "hours, mean: 3.5 on a scale of 0 to 40, interval 3.1 to 3.9." in MIXED.plot().to_dict()["description"]


def test_a_multiple_choice_is_one_panel_with_the_share_that_chose_each_item() -> None:
    assert [row["label"] for row in MIXED.panels("drugs")[0].dicts()] == ["tea", "mud"]
    assert [panel.title for panel in MIXED.panels()] == ["hours", "hours", "drugs"]


def test_a_mean_without_a_figure_has_no_panel() -> None:
    unknown = replace(MOOD, mean=None, std_error=None, low=None, high=None)
    assert [row["label"] for panel in replace(MIXED, means=(unknown,)).panels("hours") for row in panel.dicts()] == ["0", "40"]


def test_options_keep_their_order() -> None:
    assert panels(RESULTS)[0]["layer"][0]["encoding"]["y"]["sort"] == ["yes", "no"]


def test_the_scale_is_0_to_100_percent_and_wider_where_an_estimate_lies_outside() -> None:
    first, second = panels(RESULTS)
    assert domain(first) == [0.0, 1.0]
    assert domain(second) == [-0.04, 1.0]


def test_one_question_can_be_shown_alone_and_an_unknown_one_is_refused() -> None:
    assert [panel["title"]["text"] for panel in panels(RESULTS, "party")] == ["party"]
    with pytest.raises(EstimateError, match=r"must be one of the results \(smokes, party\), got 'other'"):
        RESULTS.plot("other")


def test_there_is_no_chart_without_reports() -> None:
    empty = replace(YES, n=0, estimate=None, std_error=None, low=None, high=None, adjusted=None)
    with pytest.raises(EstimateError, match="at least 1 estimate, got 0"):
        replace(RESULTS, rows=(empty,)).plot()


def test_the_chart_says_its_figures_to_people_who_cannot_see_it() -> None:
    described = RESULTS.plot().to_dict()["description"]
    assert "smokes, yes: 30.0%, interval 25.0% to 36.0%." in described
    assert "party" not in RESULTS.plot("smokes").to_dict()["description"]


@pytest.mark.slow
def test_an_svg_file_is_well_formed_and_described_whatever_its_texts_are(tmp_path: Path) -> None:
    RESULTS.save_chart(tmp_path / "chart.svg")
    root = ElementTree.parse(tmp_path / "chart.svg").getroot()
    assert root.get("role") == "img"
    assert 'A "study" of <health>' in (root.get("aria-label") or "")
    assert "smokes, no: 70.0%, interval 64.0% to 75.0%." in (root.get("aria-label") or "")
    assert not [element for element in root.iter() if element.tag.endswith("}b") or element.tag.endswith("}script")]


@pytest.mark.slow
def test_a_png_file_is_a_picture(tmp_path: Path) -> None:
    RESULTS.save_chart(str(tmp_path / "chart.png"), "smokes")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG\r\n")


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EstimateError, match=r"must end in \.svg or \.png"):
        RESULTS.save_chart(tmp_path / "chart.html")
    assert not list(tmp_path.iterdir())


def test_without_the_extra_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    monkeypatch.delitem(sys.modules, "deniable.estimate.present.chart", raising=False)
    monkeypatch.delattr("deniable.estimate.present.chart", raising=False)
    with pytest.raises(EstimateError, match=r"a chart needs the extra plot: pip install 'altair"):
        RESULTS.plot()
