"""Each survey to begin with is valid, keeps what it says, and tells what it asks at the number of people that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

import deniable.topics
from deniable.plan.proposals import ROUGH, widest
from deniable.privacy.claims import facts_of
from deniable.survey import Survey
from deniable.survey.labels import warnings
from deniable.topics import TOPICS, Topic


def test_there_is_a_topic_for_every_file_and_a_file_for_every_topic() -> None:
    folder = Path(deniable.topics.__file__).parent
    assert sorted(path.stem for path in folder.glob("*.yaml")) == [topic.name for topic in TOPICS]
    assert len(TOPICS) == 12


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_a_topic_is_a_survey_without_a_warning(topic: Topic) -> None:
    survey = Survey.from_text(topic.text)
    assert (survey.id, survey.title) == (topic.name.replace("_", "-"), topic.title)
    assert f"For {topic.people:,} people" in topic.text
    assert widest(survey, topic.people) <= ROUGH
    assert facts_of(survey)["weaker"] in ("strong", "medium")
    assert list(warnings(survey.groups, topic.people)) == []
    assert "voluntary" in survey.about
    assert survey.contact


def test_a_topic_for_too_few_people_would_be_noticed() -> None:
    assert widest(Survey.from_text(TOPICS[0].text), 100) > ROUGH
