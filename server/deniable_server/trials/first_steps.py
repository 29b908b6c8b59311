"""First steps: what a new account has not done yet, shown above its list of surveys until all is done or it is removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flask import g

from deniable_server.context import current_services, current_store
from deniable_server.drafts.own_drafts import ListedDraft
from deniable_server.store.protocol import Heading
from deniable_server.trials.runs import REMOVED_SAMPLE, TrialRuns


@dataclass(frozen=True)
class FirstStep:
    """A step. is_done: whether the account has done it. draft_id: the draft to do it with, if there is one."""

    name: str
    words: str
    is_done: bool
    draft_id: str = ""


def first_steps(headings: Sequence[Heading], drafts: Sequence[ListedDraft]) -> list[FirstStep]:
    """Returns the first steps of the current account; none if all are done, or if it has removed them.

    Args:
        headings: The surveys that the account sees.
        drafts: Its drafts, and those that are shared with it.
    """
    store = current_store()
    if REMOVED_SAMPLE in store.accounts.dismissed(g.user):
        return []
    counted = store.life.last_counted()
    has_results = any(heading.id in counted for heading in headings)
    if has_results:
        return []
    own = [draft for draft in drafts if draft.is_own]
    newest = max(own, key=lambda draft: draft.draft.changed_on).draft.id if own else ""
    has_tested = any(run.author == g.user for run in current_services().get(TrialRuns).all())
    return [
        FirstStep("Write", "a survey: start with a topic, a file or an empty form", bool(headings or own)),
        FirstStep("Test", "it: answer it yourself, and simulate people", bool(headings) or has_tested, newest),
        FirstStep("Publish", "it, and send the link", bool(headings), newest),
        FirstStep("Look", "at the results, which appear when enough people have answered", False),
    ]
