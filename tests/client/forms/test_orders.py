"""Random orders of other systems: rows of tables, and parts that become sections, each drawn or reported."""

from __future__ import annotations

from typing import Any

import pytest
from tests.client.forms import test_limesurvey, test_qualtrics

from deniable.forms.foreign import ForeignForm, ForeignNote, ForeignOption, ForeignQuestion, GroupEnd, GroupStart, Item
from deniable.forms.mapper import map_form
from deniable.forms.reading import read_form
from deniable.forms.report import ImportedForm
from deniable.survey import Survey
from deniable.survey.dump import to_yaml

STEPS = [ForeignOption(name, {"en": name}) for name in ("1", "2", "3")]


def row(name: str, table: str = "", **keys: Any) -> ForeignQuestion:
    return ForeignQuestion(name, "scale", {"en": name}, options=STEPS, grid=table, **keys)


def part(name: str, *items: Item, title: str | None = None, mixed_with: str = "set", **keys: Any) -> list[Item]:
    label = {"en": name if title is None else title} if title != "" else {}
    return [GroupStart(name, label, mixed_with=mixed_with, **keys), *items, GroupEnd()]


def mapped(*parts: list[Item]) -> ImportedForm:
    found = map_form(ForeignForm("F", "f", "en", "", [item for items in parts for item in items]))
    assert Survey.from_text(to_yaml(found.document)) == Survey.from_dict(found.document)
    return found


def lines(found: ImportedForm) -> dict[str, tuple[str, str]]:
    return {line.name: (line.verdict, line.why) for line in found.report}


def sections(found: ImportedForm) -> list[Any]:
    return [
        (question["section"]["title"], question["section"].get("fixed"))
        for question in found.document["questions"]
        if "section" in question
    ]


def test_parts_in_random_order_become_sections_and_the_others_stay() -> None:
    found = mapped(
        [row("first")],
        part("A", row("a"), mixed_with=""),
        part("B", row("b"), row("b2")),
        part("C", row("c")),
        part("D", row("d"), mixed_with=""),
    )
    assert found.document["section_order"] == "random"
    assert sections(found) == [("A", "true"), ("B", None), ("C", None), ("D", "true")]
    assert lines(found)["set"] == ("changed", "its parts are sections in random order")


def test_two_sets_apart_are_drawn_each_by_itself() -> None:
    found = mapped(
        *(part(name, row(name.lower()), mixed_with=mixed) for name, mixed in [("A", "x"), ("B", "x"), ("C", ""), ("D", "y"), ("E", "y")])
    )
    assert found.document["section_order"] == "random"
    assert sections(found) == [("A", None), ("B", None), ("C", "true"), ("D", None), ("E", None)]
    assert (lines(found)["x"][0], lines(found)["y"][0]) == ("changed", "changed")


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([part("A", row("a")), part("B", row("b"), title="")], "a part without a title is no section"),
        ([part("A", row("a")), part("B", row("b")), [row("c")]], "a part without a title is no section"),
        (
            [part("A", row("a")), part("B", row("b"), GroupStart("t", {"en": "T"}), row("c"), GroupEnd())],
            "a part has several headings, so it is several sections",
        ),
        ([part("A", row("a"), mixed_with="x"), part("B", row("b"))], "parts of several random sets follow each other"),
        ([part("A", row("a")), part("B", row("b"), mixed_with=""), part("C", row("c"))], "parts of several random sets follow each other"),
        ([part("A"), [row("b")]], "none of them is asked"),
    ],
)
def test_parts_whose_order_a_survey_cannot_draw_are_reported(parts: list[list[Item]], why: str) -> None:
    found = mapped(*parts)
    assert "section_order" not in found.document
    assert all(fixed is None for _, fixed in sections(found))
    assert lines(found)["set"] == ("refused", f"its parts have a fixed order: {why}")


def test_internal_names_are_headings_only_where_the_order_is_drawn() -> None:
    drawn = mapped(part("A", row("a"), has_internal_label=True), part("B", row("b"), has_internal_label=True))
    assert sections(drawn) == [("A", None), ("B", None)]
    assert lines(drawn)["set"][1].endswith("their headings are names that only you read in the form: rewrite them")
    fixed = mapped(part("A", row("a"), has_internal_label=True), part("B", row("b"), has_internal_label=True), [row("c")])
    assert (sections(fixed), "A" in lines(fixed)) == ([], False)


def test_rows_in_random_order_are_items_in_random_order_or_reported() -> None:
    table = [GroupStart("t", {"en": "How good?"}), *(row(name, "t", has_random_place=True) for name in ("a", "b")), GroupEnd()]
    found = mapped(part("A", *table, mixed_with=""))
    (block,) = found.document["questions"]
    assert (block["type"], block["text"], block["order"], block["section"]) == ("rating", "How good?", "random", {"title": "A"})
    single = mapped([GroupStart("t", {"en": "How good?"}), row("a", "t", has_random_place=True), GroupEnd()])
    assert lines(single)["a"] == ("changed", "the rows of its table have a fixed order")


def test_a_long_text_of_a_table_is_the_text_of_its_block() -> None:
    text = "How good? " * 30
    table = [GroupStart("t", {}), ForeignNote("t: text", {"en": text}), row("a", "t"), row("b", "t"), GroupEnd()]
    (block,) = mapped(part("A", *table, mixed_with="")).document["questions"]
    assert (block["text"], block["section"]) == (text.strip(), {"title": "A"})


def test_random_groups_and_subquestions_of_limesurvey() -> None:
    group = {
        "gid": "2",
        "group_name": "Work",
        "group_order": "1",
        "description": "",
        "language": "en",
        "grelevance": "",
        "randomization_group": "r",
    }
    other = {**group, "gid": "3", "group_name": "Home", "group_order": "2"}
    work, home = (
        test_limesurvey.question(qid, "Y", name, "?") | {"gid": gid} for qid, name, gid in (("50", "work", "2"), ("51", "home", "3"))
    )
    tables = test_limesurvey.TABLES
    groups = [{**tables["groups"][0]}, group, other]
    attributes = [*tables["question_attributes"], test_limesurvey.attribute("4", "random_order", "1")]
    found = test_limesurvey.imported(groups=groups, questions=[*tables["questions"], work, home], question_attributes=attributes)
    assert found.document["section_order"] == "random"
    assert sections(found) == [("Your health", "true"), ("Work", None), ("Home", None)]
    assert next(one for one in found.document["questions"] if one["id"] == "rate_pay_block")["order"] == "random"
    assert lines(found)["randomization_group r"] == ("changed", "its parts are sections in random order")
    assert "fixed order" not in lines(found)["rate_pay"][1]


def test_random_blocks_and_statements_of_qualtrics(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, numbers in {"first": [1, 4], "main": [7], "loop": []}.items():
        monkeypatch.setitem(test_qualtrics.BLOCKS, name, numbers)
    questions = [one | ({"Randomization": {"Type": "All"}} if one["DataExportTag"] == "Q4" else {}) for one in test_qualtrics.QUESTIONS]
    blocks = [{"Type": "Block", "ID": name} for name in ("first", "main")]
    flow = [{"Type": "BlockRandomizer", "FlowID": "FL_2", "SubSet": 2, "Flow": blocks}]
    found = read_form(test_qualtrics.qsf(questions, flow))
    assert next(one for one in found.document["questions"] if one["id"] == "Q4_1_block")["order"] == "random"
    assert (lines(found)["FL_2"][0], sections(found)) == ("changed", [("first", None), ("main", None)])
    assert found.document["section_order"] == "random"
    inside = [{"Type": "Group", "FlowID": "FL_3", "Flow": flow}]
    found = read_form(test_qualtrics.qsf(questions, inside))
    assert (lines(found)["FL_2"], sections(found)) == (("refused", "its parts have a fixed order"), [])
