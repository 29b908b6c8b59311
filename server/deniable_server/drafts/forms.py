"""Forms of drafts: start, edit the source, publish."""

from __future__ import annotations

from flask_wtf import FlaskForm
from flask_wtf.file import FileField
from wtforms import (
    BooleanField,
    HiddenField,
    SubmitField,
    TextAreaField,
)
from wtforms.validators import ValidationError

from deniable.extras import available


class BeginForm(FlaskForm):  # type: ignore[misc]
    """What a draft begins with: a file, a topic, or nothing."""

    file = FileField("A survey file (YAML or JSON)")
    upload = SubmitField("Begin with this file")

    def __init__(self) -> None:
        super().__init__()
        self.accepts = ".yaml,.yml,.json"
        if available("xlsform"):
            self.file.label.text += ", or an XLSForm (.xlsx or .xls)"
            self.accepts += ",.xlsx,.xls"


class SourceForm(FlaskForm):  # type: ignore[misc]
    """A survey file as it is written. revision: of the text that the page was made from."""

    source = TextAreaField("Survey file", render_kw={"rows": 24, "spellcheck": "false", "autocomplete": "off"})
    file = FileField("Or choose a file in its place")
    revision = HiddenField()
    save = SubmitField("Save and check")
    publish = SubmitField("Publish")
    over = SubmitField("Put mine in its place")
    keep = SubmitField("Keep mine as a draft of its own")

    def validate_file(self, field: FileField) -> None:
        if not field.data:
            return
        try:
            self.source.data = field.data.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ValidationError("Save the file as UTF-8 text: this one is not.") from None

    def text(self) -> str:
        """The survey as it is to be read: browsers send lines that end in two characters."""
        return (self.source.data or "").replace("\r\n", "\n")


class PublishForm(FlaskForm):  # type: ignore[misc]
    """That a draft is to be published.

    Attributes:
        revision: Names the text that was asked about.
        same_title: Publish it though another owner's survey has a title that looks the same.
    """

    revision = HiddenField()
    same_title = BooleanField("Publish it with this title")
