"""Survey flow of Qualtrics: who reaches a question after branches, ends of the survey and skip logic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deniable.forms.expressions import AnswerComparison, Constant, Expression, Unreadable, combine, negate
from deniable.forms.qualtrics.logic import NameOf, skip_condition

NEVER = Constant(False)
END_OF_BLOCK, END_OF_SURVEY = "ENDOFBLOCK", "ENDOFSURVEY"


@dataclass
class FlowConditions:
    """The conditions under which people reach the current question.

    Attributes:
        branches: The conditions of the branches around it.
        left: The condition of people who have left the survey before it.
        skips: The conditions of people who pass over it, each with the id of the question, or the end, where they go on.
    """

    branches: list[Expression] = field(default_factory=list)
    left: Expression = NEVER
    skips: list[tuple[str, Expression]] = field(default_factory=list)

    def current(self) -> Expression:
        """Returns who reaches the current question."""
        return combine("all", [*self.branches, negate(self.left), *(negate(skipped) for _, skipped in self.skips)])

    def end_survey(self) -> None:
        """Notes that the survey ends for people in the current branches."""
        self.left = combine("any", [self.left, combine("all", self.branches)])

    def reach(self, question: str) -> None:
        """Notes that the people who skipped to a question go on there."""
        self.skips = [(target, skipped) for target, skipped in self.skips if target != question]

    def skip(self, rules: Sequence[Any], display: Expression, later: Sequence[str], name_of: NameOf) -> None:
        """Notes the skip logic after a question. The first rule that holds decides.

        Args:
            rules: Its rules.
            display: When the question is shown.
            later: The ids of the questions after it in its block.
            name_of: Returns the name of a question.
        """
        before: list[tuple[str, Expression]] = []
        for rule in rules:
            if not isinstance(rule, Mapping):
                continue
            target, condition = str(rule.get("SkipToDestination", "")), skip_condition(rule, name_of)
            if target not in (*later, END_OF_BLOCK, END_OF_SURVEY):
                target, condition = END_OF_BLOCK, Unreadable(condition.text)
            others = [negate(earlier) for goal, earlier in before if goal != target and not _exclude(earlier, condition)]
            before.append((target, condition))
            self.add(target, combine("all", [condition, *others]), display)

    def add(self, target: str, condition: Expression, display: Expression) -> None:
        """Adds one rule. A rule that needs an answer holds only for people who were asked the question."""
        if not isinstance(condition, AnswerComparison) or condition.or_missing:
            reached = [negate(skipped) for goal, skipped in self.skips if goal != target]
            around = self.branches if target == END_OF_SURVEY else []
            condition = combine("all", [*around, *reached, display, condition])
        if target == END_OF_SURVEY:
            self.left = combine("any", [self.left, condition])
        else:
            self.skips.append((target, condition))

    def end_block(self) -> None:
        """Notes that everyone in the current branches goes on after a block."""
        self.skips = []


def _exclude(one: Expression, other: Expression) -> bool:
    """Returns whether two rules are about different options of one question, so that a single choice cannot fulfil both."""
    if not isinstance(one, AnswerComparison) or not isinstance(other, AnswerComparison):
        return False
    return one.name == other.name and one.sign == other.sign == "=" and one != other
