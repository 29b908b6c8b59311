"""A survey that tests of a server ask, and what people send to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.survey import Survey
from deniable.wire.record import pack
from deniable.wire.submission import Submission

STUDY = """
deniable: 1
id: study
title: A study
about: Who asks, and why.
batch: 1
accept_small_batches: true
epsilon: ln 9
questions:
  - {id: smokes, text: Do you smoke?, type: yes_no}
  - {id: party, text: Which party?, type: choice, options: [Red, Green, Blue, Black, White, Grey, Pink]}
"""

PIPED = """
deniable: 1
id: piped
title: A study of subjects
about: Who asks, and why.
batch: 1
accept_small_batches: true
results: public
release: close
groups: [North, South]
epsilon: 9
accept_high_epsilon: true
translations:
  de:
    title: Eine Studie
    questions:
      copied: {text: "Abgeschrieben in ${subject|Ihrem Fach}?", section: {title: "In ${subject|Ihrem Fach}"}}
      felt: {text: "Wie oft in ${subject|Ihrem Fach}?"}
      tired: {text: "Müde von ${subject|Ihrem Fach}"}
questions:
  - {id: subject, text: Which subject?, type: choice, options: [Art, Law, Maths]}
  - id: copied
    section: {title: "Work in ${subject|your subject}", note: "All of ${subject|your subject}."}
    text: Did you copy in ${subject|your subject}?
    help: In ${subject|your subject} alone.
    type: yes_no
    show_if: {question: subject, is: [Art, Law]}
    required: false
    weight: 2
  - {id: ways, text: "How, in ${subject|your subject}?", type: multi_choice, options: [by hand, by phone]}
  - id: felt
    text: How often in ${subject|your subject}?
    help: In ${subject|your subject}, this year.
    type: rating
    options: [never, at times, often]
    items:
      - {id: tired, text: "I was tired of ${subject|your subject}"}
      - {id: glad, text: "I was glad of ${subject|your subject}"}
  - {id: liked, text: "Do you like ${subject|your subject}?", type: scale, options: ["no", so so, "yes"], scores: [0, 1, 2]}
  - {id: hours, text: "Hours of ${subject|your subject}?", type: number, low: 0, high: 20, levels: 5}
  - {id: mark, text: "Your mark in ${subject|your subject}?", type: number, low: 0, high: 100}
"""
"""A survey of every type whose texts have references to an earlier answer, with fallbacks; its least protected question has one, too."""


def submission(survey: Survey, count: int = 1, id_: bytes | None = None, **fields: Any) -> Submission:
    """One of `count` perturbed records, each with answers of category 0, under a new random id unless one is given.

    Group, mode and invitation are the submission's.
    """
    bits = [randomize(item.channel, np.zeros(count, dtype=np.int64), os_words) for item in survey.items]
    return Submission(id_ or os_words(4).tobytes(), survey.digest, count, pack(survey, bits), **fields)
