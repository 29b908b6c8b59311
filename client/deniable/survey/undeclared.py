"""Undeclared exclusive options of a multiple choice, recognized by the usual words of five languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from deniable.survey.question import Question

_NONE = (
    r"none|neither|nothing|not any|no( one|body)",
    r"kein(e[rsn]?)?|nichts|niemand|weder noch",
    r"ningun[oa]|ningún|nada|nadie",
    r"aucune?|rien|personne|ni l.un ni l.autre",
    r"لا (شيء|شئ|أحد)|لاشيء",
)
_UNSURE = (
    r"(i )?(do not|don.?t|can ?not|can.?t) (know|remember|recall|tell)|not sure|unsure|no idea|dk",
    r"(ich )?wei(ß|ss) (es )?nicht|keine ahnung|nicht sicher|unsicher",
    r"no (lo )?(sé|se|sabe|recuerdo)|no estoy segur[oa]|ns ?/ ?n[rc]",
    r"(je )?ne (sais|sait) pas|ne se souvient pas|nsp|pas sûre?",
    r"لا (أعرف|اعرف|أعلم|أدري|أتذكر)|غير متأكد",
)
_REFUSES = (
    r"(i.d |i would |i )?(prefer|rather|refuse[ds]?|decline)( (not|to).*)?|no (answer|response)|not answered",
    r"keine (angabe|antwort)|k\. ?a\.?|(das )?möchte ich nicht .*|verweigert",
    r"prefiero no .*|no (quiero |desea )?(contest|respond|dec).*|sin respuesta",
    r"(je )?préfère ne pas .*|refus.*|sans réponse|ne souhaite pas .*",
    r"أفض.?ل (عدم|ألا|أن لا) .*|أرفض .*|بدون إجابة",
)


def _pattern(words: Sequence[str], rest: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(words)})(?:{rest})", re.IGNORECASE)


_KINDS = (  # patterns of options, in order of precedence, and advice
    (_pattern(_REFUSES, "$"), "declare it as exclusive, or leave it out and let people skip the question"),
    (_pattern(_UNSURE, r"$|\W.*"), "declare it as exclusive, or people can tick it beside others"),
    (_pattern(_NONE, r"$|\W.*"), "declare it as none, or people can tick it beside others, and the page adds its own “None of these”"),
)


def undeclared(questions: Sequence[Question]) -> Iterator[str]:
    """Yields a sentence for each option that looks exclusive, but is not declared as `exclusive` or `none`."""
    for question in questions:
        for label in question.labels:
            advice = advice_for(label)
            if advice and label not in question.exclusive:
                yield f"the option “{label}” of the question {question.id} looks as if it goes with no other one: {advice}"


def means_none(label: str) -> bool:
    """Returns whether an option reads as "none of these"."""
    return advice_for(label) == _KINDS[-1][1]


def advice_for(label: str) -> str | None:
    """Returns advice about an option that looks exclusive; None for any other option."""
    text = " ".join(label.replace("’", "'").strip(" .,;:!-–()[]\"'“”").split())
    return next((advice for pattern, advice in _KINDS if pattern.match(text)), None)
