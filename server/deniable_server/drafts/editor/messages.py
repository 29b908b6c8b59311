"""Messages about what a button of the editor has done, for the page and for screen readers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deniable_server.drafts.editor.shapes import shorten

_MOST = 60  # characters of a question's text


def action_message(action: str, before: Sequence[str], after: Sequence[str]) -> str:
    """Returns a message about an action; empty if nothing changed, or if the change is in front of the reader.

    Args:
        action: The button's value, such as "remove 2".
        before: The texts of the questions before it.
        after: The texts of the questions after it.
    """
    word, *numbers = action.split() or [""]
    message = _MESSAGES.get(word)
    if message is None or list(before) == list(after) or not all(number.isascii() and number.isdigit() for number in numbers):
        return ""
    return message([int(number) for number in numbers], before, after)


def quoted(text: str) -> str:
    """Returns a question's text in quotes, shortened; "the question" without a text."""
    line = shorten(text, _MOST)
    return f"“{line}”" if line else "the question"


def _removed(numbers: Sequence[int], before: Sequence[str], after: Sequence[str]) -> str:
    return f"Question {numbers[0] + 1}, {quoted(before[numbers[0]])}, is deleted. Undo restores it."


def _duplicated(numbers: Sequence[int], before: Sequence[str], after: Sequence[str]) -> str:
    return f"Question {numbers[0] + 1} is duplicated. The copy is question {numbers[0] + 2}."


def _moved(to: Callable[[Sequence[int], int], int]) -> Callable[[Sequence[int], Sequence[str], Sequence[str]], str]:
    def message(numbers: Sequence[int], before: Sequence[str], after: Sequence[str]) -> str:
        place = to(numbers, len(after))
        text = quoted(after[place])
        return f"{text[:1].upper()}{text[1:]} is now question {place + 1} of {len(after)}."

    return message


_MESSAGES: dict[str, Callable[[Sequence[int], Sequence[str], Sequence[str]], str]] = {
    "remove": _removed,
    "copy": _duplicated,
    "up": _moved(lambda numbers, _: max(0, numbers[0] - 1)),
    "down": _moved(lambda numbers, count: min(count - 1, numbers[0] + 1)),
    "move": _moved(lambda numbers, _: numbers[1]),
}
