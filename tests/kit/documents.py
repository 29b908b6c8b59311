"""Survey documents that hypothesis makes up: valid ones, of every type and with every key; and others of about that shape."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from deniable.survey.question import block_numbers
from deniable.survey.rating import dependencies
from deniable.survey.schema import survey_schema
from deniable.survey.types.base import ORDERS

LABELS = st.sampled_from(["yes", "no", "a", "b: c", "1.10", "ein Wort", "مدينة", "x, y", "#", "two\nlines", "tab\tbed", "null"])
TEXTS = st.sampled_from(["T", "Two\nlines.\n", "1984", " about: it ", "Größe 😀", "- no list", "a\n\nb", "\nfirst"])
DIGITS = st.integers(-50, 50).map(str)


def options(least: int = 2) -> st.SearchStrategy[list[str]]:
    return st.lists(LABELS, min_size=least, max_size=5, unique=True)


@st.composite
def typed(draw: st.DrawFn) -> dict[str, Any]:
    """The keys that only a type has."""
    kind = draw(st.sampled_from(["yes_no", "choice", "scale", "scored", "multi_choice", "number", "levels", "bins"]))
    if kind == "yes_no":
        return {"type": kind}
    if kind in ("number", "levels", "bins"):
        low = draw(st.integers(-20, 20))
        ends = {"type": "number", "low": str(low), "high": draw(st.sampled_from([f"{low + 30}", f" {low + 30}.50 ", f"{low + 99}\n"]))}
        if kind == "levels":
            return {**ends, "levels": draw(st.sampled_from(["2", "5", "7.0"]))}
        if kind == "bins":
            return {**ends, "bins": [{"name": name, "from": str(low + place)} for place, name in enumerate(draw(options()))]}
        return ends
    found = draw(options())
    scored = {"scores": [str(2 * place) for place in range(len(found))]} if kind == "scored" else {}
    return {"type": "scale" if kind == "scored" else kind, "options": found, **scored}


SECTIONS = st.fixed_dictionaries({"title": TEXTS}, optional={"note": TEXTS, "fixed": st.sampled_from(["true", "false"])})


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A valid document, as `document.parse` gives it: every scalar is text."""

    def perhaps(key: str, values: st.SearchStrategy[Any]) -> dict[str, Any]:
        return {key: draw(values)} if draw(st.booleans()) else {}

    shared = draw(st.booleans())
    questions: list[dict[str, Any]] = []
    for place in range(draw(st.integers(1, 4))):
        one: dict[str, Any] = {"id": f"q{place}", "text": draw(TEXTS), **draw(typed())}
        one |= perhaps("weight", st.sampled_from(["2", "0.5"])) if shared else {"epsilon": draw(st.sampled_from(["ln 3", "1", " 0.5"]))}
        one |= perhaps("help", TEXTS) | perhaps("section", SECTIONS)
        known = [q for q in questions if "options" in q or "bins" in q]
        if known and draw(st.booleans()):
            one["show_if"] = draw(show_ifs(known))
            one |= perhaps("required", st.just("false"))
        else:
            one |= perhaps("required", st.sampled_from(["true", "false"]))
        questions.append(one)
    top = {"deniable": "1", "id": draw(st.sampled_from(["s", "2024", "a-b_c"])), "title": draw(TEXTS), "about": draw(TEXTS)}
    top |= {"epsilon": draw(st.sampled_from(["ln 9", "2", " 1.5 "]))} if shared else {}
    top |= perhaps("institution", TEXTS) | perhaps("contact", TEXTS) | perhaps("ethics", TEXTS) | perhaps("groups", options())
    top |= perhaps("access", st.sampled_from(["open", "invited"])) | perhaps("layout", st.sampled_from(["list", "steps"]))
    top |= perhaps("order", st.sampled_from(ORDERS)) | perhaps("section_order", st.sampled_from(ORDERS))
    top |= (
        perhaps("batch", st.sampled_from(["10", "25.0"]))
        | perhaps("release", st.sampled_from(["close", "daily"]))
        | perhaps("accept_high_epsilon", st.sampled_from(["true", "false"]))
    )
    blocks = max(block_numbers(dependencies(questions))) + 1
    top |= perhaps("ask", st.integers(1, blocks - 1).map(str)) if blocks > 1 else {}
    top |= perhaps("language", st.just("en"))
    top |= perhaps("translations", translations(top, questions))
    return {**top, "questions": questions}


def conditions(asked: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """One condition about a question: some of its options, or a range of its bins."""
    names = asked.get("options") or [one["name"] for one in asked["bins"]]
    name = st.just(asked["id"])
    some = st.fixed_dictionaries({"question": name, "is": st.lists(st.sampled_from(names), min_size=1, unique=True)})
    starts = [one["from"] for one in asked.get("bins", ())]
    if not starts:
        return some
    least, most = st.just(starts[0]), st.sampled_from(starts[1:])
    ends = [{"at_least": st.sampled_from(starts)}, {"below": most}, {"at_least": least, "below": most}]
    return st.one_of(some, *(st.fixed_dictionaries({"question": name, **end}) for end in ends))


def show_ifs(known: list[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """A condition, a list of such, or one with lists in it."""
    one = st.sampled_from(known).flatmap(conditions)

    def listed(word: str, parts: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
        return st.fixed_dictionaries({word: st.lists(parts, min_size=2, max_size=3)})

    words = ("all", "any"), ("any", "all")
    return st.one_of(one, *(listed(outer, one | listed(inner, one)) for outer, inner in words))


@st.composite
def translations(draw: st.DrawFn, top: dict[str, Any], questions: list[dict[str, Any]]) -> dict[str, Any]:
    found = {}
    for tag in draw(st.lists(st.sampled_from(["de", "ar", "pt-BR"]), min_size=1, unique=True)):
        texts: dict[str, Any] = {
            key: draw(TEXTS) for key in ("title", "about", "institution", "contact", "ethics") if key in top and draw(st.booleans())
        }
        own: dict[str, Any] = {}
        for one in questions:
            words: dict[str, Any] = {"text": draw(TEXTS)} if draw(st.booleans()) else {}
            words |= {"help": draw(TEXTS)} if "help" in one and draw(st.booleans()) else {}
            if "section" in one and draw(st.booleans()):
                words["section"] = {draw(st.sampled_from([key for key in one["section"] if key != "fixed"])): draw(TEXTS)}
            size = len(one.get("options", one.get("bins", ())))
            if size and draw(st.booleans()):
                words["options"] = draw(st.lists(LABELS, min_size=size, max_size=size, unique=True))
            own |= {one["id"]: words} if words else {}
        texts |= {"questions": own} if own else {}
        found[tag] = texts or {"title": "T"}
    return found


QUESTION_KEYS = ("text", "type", "options", "bins", "scores", "show_if", "required", "help", "section")
KEYS = st.sampled_from(
    [*survey_schema()["properties"], *QUESTION_KEYS, "is", "de", "q0", "low", "all", "any", "question", "at_least", "note", "x"]
)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | TEXTS | LABELS | DIGITS | st.just("q0"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=25,
)


@st.composite
def wrong_documents(draw: st.DrawFn) -> dict[str, Any]:
    """Mappings with the keys of a survey, and anything under them."""
    question = st.fixed_dictionaries({}, optional=dict.fromkeys(("id", *QUESTION_KEYS), ANYTHING))
    return {**draw(st.dictionaries(KEYS, ANYTHING, max_size=8)), "questions": draw(st.lists(question, max_size=3))}
