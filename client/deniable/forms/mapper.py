"""Mapper of foreign forms: turns their items into the questions of a survey, and reports what became of each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any

from deniable.forms.conditions import EarlierQuestion, SurveyCondition, expressed, show_if
from deniable.forms.decisions import Decisions
from deniable.forms.expressions import ALWAYS, Constant, Expression, combine
from deniable.forms.foreign import ForeignForm, ForeignNote, ForeignQuestion, GroupEnd, GroupStart, Refusal, text_in
from deniable.forms.languages import tag_of
from deniable.forms.options import MappedOptions, map_options
from deniable.forms.orders import FormPart, order_rows, order_sections
from deniable.forms.ratings import fold_ratings
from deniable.forms.report import BEFORE, EVERYBODY, KEPT, LEAVE_OUT, OPTION, ImportedForm, Mending, ReportLine, Verdict
from deniable.forms.sections import QuestionContext, Sections, WaitingNote
from deniable.forms.texts import legal_id, one_line, pipe, references_in, truncate, truncate_texts
from deniable.survey.parse import SURVEY_ID
from deniable.survey.parse_questions import QUESTION_ID
from deniable.survey.piping import piped_ids, texts_of
from deniable.survey.types import TYPES
from deniable.survey.types.base import MAX_OPTION_LENGTH
from deniable.survey.validator import LENGTHS

ABOUT = "Who asks, why, and who to contact."
EPSILON = "2"
MOST_TEXT = 200  # characters of a form's condition in a report


def map_form(form: ForeignForm, decisions: Decisions | None = None) -> ImportedForm:
    """Returns a form as a survey.

    Args:
        form: The form, from any of the readers.
        decisions: The decisions of its author; by default none.
    """
    mapper = _Mapper(form, decisions or Decisions())
    imported = mapper.map()
    if not mapper.has_fixed_parts:
        return imported
    items = [replace(item, name="", label={}) if isinstance(item, GroupStart) and item.has_internal_label else item for item in form.items]
    return _Mapper(replace(form, items=items), mapper.decisions).map()


@dataclass
class _Mapper:
    """Maps items one after the other.

    Attributes:
        form: The form.
        decisions: The decisions of its author.
        report: The lines so far.
        mendings: Open decisions.
        questions: The questions so far.
        earlier: The questions that conditions may be about, by their names in the form.
        translations: The texts of questions by their ids, for each other language.
        sections: The groups and notes before the next question.
        groups: The conditions of the groups around the current item.
        grids: The table of each question that belongs to one, by its id.
        tables: The texts of each table, by the id of its first question.
        random_rows: The names of the questions whose tables have rows in random order, by their ids.
        open_groups: The groups around the current item.
        parts: The part of the form that each question is in, by its id.
        has_fixed_parts: Whether the form shows parts in a random order that the survey cannot draw.
        counts: How many questions have a condition, and how many of these are kept whole and in part.
    """

    form: ForeignForm
    decisions: Decisions
    report: list[ReportLine] = field(default_factory=list)
    mendings: list[Mending] = field(default_factory=list)
    questions: list[dict[str, Any]] = field(default_factory=list)
    earlier: dict[str, EarlierQuestion] = field(default_factory=dict)
    translations: dict[str, dict[str, Any]] = field(default_factory=dict)
    sections: Sections = field(default_factory=Sections)
    groups: list[Expression] = field(default_factory=list)
    grids: dict[str, str] = field(default_factory=dict)
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    random_rows: dict[str, str] = field(default_factory=dict)
    open_groups: list[GroupStart] = field(default_factory=list)
    parts: dict[str, FormPart] = field(default_factory=dict)
    has_fixed_parts: bool = False
    counts: list[int] = field(default_factory=lambda: [0, 0, 0])

    def map(self) -> ImportedForm:
        for item in self.form.items:
            match item:
                case GroupStart():
                    self.group(item)
                case GroupEnd():
                    self.groups, self.open_groups = self.groups[:-1], self.open_groups[:-1]
                    self.sections.end()
                case ForeignNote():
                    self.note(item)
                case Refusal(name, why):
                    self.say(name, "refused", why)
                case ForeignQuestion():
                    self.question(item)
        for name, earlier in self.earlier.items():
            if earlier.add_bins():
                self.amend(name, "its numbers are asked as ranges, since another question depends on them; ranges have no mean")
        for waiting in self.sections.notes:
            self.leave_out(waiting, "no question follows it")
        for remark in self.form.remarks:
            self.say(remark.name, "refused", remark.why)
        self.questions = fold_ratings(self.questions, self.grids, self.translations, self.tables)
        for row in sorted(order_rows(self.questions, self.random_rows), key=[*self.random_rows].index):
            self.amend(self.random_rows[row], "the rows of its table have a fixed order")
        document = self.document()
        whole, part = self.counts[1:]
        return ImportedForm(document, tuple(self.report), tuple(self.mendings), (self.counts[0], whole, part))

    def say(self, name: str, verdict: Verdict, why: str) -> None:
        self.report.append(ReportLine(name, verdict, why))

    def amend(self, name: str, note: str) -> None:
        """Adds a note to the line of a mapped row."""
        index = next(index for index, line in enumerate(self.report) if line.name == name and line.verdict != "refused")
        before = self.report[index]
        self.report[index] = ReportLine(name, "changed", f"{before.why}; {note}" if before.verdict == "changed" else note)

    def text(self, texts: Any) -> str:
        """Returns a text in the form's own language, on one line."""
        return one_line(text_in(texts, self.form.language))

    def group(self, group: GroupStart) -> None:
        has_title = not group.refusal and bool(self.text(group.label))
        self.groups.append(group.condition)
        self.open_groups.append(group)
        self.sections.begin(group if has_title else None)
        if group.refusal:
            self.say(group.name, "refused", group.refusal)
        elif group.name:
            self.say(group.name, "changed", "its label is a heading" if has_title else "it has no label, so it is no section")

    def note(self, note: ForeignNote) -> None:
        """Keeps a note for the next question, or leaves it out."""
        condition = combine("all", [*self.groups, note.condition])
        decision = self.decisions.notes.get(note.name)
        if not self.sections.takes_note(is_first=not self.questions):
            return self.say(note.name, "refused", note.why)
        waiting = WaitingNote(note, condition, len(self.report), decision == BEFORE)
        self.say(note.name, "changed", "it is shown before the next question")
        if decision == LEAVE_OUT:
            return self.leave_out(waiting, "you left it out")
        return self.sections.notes.append(waiting)

    def leave_out(self, waiting: WaitingNote, why: str) -> None:
        self.report[waiting.line] = ReportLine(waiting.note.name, "refused", why)
        proposal, text = LEAVE_OUT, self.text(waiting.note.label)
        if why != "no question follows it":
            about = _about("It is shown if", waiting.condition, why)
            self.mendings.append(Mending("notes", waiting.note.name, text, about, proposal, (LEAVE_OUT, BEFORE)))

    def question(self, foreign: ForeignQuestion) -> None:
        """Adds a question, or refuses it."""
        condition = combine("all", [*self.groups, foreign.condition])
        if condition == Constant(False):
            return self.say(foreign.name, "refused", "its condition is false(): the form asks no one")
        mapped = self.number(foreign) if foreign.is_number else self.options(foreign)
        if isinstance(mapped, str):
            return self.say(foreign.name, "refused", mapped)
        if self.decisions.conditions.get(foreign.name) == LEAVE_OUT:
            self.mend_condition(foreign, condition, show_if(condition, self.earlier))
            return self.say(foreign.name, "refused", "you left it out")
        question: dict[str, Any] = {"id": self.unused_id(foreign.name), "text": foreign.name, **mapped.keys}
        notes = [*foreign.losses, *mapped.notes, *([f"its id is {question['id']}"] if question["id"] != foreign.name else [])]
        if not foreign.is_required:
            question["required"] = "false"
        converted = self.add_condition(foreign, question, condition, notes)
        self.questions.append(question)
        if foreign.grid:
            self.grids[question["id"]] = foreign.grid
        if foreign.has_random_place:
            self.random_rows[question["id"]] = foreign.name
        self.add_part(question["id"])
        exact = expressed(condition, converted) if "show_if" in question or condition == ALWAYS else set()
        context, unsuitable = self.sections.take_context(foreign, exact)
        self.place_notes(context, unsuitable, condition)
        self.add_texts(foreign, question, context, notes)
        self.add_table(foreign, question["id"], context)
        self.translate(question, mapped, context, notes)
        self.earlier[foreign.name] = EarlierQuestion(question, mapped.by_name, foreign.is_whole, foreign.is_several)
        return self.say(foreign.name, "changed" if notes else "mapped", "; ".join(notes) or f"as {TYPES[mapped.keys['type']].title}")

    def number(self, foreign: ForeignQuestion) -> MappedOptions | str:
        """Returns a number between its two ends, or the reason why it cannot be asked."""
        ends = self.decisions.numbers.get(foreign.name)
        if foreign.missing_ends:
            about = foreign.missing_ends
            proposal = {"low": foreign.low, "high": foreign.high, "bins": ""}
            self.mendings.append(Mending("numbers", foreign.name, self.text(foreign.label), about, ends.to_dict() if ends else proposal))
            if ends is None:
                return f"a number needs two ends: {foreign.missing_ends}"
            return MappedOptions({"type": "number", **ends.keys()}, {}, [], ["its ends are yours"])
        return MappedOptions({"type": "number", "low": foreign.low, "high": foreign.high}, {})

    def options(self, foreign: ForeignQuestion) -> MappedOptions | str:
        """Returns the options of a question, or the reason why they cannot be offered."""
        decision = self.decisions.others.get(foreign.name, OPTION)
        if foreign.has_other:
            about = "The form adds an option “Other” with a text. The text cannot be asked."
            self.mendings.append(Mending("others", foreign.name, self.text(foreign.label), about, decision, (OPTION, LEAVE_OUT)))
        return map_options(foreign, self.form.language, decision == OPTION)

    def add_condition(self, foreign: ForeignQuestion, question: dict[str, Any], condition: Expression, notes: list[str]) -> SurveyCondition:
        """Adds `show_if` to a question, as far as a survey can express its condition; otherwise all are asked and may skip it."""
        converted = show_if(condition, self.earlier)
        if condition == ALWAYS:
            return converted
        self.counts[0] += 1
        is_whole = not converted.omitted and not converted.is_never
        if not is_whole:
            self.mend_condition(foreign, condition, converted)
        omitted = ", ".join(truncate(text, MOST_TEXT) for text in converted.omitted)
        if self.decisions.conditions.get(foreign.name) == EVERYBODY and not is_whole:
            notes.append("all are asked and may skip it, as you decided")
        elif converted.show_if:
            self.counts[1 if is_whole else 2] += 1
            question["show_if"] = converted.show_if
            question.pop("required", None)
            notes += converted.notes
            notes += [f"more people are asked than in the form: its condition leaves out {omitted}"] if omitted else []
            return converted
        elif is_whole:
            self.counts[1] += 1
            notes += converted.notes
            return converted
        else:
            why = "; ".join(converted.notes) if converted.is_never else f"a survey cannot express its condition {omitted}"
            notes.append(f"all are asked and may skip it: {why}")
        question["required"] = "false"
        return converted

    def mend_condition(self, foreign: ForeignQuestion, condition: Expression, converted: SurveyCondition) -> None:
        """Adds a condition that is not kept whole to what can be decided."""
        choices = (KEPT, EVERYBODY, LEAVE_OUT) if converted.show_if else (EVERYBODY, LEAVE_OUT)
        omitted = ", ".join(truncate(text, MOST_TEXT) for text in converted.omitted)
        about = _about("The form asks it if", condition, f"Left out: {omitted}" if converted.show_if else "A survey cannot express it.")
        decision = self.decisions.conditions.get(foreign.name, "")
        proposal = decision if decision in choices else choices[0]
        self.mendings.append(Mending("conditions", foreign.name, self.text(foreign.label), about, proposal, choices))

    def place_notes(self, context: QuestionContext, unsuitable: list[WaitingNote], condition: Expression) -> None:
        """Reports which notes a question shows, and leaves out those that are not for all people who are asked it."""
        for waiting in unsuitable:
            self.leave_out(waiting, "it has a condition that the next question has not: other people would read it")
        for note in (*context.section_notes, *context.notes):
            about = "" if condition == ALWAYS else "Only people who are asked that question read it."
            self.mendings.append(Mending("notes", note.name, self.text(note.label), about, BEFORE, (BEFORE, LEAVE_OUT)))
            if condition != ALWAYS:
                self.amend(note.name, "only people who are asked that question read it")

    def add_texts(self, foreign: ForeignQuestion, question: dict[str, Any], context: QuestionContext, notes: list[str]) -> None:
        """Adds the texts in the form's own language. A question without a label shows its name."""
        label = self.text(foreign.label)
        if not label:
            notes.append("it has no label: its name is shown")
        texts = {"text": label or one_line(foreign.name), **context.texts(self.form.language)}
        decided = self.decisions.texts.get(foreign.name, {})
        references_by_key = {key: text for key, text in texts.items() if isinstance(text, str) and references_in(text)}
        texts |= {key: decided[key] for key in references_by_key if key in decided}
        if unknown := self.unpiped(references_by_key):
            about = f"It shows {', '.join(unknown)}, which a survey cannot."
            self.mendings.append(Mending("texts", foreign.name, label, about, {key: str(texts[key]) for key in references_by_key}))
        if references := self.unpiped(texts):
            notes.append(f"its text shows {', '.join(references)}, which a survey cannot: rewrite it")
        texts = self.pipe(texts)
        question |= truncate_texts(texts, notes)

    def add_table(self, foreign: ForeignQuestion, question: str, context: QuestionContext) -> None:
        """Adds the text of the table that begins with a question, and the section around it."""
        groups, notes = context.groups, context.section_notes
        if foreign.grid and groups and groups[-1].name == foreign.grid:
            title, around = groups[-1].label, replace(context, groups=groups[:-1])
        elif foreign.grid and notes and notes[-1].name == f"{foreign.grid}: text":
            title, around = notes[-1].label, replace(context, section_notes=notes[:-1])
        else:
            return
        texts = around.texts(self.form.language)
        section = texts.get("section", {})
        context_texts = {"section": section} if "title" in section else {"help": section["note"]} if section else {}
        self.tables[question] = truncate_texts(self.pipe({"text": self.text(title), **context_texts}), [])

    def add_part(self, question: str) -> None:
        """Adds the part of the form that a question is in."""
        part = next((group for group in self.open_groups if group.mixed_with is not None), None)
        if part:
            number = next(index for index, item in enumerate(self.form.items) if item is part)
            self.parts[question] = FormPart(number, part.mixed_with or "")

    def section_order(self) -> dict[str, str]:
        """Returns the order of the sections, and reports what becomes of parts in random order."""
        groups = [item for item in self.form.items if isinstance(item, GroupStart)]
        sets = list(dict.fromkeys(group.mixed_with for group in groups if group.mixed_with))
        if not sets:
            return {}
        problem = order_sections(self.questions, self.parts)
        self.has_fixed_parts = bool(problem)
        headings = "; their headings are names that only you read in the form: rewrite them"
        for name in sets:
            is_internal = any(group.has_internal_label for group in groups if group.mixed_with == name)
            if problem:
                self.say(name, "refused", f"its parts have a fixed order: {problem}")
            else:
                self.say(name, "changed", f"its parts are sections in random order{headings if is_internal else ''}")
        return {} if problem else {"section_order": "random"}

    def unpiped(self, texts: Any) -> list[str]:
        """Returns the references in texts that a survey cannot show."""
        return [reference for reference in references_in(texts) if reference[2:-1].strip() not in self.earlier]

    def pipe(self, texts: dict[str, Any], original: dict[str, Any] | None = None) -> dict[str, Any]:
        """Returns texts that show answers with the ids of earlier questions; a translation shows no others than its original."""
        ids = {name: earlier.question["id"] for name, earlier in self.earlier.items()}
        allowed = ids.values() if original is None else piped_ids(text for _, text in texts_of(original))
        return pipe(texts, {name: own for name, own in ids.items() if own in allowed})

    def translate(self, question: dict[str, Any], mapped: MappedOptions, context: QuestionContext, notes: list[str]) -> None:
        """Adds a question's translations; its options need a label for each in a language."""
        incomplete: list[str] = []
        languages = context.languages | {language for option in mapped.offered for language in option.labels}
        for language in sorted(languages - {self.form.language, ""}):
            text = one_line(context.question.label.get(language, ""))
            options = [truncate(option.labels.get(language, ""), MAX_OPTION_LENGTH) for option in mapped.offered]
            texts: dict[str, Any] = {"text": text} if text else {}
            if options and all(options) and len(set(options)) == len(options):
                texts["options"] = options
            elif any(options):
                incomplete.append(language)
            texts |= _translatable(context.translation(language), question)
            if texts := self.pipe(self.undecided(context.question.name, texts), question):
                self.translations.setdefault(language, {})[question["id"]] = truncate_texts(texts, notes, f" in {language}")
        if incomplete:
            notes.append(f"its options in {', '.join(incomplete)} are left out: each needs a text of its own")

    def undecided(self, name: str, texts: dict[str, Any]) -> dict[str, Any]:
        """Returns translations without texts that show an answer, where the author rewrote the form's own text."""
        rewritten = self.decisions.texts.get(name, {})
        return {key: text for key, text in texts.items() if key not in rewritten or not references_in(text)}

    def document(self) -> dict[str, Any]:
        """Returns the survey file."""
        form = self.form
        document: dict[str, Any] = {"deniable": "1", "id": legal_id(form.identifier.lower(), "[^a-z0-9_-]+", SURVEY_ID, "survey")}
        document |= {"title": truncate(form.title, LENGTHS["title"]) or "Survey", "about": ABOUT, "epsilon": EPSILON}
        self.say("about", "changed", "a form does not say who asks and why: write it")
        self.say(
            "epsilon", "changed", f"a form has no epsilon: it is {EPSILON} for the whole survey; check what that reveals, and change it"
        )
        own = tag_of(form.language or form.default_language)
        if not own:
            self.say("language", "changed", "the form names no known language: its texts count as English; change it if they are not")
        elif own != "en":
            document["language"] = own
        document |= self.section_order()
        translations = self.tagged_translations(own or "en")
        return {**document, **({"translations": translations} if translations else {}), "questions": self.questions}

    def tagged_translations(self, own: str) -> dict[str, Any]:
        """Returns the translations by the tags of their languages, and reports those that are left out."""
        translations = {}
        for language, questions in self.translations.items():
            tag = tag_of(language)
            if tag and tag != own:
                translations[tag] = {"questions": questions}
            elif tag:
                self.say(language, "refused", "its texts are left out: the survey itself is in this language")
            else:
                self.say(language, "refused", "its texts are left out: name the language with its tag, as in “English (en)”")
        return translations

    def unused_id(self, name: str) -> str:
        ids, start = {question["id"] for question in self.questions}, legal_id(name, "[^A-Za-z0-9_]+", QUESTION_ID, "q")
        candidates = chain((start,), (f"{start[:55]}_{number}" for number in count(2)))
        return next(candidate for candidate in candidates if candidate not in ids)


def _about(beginning: str, condition: Expression, end: str) -> str:
    return f"{beginning} {truncate(condition.text, MOST_TEXT)}. {end}" if condition != ALWAYS else end


def _translatable(texts: dict[str, Any], question: dict[str, Any]) -> dict[str, Any]:
    """Returns the help and section of another language that the question also has in the form's own."""
    own_help = {"help": texts["help"]} if "help" in texts and "help" in question else {}
    section = {key: text for key, text in texts.get("section", {}).items() if key in question.get("section", {})}
    return {**own_help, **({"section": section} if section else {})}
