"""The forms that results take, and that nothing in them harms a spreadsheet or a terminal."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import EstimateError
from deniable.estimate import MeanRow, Results, Row

YES = Row(
    "smokes", "yes", 1000, 240, -0.02, 0.027, 0.0, 0.031, 0.0, 1.0986, 0.95, "feldman-cousins", "population", 0.25, "below 0 by chance"
)
NO = replace(YES, option="no", ones=760, estimate=1.02, low=0.969, high=1.0, adjusted=1.0, warning="")
EMPTY = replace(YES, n=0, ones=0, estimate=None, std_error=None, low=None, high=None, adjusted=None, warning="no reports yet")
RESULTS = Results("health", "A study of health", "ab" * 32, 1000, 1.0986, (YES, NO))


def cells(results: Results, bom: bool = False) -> list[list[str]]:
    return list(csv.reader(io.StringIO(results.to_csv(bom=bom), newline="")))


def test_the_fields_of_a_row_stand_in_the_documented_order() -> None:
    order = "question option n ones estimate std_error low high adjusted epsilon confidence method target chance_rate warning"
    assert " ".join(field.name for field in fields(Row) if field.compare) == order


def test_json_and_back_is_the_same() -> None:
    assert Results.from_dict(json.loads(RESULTS.to_json())) == RESULTS
    assert Results.from_dict(replace(RESULTS, rows=(EMPTY,), simultaneous=True).to_dict()) == replace(
        RESULTS, rows=(EMPTY,), simultaneous=True
    )


def test_json_has_null_where_there_is_no_estimate() -> None:
    row = json.loads(replace(RESULTS, rows=(EMPTY,)).to_json())["rows"][0]
    assert [row[key] for key in ("estimate", "std_error", "low", "high", "adjusted")] == [None] * 5


@pytest.mark.parametrize("broken", [{}, {"rows": [{"question": "q"}]}, {**RESULTS.to_dict(), "other": 1}, {**RESULTS.to_dict(), "rows": 3}])
def test_a_dict_that_is_no_results_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(EstimateError, match="must have the keys that to_dict gives"):
        Results.from_dict(broken)


@pytest.mark.parametrize("value", [10**400, -1, True, 1.5, "7", None, [7]])
def test_a_count_is_a_whole_number_that_can_be_one(value: object) -> None:
    found = RESULTS.to_dict()
    for broken in ({**found, "n": value}, {**found, "rows": [{**found["rows"][0], "ones": value}]}):
        with pytest.raises(EstimateError, match=r"must be a whole number from 0 to 2\^63 - 1, got .{1,50}$"):
            Results.from_dict(broken)


@pytest.mark.parametrize("value", [10**400, math.nan, math.inf, True, "0.5"])
def test_an_estimate_is_a_finite_number_or_none(value: object) -> None:
    found = RESULTS.to_dict()
    with pytest.raises(EstimateError, match=r"Row\.estimate must be a finite number or null, got"):
        Results.from_dict({**found, "rows": [{**found["rows"][0], "estimate": value}]})


def test_a_text_has_an_end() -> None:
    with pytest.raises(EstimateError, match="title must be a text of at most 65,536 characters"):
        Results.from_dict({**RESULTS.to_dict(), "title": "x" * 100_000})


def test_csv_has_the_rows_under_their_fields_names() -> None:
    header, yes, _ = cells(RESULTS)
    assert header == ["figure", *(field.name for field in fields(Row) if field.compare), "scale_low", "scale_high"]
    assert yes[:6] == ["share", "smokes", "yes", "1000", "240", "-0.02"]


def test_csv_has_an_empty_cell_where_there_is_no_estimate() -> None:
    assert cells(replace(RESULTS, rows=(EMPTY,)))[1][5:10] == [""] * 5


def test_csv_begins_with_a_byte_order_mark_only_on_request() -> None:
    assert RESULTS.to_csv(bom=True) == "\ufeff" + RESULTS.to_csv()
    assert not RESULTS.to_csv().startswith("\ufeff")


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")
texts = st.text(st.characters(blacklist_categories=("Cs",)), max_size=20)
labels = st.tuples(st.sampled_from([*FORMULA, "'", '"', ",", ""]), texts).map("".join)


@given(option=labels, question=labels, warning=labels, estimate=st.floats(-2, 2))
def test_no_text_cell_is_a_formula_and_every_number_is_a_number(option: str, question: str, warning: str, estimate: float) -> None:
    row = replace(YES, option=option, question=question, warning=warning, estimate=estimate)
    found = cells(replace(RESULTS, rows=(row,)))[1]
    assert not any(cell.startswith(FORMULA) and not is_number(cell) for cell in found)
    assert float(found[5]) == estimate
    for cell, text in zip((found[1], found[2], found[15]), (question, option, warning), strict=True):
        assert cell in (text, f"'{text}")


def test_the_formula_test_fails_for_a_plain_csv_writer() -> None:
    out = io.StringIO()
    csv.writer(out).writerow(["=1+1"])
    assert next(csv.reader(io.StringIO(out.getvalue())))[0].startswith("=")


def test_an_option_that_is_a_number_of_its_own_is_text_and_gets_an_apostrophe() -> None:
    assert cells(replace(RESULTS, rows=(replace(YES, option="-5"),)))[1][2] == "'-5"


def test_the_table_is_aligned_and_explains_itself() -> None:
    assert RESULTS.to_table() == (
        "A study of health (health)\n"
        "1,000 reports · epsilon 1.099 for the whole survey · 95% intervals (feldman-cousins) · target: population\n"
        "\n"
        "question  option  estimate  std error       interval  adjusted\n"
        "smokes    yes        -2.0%       2.7%     0.0 – 3.1%      0.0%  [1]\n"
        "smokes    no        102.0%       2.7%  96.9 – 100.0%    100.0%\n"
        "\n"
        "[1] below 0 by chance\n"
    )
    assert RESULTS.summary() == RESULTS.to_table()


def test_the_table_says_when_intervals_hold_together_and_when_there_is_nothing() -> None:
    assert "a question's options holding together" in replace(RESULTS, simultaneous=True).to_table()
    assert "[1] no reports yet" in replace(RESULTS, rows=(EMPTY,)).to_table()
    assert "question" in replace(RESULTS, rows=()).to_table()


def test_wide_characters_keep_the_table_aligned() -> None:
    lines = replace(RESULTS, rows=(replace(YES, option="日本"), replace(YES, option="abcd"))).to_table().splitlines()
    wide, narrow = (line.split("-2.0%")[0] for line in lines[4:6])
    assert len(narrow) - len(wide) == 2


def test_a_text_cannot_steer_the_terminal() -> None:
    table = replace(RESULTS, title="\x1b[2Jhi\n\nthere", rows=(replace(YES, option="a\x1b]0;x\x07\tb"),)).to_table()
    assert all(c.isprintable() or c == "\n" for c in table)
    assert table.splitlines()[0] == "\N{REPLACEMENT CHARACTER}[2Jhi there (health)"


def test_a_frame_has_a_line_for_each_row() -> None:
    frame = RESULTS.to_frame()
    assert list(frame.columns) == RESULTS.to_csv().splitlines()[0].split(",")
    assert frame["estimate"].tolist() == [-0.02, 1.02]
    assert replace(RESULTS, rows=()).to_frame().empty


def test_conf_int_has_the_limits_by_question_and_option() -> None:
    limits = RESULTS.conf_int()
    assert limits.loc[("smokes", "no")].tolist() == [0.969, 1.0]
    assert list(limits.columns) == ["low", "high"]


def test_limits_of_another_confidence_are_refused_and_say_what_has_them() -> None:
    for one in (RESULTS, RESULTS.rows[0], MOOD):
        assert str(one.conf_int(alpha=0.05)) == str(one.conf_int(confidence=0.95)) == str(one.conf_int())
        with pytest.raises(EstimateError, match=r"confidence must be 0\.95, which these limits have, got 0\.9; Analysis\.conf_int"):
            one.conf_int(alpha=0.1)
        with pytest.raises(EstimateError, match="must not be given together"):
            one.conf_int(alpha=0.05, confidence=0.95)
        with pytest.raises(EstimateError, match="alpha must be above 0 and below 1, got 95"):
            one.conf_int(alpha=95)


MOOD = MeanRow("mood", 1000, -2.6824, 0.0551, -2.7903, -2.574, 1.0986, 0.95, "population", -5.0, 5.0)
NO_MEAN = replace(MOOD, question="pain", mean=None, std_error=None, low=None, high=None)
SCORED = replace(RESULTS, means=(MOOD, NO_MEAN))


def test_means_follow_the_rows_in_json_and_may_be_left_out_of_it() -> None:
    assert list(SCORED.to_dict())[-2:] == ["rows", "means"]
    assert list(SCORED.to_dict()["means"][0]) == [
        *("question", "n", "mean", "std_error", "low", "high", "epsilon", "confidence", "target", "scale_low", "scale_high", "warning")
    ]
    assert Results.from_dict(json.loads(SCORED.to_json())) == SCORED
    without = {key: value for key, value in SCORED.to_dict().items() if key != "means"}
    assert Results.from_dict(without) == RESULTS


@pytest.mark.parametrize("means", [3, [3], [{"question": "q"}], [{**SCORED.to_dict()["means"][0], "more": 1}]])
def test_means_that_are_none_are_refused(means: object) -> None:
    with pytest.raises(EstimateError, match="the keys that to_dict gives"):
        Results.from_dict({**SCORED.to_dict(), "means": means})


def test_means_come_first_with_their_scale_and_the_shares_after_them() -> None:
    assert SCORED.to_table() == (
        "A study of health (health)\n"
        "1,000 reports · epsilon 1.099 for the whole survey · 95% intervals (feldman-cousins) · target: population\n"
        "\n"
        "question    mean  std error         interval   scale\n"
        "mood      -2.682      0.055  -2.790 – -2.574  -5 – 5\n"
        "pain                                          -5 – 5\n"
        "\n"
        "question  option  estimate  std error       interval  adjusted\n"
        "smokes    yes        -2.0%       2.7%     0.0 – 3.1%      0.0%  [1]\n"
        "smokes    no        102.0%       2.7%  96.9 – 100.0%    100.0%\n"
        "\n"
        "[1] below 0 by chance\n"
    )


def test_means_are_in_the_csv_and_in_a_frame_of_their_own() -> None:
    header, *lines = cells(SCORED)
    mood = dict(zip(header, lines[2], strict=True))
    assert [line[0] for line in lines] == ["share", "share", "mean", "mean"]
    assert [mood[key] for key in ("question", "n", "estimate", "low", "high", "epsilon")] == [
        *("mood", "1000", "-2.6824", "-2.7903", "-2.574", "1.0986")
    ]
    assert [mood[key] for key in ("option", "ones", "adjusted", "chance_rate", "scale_low", "scale_high")] == [
        "",
        "",
        "",
        "",
        "-5.0",
        "5.0",
    ]
    assert SCORED.to_frame("mean")["estimate"].tolist()[0] == -2.6824
    assert SCORED.to_frame()["figure"].tolist() == ["share", "share", "mean", "mean"]
    assert SCORED.to_frame("share")["ones"].tolist() == [row.ones for row in SCORED.rows] == SCORED.to_frame()["ones"].tolist()[:2]
    with pytest.raises(EstimateError, match="table must be one of share, mean, got 'median'"):
        SCORED.to_frame("median")


@pytest.mark.parametrize("form", ["to_csv", "to_json", "to_table"])
def test_a_form_is_given_as_text_or_written_to_the_path_that_is_named(form: str, tmp_path: Path) -> None:
    path = tmp_path / "results.txt"
    assert getattr(SCORED, form)(path) is None
    assert path.read_bytes() == getattr(SCORED, form)().encode()
    assert getattr(SCORED, form)(str(path)) is None
    with pytest.raises(OSError, match="nowhere"):
        getattr(SCORED, form)(tmp_path / "nowhere" / "results.txt")


def test_a_written_csv_keeps_its_byte_order_mark_and_its_line_ends(tmp_path: Path) -> None:
    SCORED.to_csv(tmp_path / "a.csv", bom=True)
    assert (tmp_path / "a.csv").read_bytes().startswith(b"\xef\xbb\xbffigure,")
    assert (tmp_path / "a.csv").read_bytes().count(b"\r\n") == (tmp_path / "a.csv").read_bytes().count(b"\n") == 5


MANY = replace(SCORED, rows=(*SCORED.rows, *(replace(YES, question=f"drugs[{name}]", option=o) for name in "ab" for o in ("yes", "no"))))


def test_results_print_as_their_table_and_iterate_over_their_rows() -> None:
    assert str(SCORED) == SCORED.to_table() == SCORED.summary()
    assert [*SCORED] == [YES, NO]
    assert len(SCORED) == 2


def test_a_question_of_the_results_is_found_by_its_id_and_a_row_by_its_option_too() -> None:
    assert SCORED["smokes"] == replace(SCORED, means=())
    assert SCORED["mood"].rows == ()
    assert SCORED["mood"].means == (MOOD,)
    assert SCORED["smokes", "no"] == NO
    assert "smokes" in SCORED
    assert "drinks" not in SCORED


def test_the_items_of_a_multiple_choice_are_found_together_or_alone() -> None:
    assert [row.question for row in MANY["drugs"]] == ["drugs[a]", "drugs[a]", "drugs[b]", "drugs[b]"]
    assert [row.question for row in MANY["drugs[b]"]] == ["drugs[b]", "drugs[b]"]
    assert "drugs" in MANY


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("drinks", "the question must be one of the results .smokes., got 'drinks'"),
        ("smoke", "the question must be one of the results .smokes., got 'smoke'; did you mean 'smokes'"),
        (("smokes", "maybe"), "the option must be one of question smokes .yes, no., got 'maybe'"),
        (("drinks", "yes"), "the question must be one of the results .smokes., got 'drinks'"),
    ],
)
def test_what_is_not_in_the_results_is_refused_by_name(key: str, message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        RESULTS[key]


@pytest.mark.parametrize(
    ("std_error", "written"), [(123.4, "12,346"), (9.6, "12,345.7"), (0.5, "12,345.68"), (0.0071, "12,345.6789"), (0.0, "12,345.68")]
)
def test_a_mean_has_as_many_digits_as_its_error_warrants(std_error: float, written: str) -> None:
    shown = replace(MOOD, mean=12345.6789, std_error=std_error).figures[0]
    assert shown == written


class _Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags += [tag, *(name for name, _ in attrs)]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.slow
@given(text=st.text(max_size=20) | st.sampled_from(["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "&lt;b&gt;", "<!--"]))
def test_no_text_becomes_markup_in_a_notebook(text: str) -> None:
    row = replace(YES, question=text, option=text, warning=f"below 0 {text}")
    shown = _Tags(replace(SCORED, title=text, survey=text, rows=(row,), means=(replace(MOOD, question=text),))._repr_html_())
    assert set(shown.tags) <= {"div", "p", "strong", "br", "small", "table", "thead", "tbody", "tr", "th", "td", "style", "scope"}


def test_the_markup_test_fails_for_a_text_that_is_not_escaped() -> None:
    assert "script" in _Tags(RESULTS._repr_html_().replace("yes", "<script>")).tags


def test_a_notebook_shows_estimates_means_and_warnings() -> None:
    texts = _Tags(SCORED._repr_html_()).texts
    for expected in ("A study of health (health)", "smokes", "-2.0%", "0.0 – 3.1%", "mood", "-2.682", "[1] below 0 by chance"):
        assert expected in texts
