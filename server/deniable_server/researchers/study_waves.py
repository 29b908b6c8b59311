"""Waves of a study on the Waves page: the list that the researcher may see, and the two that are compared."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from deniable_server.store.protocol import Published, Store
from deniable_server.store.studies import Wave


@dataclass(frozen=True)
class ListedWave:
    """A wave that the researcher may see, and its survey."""

    wave: Wave
    published: Published


def study_waves(store: Store, survey_id: str, visible: Collection[str]) -> tuple[ListedWave, ...]:
    """Returns the waves of a survey's study, by number; empty if it is in no study, or its other waves may not be seen."""
    own = store.studies.wave(survey_id)
    waves = [wave for wave in store.studies.waves(own.study) if wave.survey in visible] if own else []
    return tuple(ListedWave(wave, store.surveys.published(wave.survey)) for wave in waves) if len(waves) > 1 else ()


def neighbour(waves: Collection[ListedWave], survey_id: str) -> str:
    """Returns the wave before a survey, or for the first one the wave after it; empty without one."""
    ids = [listed.wave.survey for listed in waves]
    if survey_id not in ids:
        return ""
    position = ids.index(survey_id)
    return ids[position - 1] if position else ids[1]


def in_order(waves: Collection[ListedWave], survey_id: str, other: str) -> tuple[str, str]:
    """Returns two surveys, the earlier wave of a study first; otherwise in the order of the arguments."""
    number = {listed.wave.survey: listed.wave.number for listed in waves}
    is_later = survey_id in number and other in number and number[other] < number[survey_id]
    return (other, survey_id) if is_later else (survey_id, other)
