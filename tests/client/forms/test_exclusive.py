"""A constraint that keeps an option from others becomes an exclusive option, in the spellings that forms have; others are left out."""

from __future__ import annotations

import pytest
from tests.client.forms.test_mapper import workbook

from deniable.forms import read_form
from deniable.forms.xlsform.exclusive import SelectionRules, selection_rules
from deniable.survey import Survey


@pytest.mark.parametrize(
    ("constraint", "names"),
    [
        ("not(selected(., 'none') and count-selected(.) > 1)", ["none"]),
        ('not (selected(.,"none") and count-selected(.)>=2)', ["none"]),
        ("not(count-selected(.) > 1 and selected(., 'none'))", ["none"]),
        ("not(selected(., 'none')) or count-selected(.) = 1", ["none"]),
        ("count-selected(.) <= 1 or not(selected(., '99'))", ["99"]),
        ("if(selected(., 'none'), count-selected(.)=1, true())", ["none"]),
        ("(not(selected(., 'none') and count-selected(.) > 1)) and not(selected(., 'dk') and count-selected(.)>1)", ["none", "dk"]),
        ("not(selected(., 'a and b') and count-selected(.) > 1)", ["a and b"]),
        ("not(selected(., 'none') and count-selected(.) > 2)", None),
        ("not(selected(., 'none') or count-selected(.) > 1)", None),
        ("selected(., 'none') and count-selected(.) > 1", None),
        ("not(selected(${other}, 'none') and count-selected(.) > 1)", None),
        ("not(selected(., 'a') and selected(., 'b'))", None),
        ("((((", None),
        (")(", None),
        ("", None),
    ],
)
def test_the_usual_spellings_are_read_and_no_others(constraint: str, names: list[str] | None) -> None:
    assert selection_rules(constraint) == (None if names is None else SelectionRules(tuple(names)))


@pytest.mark.parametrize(
    ("constraint", "rules"),
    [
        ("count-selected(.) <= 3", SelectionRules(at_most=3)),
        ("count-selected( . )<4", SelectionRules(at_most=3)),
        ("3 >= count-selected(.)", SelectionRules(at_most=3)),
        ("4 > count-selected(.)", SelectionRules(at_most=3)),
        ("count-selected(.) >= 2", SelectionRules(at_least=2)),
        ("count-selected(.) > 1", SelectionRules(at_least=2)),
        ("1 < count-selected(.)", SelectionRules(at_least=2)),
        ("count-selected(.) = 2", SelectionRules(at_least=2, at_most=2)),
        ("(count-selected(.) >= 1) and (count-selected(.) <= 3)", SelectionRules(at_least=1, at_most=3)),
        ("count-selected(.) <= 3 and count-selected(.) <= 2", SelectionRules(at_most=2)),
        ("not(selected(., 'none') and count-selected(.) > 1) and count-selected(.) < 4", SelectionRules(("none",), at_most=3)),
        ("not(selected(., 'none') and count-selected(.) > 1) and count-selected(.) > 1", None),  # the form never allows `none`
        ("count-selected(.) <= ${most}", None),
        ("count-selected(${other}) <= 3", None),
        ("count-selected(.) <= 3 or count-selected(.) = 5", None),
        ("count-selected(.) != 2", None),
        ("count-selected(.) <= 2.5", None),
    ],
)
def test_limits_are_read_in_either_direction(constraint: str, rules: SelectionRules | None) -> None:
    assert selection_rules(constraint) == rules


HEAD = ("type", "name", "label", "constraint")
CHOICES = [("list_name", "name", "label"), *(("d", name, name.title()) for name in ("tea", "coffee", "none", "dk"))]


def imported(constraint: str, kind: str = "select_multiple d") -> tuple[Survey, str]:
    found = read_form(workbook([HEAD, (kind, "drinks", "Which?", constraint)], CHOICES), "form")
    [why] = [line.why for line in found.report if line.name == "drinks"]
    return Survey.from_dict(found.document), why


def test_an_import_keeps_the_rule_and_no_longer_calls_the_constraint_left_out() -> None:
    survey, why = imported("not(selected(., 'none') and count-selected(.) > 1) and not(selected(., 'dk') and count-selected(.) > 1)")
    assert (survey.questions[0].exclusive, survey.questions[0].none) == (("Dk", "None"), "None")  # and the page adds no second one
    assert "constraint" not in why


@pytest.mark.parametrize(
    ("constraint", "keys"),
    [
        ("count-selected(.) <= 2", {"at_most": "2"}),
        ("count-selected(.) = 3", {"at_least": "3", "at_most": "3"}),
        ("count-selected(.) >= 1 and count-selected(.) <= 4", {"at_least": "1"}),  # four are all of them
        ("count-selected(.) <= 9", {}),
        ("not(selected(., 'none') and count-selected(.) > 1) and count-selected(.) <= 2", {"none": "None", "at_most": "2"}),
    ],
)
def test_an_import_keeps_the_limits_that_refuse_an_answer(constraint: str, keys: dict[str, str]) -> None:
    head = read_form(workbook([HEAD, ("select_multiple d", "drinks", "Which?", constraint)], CHOICES), "form")
    [question] = head.document["questions"]
    assert {key: question[key] for key in ("none", "exclusive", "at_least", "at_most") if key in question} == keys
    assert not any("left out" in line.why for line in head.report)
    Survey.from_dict(head.document)


@pytest.mark.parametrize("constraint", ["count-selected(.) >= 4", "count-selected(.) > 7", "count-selected(.) < 1"])
def test_limits_that_no_survey_can_have_are_called_left_out(constraint: str) -> None:
    survey, why = imported(constraint)
    assert (survey.questions[0].limits, "the limits of how many options may be chosen are left out" in why) == (None, True)


@pytest.mark.parametrize("constraint", ["not(selected(., 'milk') and count-selected(.) > 1)", "count-selected(.) <= 2 or today() > 3"])
def test_a_constraint_that_names_no_option_or_says_more_is_called_left_out(constraint: str) -> None:
    survey, why = imported(constraint)
    assert (survey.questions[0].exclusive, "its constraint is left out" in why) == ((), True)
