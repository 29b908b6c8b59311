"""Forms of studies and tags."""

from __future__ import annotations

from typing import Any

from flask_wtf import FlaskForm
from wtforms import StringField
from wtforms.validators import Length, ValidationError

from deniable_server.store.studies import MOST_NAME, study_name
from deniable_server.store.tags import MOST_CHARACTERS, MOST_TAGS, read_tags


class TagsForm(FlaskForm):
    """The tags of a survey or a draft, separated by commas. `value` is the tags once the form is valid."""

    tags = StringField("Tags, separated by commas", [Length(max=4_000)], render_kw={"autocomplete": "off", "dir": "auto"})
    value: tuple[str, ...] = ()

    def validate_tags(self, field: Any) -> None:
        """Reads the tags. Raises ValidationError with the broken rule."""
        try:
            self.value = read_tags(field.data or "")
        except ValueError:
            rule = f"Enter at most {MOST_TAGS} tags of at most {MOST_CHARACTERS} visible characters, separated by commas."
            raise ValidationError(rule) from None


class RenameTagForm(FlaskForm):
    """A new name for a tag."""

    tag = StringField()
    new = StringField("New name", render_kw={"autocomplete": "off", "dir": "auto"})
    value = ""

    def validate_new(self, field: Any) -> None:
        """Reads the name. Raises ValidationError unless it is one tag."""
        try:
            (self.value,) = read_tags(field.data or "")
        except ValueError:
            raise ValidationError(f"Enter one tag of at most {MOST_CHARACTERS} visible characters, without a comma.") from None


class StudyForm(FlaskForm):
    """The name of a study."""

    name = StringField("Name of the study", [Length(max=MOST_NAME)], render_kw={"autocomplete": "off", "dir": "auto"})

    def validate_name(self, field: Any) -> None:
        """Requires a name. Raises ValidationError without one."""
        if not study_name(field.data or ""):
            raise ValidationError("Enter a name.")
