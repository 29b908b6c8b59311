"""Missing fallbacks: texts that show an earlier answer which a respondent may not have given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deniable.survey.piping import FALLBACK, pipes, texts_of
from deniable.survey.question import Question


def missing_fallbacks(questions: Sequence[Question]) -> Iterator[str]:
    """Yields a sentence for each question whose texts show an answer that may be missing, without a text in its place."""
    by_id = {question.id: question for question in questions}
    for question in questions:
        names = {pipe.question: None for _, text in texts_of(question.to_dict()) for pipe in pipes(text) if pipe.fallback is None}
        for name in names:
            if not by_id[name].required or by_id[name].labels:
                place = f"${{{name}|…}}"
                yield (
                    f"the question {question.id} shows the answer to {name}, which may be missing: people then read “{FALLBACK}”; "
                    f"write a text for them as {place}"
                )
