"""A survey of LimeSurvey becomes a survey with a report: its question types, conditions and languages."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

import pytest
from tests.client.forms.test_mapper import verdicts

from deniable.errors import SurveyError
from deniable.forms import ImportedForm, form_kind, read_form
from deniable.forms.limesurvey.expressionscript import translate
from deniable.forms.xlsform.xpath import Expressions
from deniable.survey import Survey
from deniable.survey.dump import to_yaml

Row = dict[str, str]


def lss(kind: str = "Survey", **tables: list[Row]) -> bytes:
    """A file with these tables."""
    parts = []
    for name, rows in tables.items():
        cells = ["".join(f"<{key}><![CDATA[{value}]]></{key}>" for key, value in row.items()) for row in rows]
        parts.append(f"<{name}><fields/><rows>{''.join(f'<row>{row}</row>' for row in cells)}</rows></{name}>")
    head = f"<LimeSurveyDocType>{escape(kind)}</LimeSurveyDocType><languages><language>en</language><language>de</language></languages>"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<document>{head}{"".join(parts)}</document>'.encode()


def question(qid: str, kind: str, title: str, text: str, **more: str) -> Row:
    return {"qid": qid, "parent_qid": "0", "sid": "1", "gid": "1", "type": kind, "title": title, "question": text, "language": "en"} | (
        {"question_order": qid, "mandatory": "Y", "other": "N", "relevance": "1"} | more
    )


def child(qid: str, parent: str, title: str, text: str) -> Row:
    return {
        "qid": qid,
        "parent_qid": parent,
        "sid": "1",
        "gid": "1",
        "title": title,
        "question": text,
        "question_order": qid,
        "language": "en",
    }


def answers(qid: str, *labels: str) -> list[Row]:
    rows = [{"qid": qid, "code": f"A{order}", "answer": label, "sortorder": str(order)} for order, label in enumerate(labels, 1)]
    return [{**row, "language": "en", "scale_id": "0"} for row in rows]


def attribute(qid: str, name: str, value: str) -> Row:
    return {"qid": qid, "attribute": name, "value": value}


TABLES: dict[str, list[Row]] = {
    "groups": [{"gid": "1", "group_name": "Your <b>health</b>", "group_order": "0", "description": "", "language": "en", "grelevance": ""}],
    "questions": [
        question("1", "Y", "smokes", "Do you smoke?"),
        question("1", "Y", "smokes", "Rauchen Sie?", language="de"),
        question("2", "L", "often", "How often?", relevance='((smokes.NAOK == "Y"))', other="Y"),
        question("3", "M", "days", "When?", mandatory="N"),
        question("4", "F", "rate", "How good is", relevance='days_mo.NAOK == "Y" and !is_empty(often.NAOK)'),
        question("5", "N", "age", "How old, {smokes.shown}?"),
        question("6", "N", "kids", "How many children?"),
        question("7", "5", "mood", "Mood?", relevance="age.NAOK >= 18 or TOKEN:X == 'a'"),
        question("8", "T", "why", "Why?"),
        question("9", "X", "bye", "Thank you."),
        question("10", "G", "sex", "Sex?", relevance="rate_pay != 'A1' && 1"),
        question("11", "!", "food", "Food?", relevance="often.NAOK == '-oth-'"),
        question("12", "R", "order", "Order?"),
        question("13", "L", "off", "Off?", relevance="0"),
        question("14", "D", "born", "Born?"),
    ],
    "subquestions": [
        child("31", "3", "mo", "Monday"),
        child("32", "3", "no", "never"),
        child("41", "4", "pay", "the pay"),
        child("42", "4", "boss", "the boss"),
    ],
    "answers": [
        *answers("2", "daily", "weekly"),
        *answers("4", "bad", "so so", "good"),
        *answers("11", "rice", "bread"),
        *answers("13", "a", "b"),
    ],
    "question_attributes": [
        attribute("5", "min_num_value_n", "18"),
        attribute("5", "max_num_value_n", "99"),
        attribute("5", "num_value_int_only", "1"),
        attribute("3", "exclude_all_others", "no"),
        attribute("2", "random_order", "1"),
        attribute("11", "array_filter", "days"),
    ],
    "surveys": [{"sid": "1", "language": "en"}],
    "surveys_languagesettings": [{"surveyls_title": "Habits", "surveyls_language": "en"}],
    "quota": [{"id": "1"}],
}


def imported(**changed: list[Row]) -> ImportedForm:
    found = read_form(lss(**{**TABLES, **changed}), "file")
    assert Survey.from_text(to_yaml(found.document)) == Survey.from_dict(found.document)
    return found


def test_question_types_and_conditions_become_those_of_a_survey() -> None:
    document = imported().document
    by_id: dict[str, Any] = {one["id"]: one for one in document["questions"]}
    assert (document["title"], document["id"]) == ("Habits", "habits")
    assert {name: one["type"] for name, one in by_id.items()} == {
        "smokes": "yes_no",
        "often": "choice",
        "days": "multi_choice",
        "rate_pay_block": "rating",
        "age": "number",
        "mood": "scale",
        "sex": "choice",
        "food": "choice",
    }
    assert by_id["often"]["options"] == ["daily", "weekly", "Other"]
    assert by_id["often"]["show_if"] == {"question": "smokes", "is": ["yes"]}
    assert by_id["rate_pay_block"]["show_if"] == {
        "all": [{"question": "days", "is": ["Monday"]}, {"question": "often", "is": ["daily", "weekly", "Other"]}]
    }
    assert (by_id["age"]["low"], by_id["age"]["high"], by_id["mood"]["options"]) == ("18", "99", ["1", "2", "3", "4", "5"])
    assert by_id["food"]["show_if"] == {"question": "often", "is": ["Other"]}
    assert by_id["sex"]["show_if"] == {"question": "rate_pay", "is": ["so so", "good"]}
    assert (by_id["days"]["exclusive"] if "exclusive" in by_id["days"] else by_id["days"].get("none"), by_id["days"]["required"]) == (
        ["never"],
        "false",
    )
    assert by_id["smokes"]["section"] == {"title": "Your health"}
    assert document["translations"]["de"]["questions"]["smokes"] == {"text": "Rauchen Sie?"}


def test_everything_else_is_reported_with_its_reason() -> None:
    lines = verdicts(imported())
    assert {name: lines[name][0] for name in ("why", "order", "off", "born", "kids", "bye", "quota")} == dict.fromkeys(
        ("why", "order", "off", "born", "kids", "bye", "quota"), "refused"
    ) | {"bye": "changed" if lines["bye"][0] == "changed" else "refused"}
    assert lines["kids"][1] == "a number needs two ends: it has no least and greatest value"
    assert lines["off"][1] == "its condition is false(): the form asks no one"
    assert "a survey cannot express its condition" in lines["mood"][1]
    assert "all respondents are offered all options" in lines["food"][1]
    assert "people who skip the earlier question are not asked this one" in lines["sex"][1]
    assert lines["age"] == ("mapped", "as a number")


def test_a_question_with_fixed_options_adds_no_language_to_a_survey() -> None:
    document = imported().document
    sex = next(one for one in document["questions"] if one["id"] == "sex")
    assert sex["options"] == ["Female", "Male"]
    assert set(document["translations"]) == {"de"}, "the file names English and German"
    assert document["translations"]["de"]["questions"]["sex"]["options"] == ["Weiblich", "Männlich"]


def test_quotas_are_set_after_publishing() -> None:
    assert verdicts(imported())["quota"][1] == "quotas are left out: after publishing, set them for each group on the page Settings"


def test_the_report_describes_answers_as_the_editor_does() -> None:
    reasons = {name: line[1] for name, line in verdicts(imported()).items()}
    assert reasons["smokes"] == "as yes or no"
    assert not any(f"as {key}" in reason for key in ("yes_no", "multi_choice") for reason in reasons.values())


def test_a_question_and_newer_tables_of_texts_are_read() -> None:
    rows = [{**question("1", "L", "q", ""), "language": ""}]
    for row in rows:
        del row["question"], row["language"]
    options = [{"aid": str(place), "qid": "1", "code": f"A{place}", "sortorder": str(place), "scale_id": "0"} for place in (1, 2)]
    texts = {
        "question_l10ns": [
            {"qid": "1", "question": text, "language": language} for text, language in (("Which?", "en"), ("Was?", "de-informal"))
        ],
        "answer_l10ns": [
            {"aid": aid, "answer": f"{language} {aid}", "language": language} for aid in "12" for language in ("en", "de-informal")
        ],
    }
    document = read_form(lss("Question", questions=rows, answers=options, **texts), "One").document
    assert (document["questions"][0]["text"], document["questions"][0]["options"]) == ("Which?", ["en 1", "en 2"])
    assert document["translations"] == {"de": {"questions": {"q": {"text": "Was?", "options": ["de 1", "de 2"]}}}} or (
        document["translations"]["de"]["questions"]["q"]["text"] == "Was?"
    )


def test_old_tables_of_conditions_are_read() -> None:
    first, second = question("1", "Y", "a", "A?"), question("2", "Y", "b", "B?")
    del first["relevance"], second["relevance"]
    condition = {"qid": "2", "cqid": "1", "cfieldname": "1X1X1", "method": "==", "value": "N", "scenario": "1"}
    document = read_form(lss(questions=[first, second], conditions=[condition]), "f").document
    assert document["questions"][1]["show_if"] == {"question": "a", "is": ["no"]}


@pytest.mark.parametrize(
    ("script", "xpath"),
    [
        ("{a.NAOK == 'Y'}", "${a} = 'Y'"),
        ('!is_empty(a.NAOK) && a ne "N"', "not((${a} = '')) and ${a} != \"N\""),
        ("!(a eq 'Y' or a lt 3)", "not(( ${a} = 'Y' or ${a} < 3 ))"),
        ("sum(a.NAOK, a) ge 5", "(${a} + ${a}) >= 5"),
        ("count(that.a) > 0", "count ( that.a ) > 0"),
        ("a.shown == 'x'", "a.shown = 'x'"),
    ],
)
def test_expressions_are_translated(script: str, xpath: str) -> None:
    assert translate(script, {"a": "a"}.get) == xpath
    Expressions().parse(xpath)


@pytest.mark.parametrize(
    "raw",
    [
        b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><document>&a;</document>',
        b'<?xml version="1.0"?><!DOCTYPE x SYSTEM "file:///etc/passwd"><document/>',
        b"<document><LimeSurveyDocType>Survey</LimeSurveyDocType>",
        b"<document><LimeSurveyDocType>Labelset</LimeSurveyDocType></document>",
        lss(questions=[{"qid": "1"}] * 100_001),
        b"<?xml version='1.0'?>" + b" " * (8 << 20),
    ],
)
def test_a_hostile_file_is_refused_in_one_line(raw: bytes) -> None:
    assert form_kind(raw) == "LimeSurvey"
    with pytest.raises(SurveyError, match="must ") as refused:
        read_form(raw)
    assert len(refused.value.problems) == 1


@pytest.mark.parametrize(
    ("limits", "keys", "is_left_out"),
    [
        ({"max_answers": "2"}, {"at_most": "2"}, False),
        ({"min_answers": "1", "max_answers": "2"}, {"at_least": "1", "at_most": "2"}, False),
        ({"min_answers": "3"}, {}, True),
        ({"max_answers": "{N.NAOK}"}, {}, True),
        ({"max_answers": "9"}, {}, False),
    ],
)
def test_the_numbers_of_answers_become_limits_or_are_reported(limits: dict[str, str], keys: dict[str, str], is_left_out: bool) -> None:
    days = [*TABLES["subquestions"], child("33", "3", "tu", "Tuesday"), child("34", "3", "we", "Wednesday")]
    attributes = [attribute("3", *one) for one in {"exclude_all_others": "no", **limits}.items()]
    found = imported(subquestions=days, question_attributes=attributes)
    [question] = [one for one in found.document["questions"] if one["id"] == "days"]
    assert {key: question[key] for key in ("at_least", "at_most") if key in question} == keys
    assert ("limits of how many options" in verdicts(found)["days"][1]) == is_left_out
