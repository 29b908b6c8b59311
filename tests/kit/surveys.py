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


def submission(survey: Survey, count: int = 1, id_: bytes | None = None, **fields: Any) -> Submission:
    """One of `count` perturbed records, each with answers of category 0, under a new random id unless one is given.

    Group, mode and invitation are the submission's.
    """
    bits = [randomize(item.channel, np.zeros(count, dtype=np.int64), os_words) for item in survey.items]
    return Submission(id_ or os_words(4).tobytes(), survey.digest, count, pack(survey, bits), **fields)
