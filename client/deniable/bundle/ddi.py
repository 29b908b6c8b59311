"""DDI-Codebook 2.5 (XML): study, file and variables for data archives; each variable states its mechanism."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree as ET

from deniable.bundle import codebook, texts
from deniable.bundle.counted_records import CountedRecords
from deniable.bundle.data_package import FileHash
from deniable.bundle.variables import Variable

NAMESPACE = "ddi:codebook:2_5"
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_FILE = "F1"
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_xml(counted: CountedRecords, columns: tuple[Variable, ...], licence: str, rows: FileHash) -> bytes:
    """Returns the codebook of rows.csv.

    Args:
        counted: The records.
        columns: The columns of the rows.
        licence: One of `texts.LICENCES`.
        rows: The size and hash of rows.csv.
    """
    ET.register_namespace("", NAMESPACE)
    root = ET.Element(f"{{{NAMESPACE}}}codeBook", {"version": "2.5", _LANGUAGE: "en"})
    _study(_add(root, "stdyDscr"), counted, licence)
    _file(_add(root, "fileDscr", ID=_FILE), counted, columns, rows)
    data = _add(root, "dataDscr")
    for number, column in enumerate(columns, start=1):
        _variable(data, number, column, counted)
    ET.indent(root)
    content: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _add(parent: ET.Element, tag: str, text: str = "", language: str = "", /, **attributes: str) -> ET.Element:
    """Adds an element. language: of its text, if that is not English."""
    element = ET.SubElement(parent, f"{{{NAMESPACE}}}{tag}", {**attributes, **({_LANGUAGE: language} if language else {})})
    if text:
        element.text = _UNPRINTABLE.sub("\ufffd", text)
    return element


def _study(study: ET.Element, counted: CountedRecords, licence: str) -> None:
    survey = counted.survey
    citation = _add(study, "citation")
    title = _add(citation, "titlStmt")
    _add(title, "titl", survey.title, survey.language)
    for language in survey.languages[1:]:
        _add(title, "parTitl", *survey.text_in(language, "title"))
    _add(title, "IDNo", survey.digest, agency="SHA-256 of the definition")
    if survey.institution:
        _add(_add(citation, "rspStmt"), "AuthEnty", survey.institution, survey.language)
    if survey.contact:
        _add(_add(citation, "distStmt"), "contact", survey.contact, survey.language)
    _add(citation, "biblCit", texts.citation(counted))
    about = _add(study, "stdyInfo")
    _add(about, "abstract", survey.about, survey.language)
    summary = _add(about, "sumDscr")
    _add(summary, "anlyUnit", "Person")
    _add(summary, "dataKind", "Randomized survey records (local differential privacy)")
    method = _add(study, "method")
    collection = _add(method, "dataColl")
    _add(collection, "collMode", "Self-administered; each answer is randomized before it is sent")
    _add(collection, "weight", "None")
    _add(method, "notes", texts.method(counted), type="method")
    analysis = _add(method, "anlyInfo")
    _add(analysis, "EstSmpErr", texts.odds(survey))
    use = _add(_add(study, "dataAccs"), "useStmt")
    _add(use, "conditions", f"{texts.publishable(survey)} {texts.LICENCES[licence]}")
    for sentence in texts.limits(counted):
        _add(study, "notes", sentence, type="limit")


def _file(description: ET.Element, counted: CountedRecords, columns: tuple[Variable, ...], rows: FileHash) -> None:
    text = _add(description, "fileTxt")
    _add(text, "fileName", "rows.csv")
    dimensions = _add(text, "dimensns")
    _add(dimensions, "caseQnty", str(counted.n))
    _add(dimensions, "varQnty", str(len(columns)))
    _add(text, "fileType", "text/csv; charset=utf-8")
    _add(description, "notes", f"SHA-256 {rows.sha256}, {rows.size} bytes", type="checksum")


def _variable(data: ET.Element, number: int, column: Variable, counted: CountedRecords) -> None:
    language = counted.survey.language
    variable = _add(data, "var", ID=f"V{number}", name=column.name, files=_FILE, intrvl="discrete")
    _add(variable, "labl", column.label)
    if column.field:
        _question(variable, column.field.item.id, counted)
    for code, label in column.values.items():
        category = _add(variable, "catgry")
        _add(category, "catValu", str(code))
        _add(category, "labl", label, language)
    _add(variable, "varFormat", type="numeric", schema="other", formatname="whole number")
    if column.field:
        item = column.field.item
        _add(variable, "notes", codebook.coins_in_words(item.channel), type="mechanism")
        _add(variable, "notes", f"epsilon {item.channel.epsilon:.9f}", type="epsilon")


def _question(variable: ET.Element, item: str, counted: CountedRecords) -> None:
    """Adds the question of an item in each language of the survey."""
    survey = counted.survey
    question = next(one for one in survey.questions if any(part.id == item for part in one.items))
    for text, language in _unique(survey.question_in(language, question) for language in survey.languages):
        _add(_add(variable, "qstn", "", language), "qstnLit", text)


def _unique(texts_in: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    return dict.fromkeys(texts_in)
