"""Tables of a LimeSurvey file: XML without entities. Each table has rows of named texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from deniable.errors import Problem, SurveyError

MOST_BYTES = 8 << 20
MOST_ROWS = 100_000
Record = dict[str, str]
"""A row: texts by the names of its columns."""


@dataclass
class Tables:
    """Builder of the tables while a file is parsed.

    Attributes:
        rows: The rows of each table.
        kind: Whether the file is a survey, a group or a question.
        languages: The languages that the file names.
    """

    rows: dict[str, list[Record]] = field(default_factory=dict)
    kind: str = ""
    languages: list[str] = field(default_factory=list)
    _path: list[str] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _count: int = 0

    def start(self, name: str, _: object) -> None:
        """Begins an element."""
        self._path.append(name)
        self._text.clear()
        if len(self._path) == 4 and name == "row":
            self._count += 1
            if self._count > MOST_ROWS:
                raise SurveyError([Problem("file", f"must have at most {MOST_ROWS:,} rows, got more")])
            self.rows.setdefault(self._path[1], []).append({})

    def end(self, name: str) -> None:
        """Ends an element."""
        text = "".join(self._text).strip()
        self._text.clear()
        if len(self._path) == 5 and self._path[3] == "row":
            self.rows[self._path[1]][-1][name] = text
        elif self._path[1:] == ["LimeSurveyDocType"]:
            self.kind = text
        elif self._path[1:] == ["languages", "language"]:
            self.languages.append(text)
        self._path.pop()

    def data(self, text: str) -> None:
        """Adds text to the current element."""
        self._text.append(text)

    def table(self, name: str) -> list[Record]:
        """Returns the rows of a table."""
        return self.rows.get(name, [])


def tables_of(raw: bytes) -> Tables:
    """Returns the tables of a file.

    Raises:
        SurveyError: It is no file of LimeSurvey, is too large, or declares entities, which could unfold to any size.
    """
    if len(raw) > MOST_BYTES:
        raise SurveyError([Problem("file", f"must be at most {MOST_BYTES >> 20} MiB, got more")])
    tables = Tables()
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = tables.start, tables.end, tables.data
    parser.EntityDeclHandler = _refuse_entity
    parser.StartDoctypeDeclHandler = _refuse_entity
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        raise SurveyError([Problem("file", f"must be a file of LimeSurvey; it is not valid XML in line {error.lineno}")]) from None
    if tables.kind not in ("Survey", "Group", "Question"):
        raise SurveyError([Problem("file", "must be a survey, group or question of LimeSurvey: .lss, .lsg or .lsq")])
    return tables


def _refuse_entity(*_: object) -> None:
    raise SurveyError([Problem("file", "must be a file of LimeSurvey without a document type and entities")])
