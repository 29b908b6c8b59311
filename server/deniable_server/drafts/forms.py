"""Forms of drafts: start, edit the source, publish."""

from __future__ import annotations

from flask_wtf import FlaskForm
from flask_wtf.file import FileField
from wtforms import BooleanField, Form, HiddenField, IntegerField, SubmitField, TextAreaField
from wtforms.validators import ValidationError

from deniable.extras import available
from deniable_server.drafts.editor.forms import PLANNED
from deniable_server.pages.forms import people


class BeginForm(FlaskForm):
    """The start of a draft: a file, a topic or the example."""

    file = FileField("A survey file or a downloaded definition (YAML or JSON), or a survey of LimeSurvey (.lss) or Qualtrics (.qsf)")
    upload = SubmitField("Use this file")

    def __init__(self) -> None:
        super().__init__()
        self.accepts = ".yaml,.yml,.json,.lss,.lsg,.lsq,.qsf"
        if available("xlsform"):
            self.file.label.text += ", or an XLSForm (.xlsx or .xls)"
            self.accepts += ",.xlsx,.xls"


class SourceForm(FlaskForm):
    """A survey file as text. `revision` is of the text that the page shows."""

    source = TextAreaField("Survey file", render_kw={"rows": 24, "spellcheck": "false", "autocomplete": "off"})
    file = FileField("Replace with a file")
    revision = HiddenField()
    save = SubmitField("Save and check")
    publish = SubmitField("Publish")
    over = SubmitField("Replace with mine")
    keep = SubmitField("Save mine separately")

    def validate_file(self, field: FileField) -> None:
        """Replaces the text with an uploaded file."""
        if not field.data:
            return
        try:
            self.source.data = field.data.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ValidationError("The file must be UTF-8 text.") from None

    def text(self) -> str:
        """Returns the text with line ends of one character: browsers send two."""
        return (self.source.data or "").replace("\r\n", "\n")


class PublishForm(FlaskForm):
    """Confirmation that a draft is published.

    Attributes:
        revision: Of the text that the page shows.
        same_title: Publish it although another owner's survey has a similar title.
    """

    revision = HiddenField()
    same_title = BooleanField("Publish with this title")


class LevelForm(Form):
    """A level of protection for a number of people. `revision` is of the draft that the page shows."""

    n = IntegerField("How many people may answer?", [people()], default=PLANNED)
    together = BooleanField("Compare answers to several questions, in cross tables or models")
    level = HiddenField()
    revision = HiddenField()
