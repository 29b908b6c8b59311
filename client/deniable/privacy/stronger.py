"""Proposals for stronger protection: the epsilon, or the number of questions for each person, that reaches the next better level."""

from __future__ import annotations

import math
from decimal import Decimal

from deniable.privacy.claims import bounds_of, level_of, levels
from deniable.privacy.posterior import posterior_bound
from deniable.survey import Survey
from deniable.survey.total import odds_of_all, total_epsilon


def stronger(survey: Survey) -> tuple[str, ...]:
    """Returns changes that would give respondents the next better level of protection, in words; none if it is strong.

    They lower epsilon, or ask each person fewer questions with the same coins.
    """
    names = [name for name, _ in levels()]
    place = names.index(level_of(max(bounds_of(survey))))
    if place == 0:
        return ()
    better, most = levels()[place - 1]
    odds = Decimal(most) / (100 - most)
    changes = [f"Set epsilon to ln {odds.normalize():f}, about {math.log(odds):.2f}, for {better} protection"]
    ask = _fewer(survey, most)
    if ask is not None:
        epsilon = math.floor(1000 * total_epsilon(survey.questions, ask)) / 1000
        unit = "questions" if len(survey.blocks) == len(survey.questions) else "blocks of questions"
        changes.append(
            f"Ask each person {ask} of the {len(survey.blocks)} {unit} at epsilon {epsilon:g}, with the same coins, for {better} protection"
        )
    return tuple(changes)


def _fewer(survey: Survey, most: int) -> int | None:
    """Returns the largest number of blocks whose record, with unchanged coins, has at most this bound in percent; None without one."""
    for ask in range((survey.ask or len(survey.blocks)) - 1, 0, -1):
        if posterior_bound(odds_of_all(survey.questions, ask)) <= most:
            return ask
    return None
