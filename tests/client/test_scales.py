"""The library of scales: each file parses, is a valid part of a survey, and says why it is free to use."""

from __future__ import annotations

from pathlib import Path

import pytest

import deniable.scales
from deniable.scales import NAMES, ValidatedScale, all_scales, ids_of, with_new_ids
from deniable.survey import Survey

SIZES = {"phq2": 2, "phq9": 9, "gad2": 2, "gad7": 7, "pc_ptsd5": 6, "hrqol4": 4, "mini_ipip": 20}
RANGES = {"phq2": (0, 3), "phq9": (0, 3), "gad2": (0, 3), "gad7": (0, 3), "mini_ipip": (1, 5)}


def survey_of(scale: ValidatedScale, *before: dict[str, str]) -> Survey:
    questions = [*before, *with_new_ids(scale.questions, {one["id"] for one in before})]
    return Survey.from_dict({"deniable": "1", "id": "s", "title": "T", "about": "A", "epsilon": "4", "questions": questions})


def test_every_file_of_the_folder_is_in_the_list() -> None:
    folder = Path(deniable.scales.__file__).parent
    assert {file.stem for file in folder.glob("*.yaml")} == set(NAMES) == set(SIZES)


@pytest.mark.parametrize("scale", all_scales(), ids=lambda scale: scale.key)
def test_a_scale_is_a_valid_part_of_a_survey_and_names_its_source_and_licence(scale: ValidatedScale) -> None:
    survey = survey_of(scale)
    assert len(survey.questions) == SIZES[scale.key]
    for question in survey.questions if scale.key in RANGES else ():
        assert (question.scores[0], question.scores[-1]) == RANGES[scale.key]
    assert scale.licence.startswith(("Free: ", "Public domain: "))
    assert scale.year.isdigit()
    assert scale.year in scale.source or scale.key == "hrqol4"
    assert scale.name.split("-")[0].split()[0] in f"{scale.name} {scale.source}"


def test_items_that_share_a_stem_are_one_rating_block() -> None:
    phq9 = next(scale for scale in all_scales() if scale.key == "phq9")
    (block,) = phq9.questions
    assert (block["type"], block["text"].partition(",")[0], len(block["items"])) == ("rating", "Over the last 2 weeks", 9)
    assert [question.id for question in survey_of(phq9).questions] == [f"phq9_{number}" for number in range(1, 10)]


def test_items_of_a_block_get_new_ids_where_theirs_are_taken() -> None:
    phq2 = next(scale for scale in all_scales() if scale.key == "phq2")
    twice = [*phq2.questions, *with_new_ids(phq2.questions, ids_of(phq2.questions))]
    assert ids_of(twice) == ["phq2", "phq2_1", "phq2_2", "phq2_3", "phq2_1_2", "phq2_2_2"]


def test_ids_that_are_taken_change_and_conditions_follow() -> None:
    scale = next(scale for scale in all_scales() if scale.key == "pc_ptsd5")
    survey = survey_of(scale, {"id": "ptsd_event", "text": "Mine", "type": "yes_no"}, {"id": "ptsd_1", "text": "Mine", "type": "yes_no"})
    assert [question.id for question in survey.questions][:4] == ["ptsd_event", "ptsd_1", "ptsd_event_2", "ptsd_1_2"]
    conditions = [question.show_if for question in survey.questions[3:]]
    assert {part.question for condition in conditions if condition is not None for part in condition.conditions} == {"ptsd_event_2"}


def test_a_condition_on_a_question_that_is_not_inserted_is_left_out() -> None:
    question = {"id": "a", "text": "A", "type": "yes_no", "show_if": {"question": "elsewhere", "is": ["yes"]}}
    assert with_new_ids([question], set()) == [{"id": "a", "text": "A", "type": "yes_no"}]
