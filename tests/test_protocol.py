"""The whole protocol in one function, without HTTP. docs/why/architecture.md shows it; a test there keeps the two alike."""

from pathlib import Path

import numpy as np

from deniable.device.encode import encode
from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.estimate import estimate
from deniable.survey import Survey
from deniable.wire.record import pack, unpack
from deniable.wire.submission import Submission
from deniable_server.store import open_store

SURVEY = """
deniable: 1
id: affairs
title: About marriage
about: The example of the page on architecture. Nobody is asked.
epsilon: ln 3
questions:
  - {id: affair, text: "Have you had an affair?", type: yes_no}
"""


def test_from_true_answers_to_an_honest_estimate(tmp_path: Path) -> None:
    survey, store = Survey.from_text(SURVEY), open_store(tmp_path / "server.db")
    store.surveys.publish(survey)
    (question,) = survey.questions
    true_answers = ["yes"] * 3_000 + ["no"] * 7_000

    # On the respondents' devices: an answer becomes a category, two coins perturb it, bits become bytes.
    categories = np.array([encode(question, answer) for answer in true_answers])
    bits = randomize(question.channel, categories, os_words)
    reports = pack(survey, [bits])

    # On the server, which sees the bytes only: refuse the impossible, keep the rest once, count.
    submission = Submission(os_words(4).tobytes(), survey.digest, len(true_answers), reports)
    unpack(survey, submission.reports, submission.count)
    store.submissions.add(survey.id, submission)
    store.submissions.add(survey.id, submission)  # sent again: counted once
    tally = store.submissions.tally(survey.id, [submission.part])
    store.close()

    # For the researcher: invert the coins, and say how sure that is.
    yes, _ = estimate(survey, tally).rows
    assert tally.n == 10_000
    assert question.epsilon == np.log(3)
    assert yes.estimate == 2 * yes.ones / tally.n - 0.5  # the two fair coins
    assert abs(yes.estimate - 0.3) < 5 * yes.std_error
    assert yes.low < yes.estimate < yes.high
