"""Sample study: a harmless survey and its simulated people, for the first look at finished results."""

from __future__ import annotations

from functools import cache

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.results.simulated import ItemShares, simulated_submissions
from deniable_server.store.trials import SIMULATED
from deniable_server.trials.marked import marked
from deniable_server.web.offload import computed

PEOPLE = 1_000
TEXT = """\
deniable: 1
id: your-studies
title: About your studies
about: |
  The student council wants to know how you prepare for exams, to plan courses and quiet rooms.
  Taking part is voluntary.
contact: The student council
epsilon: 8
groups: [First year, Later years]
questions:
  - {id: late, text: Have you handed in work after its deadline this term?, type: yes_no}
  - {id: hours, text: How many hours a week do you study outside class?, type: choice, options: [under 5, 5 to 15, over 15]}
  - {id: ready, text: How well prepared did you feel before your last exam?, type: scale, options: [not at all, a little, well, very well]}
  - {id: ways, text: How do you prepare?, type: multi_choice, options: [alone, in a group, with old exams]}
"""
_CALM: ItemShares = {
    "late": [0.15, 0.85],
    "hours": [0.15, 0.5, 0.35],
    "ready": [0.05, 0.2, 0.5, 0.25],
    "ways[alone]": [0.6, 0.4],
    "ways[in a group]": [0.55, 0.45],
    "ways[with old exams]": [0.7, 0.3],
}
_HURRIED: ItemShares = {
    "late": [0.7, 0.3],
    "hours": [0.65, 0.3, 0.05],
    "ready": [0.3, 0.45, 0.2, 0.05],
    "ways[alone]": [0.85, 0.15],
    "ways[in a group]": [0.2, 0.8],
    "ways[with old exams]": [0.35, 0.65],
}
KINDS = ((6 * PEOPLE // 10, _CALM), (4 * PEOPLE // 10, _HURRIED))
"""Two kinds of people, how many they are and how they answer: so that answers go together, as real answers do."""


@cache
def sample() -> Survey:
    """Returns the survey of the sample study as its file has it."""
    return Survey.from_text(TEXT)


@computed()
def simulated_sample() -> tuple[Survey, list[Submission]]:
    """Returns the sample study and the records of its simulated people."""
    survey = marked(sample(), SIMULATED)
    return survey, simulated_submissions(survey, KINDS)
