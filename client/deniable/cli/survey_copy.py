"""Survey files copied from a file, a definition or a published survey: the option `--from` of the command `new`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from deniable.cli.options import survey_client
from deniable.errors import SurveyError
from deniable.survey.copies import file_of_definition, survey_file, with_id
from deniable.survey.document import MAX_BYTES, parse
from deniable.survey.parse import SURVEY_ID

_LARGEST_EPSILON = 1e6  # a copy takes part in nothing, so the protection of the original does not matter


def copied_text(source: str, survey_id: str | None) -> str:
    """Returns the text of a new survey file.

    Args:
        source: The path of a survey file or a definition, or the link of a published survey.
        survey_id: The id of the copy; by default the id of the original.

    Raises:
        click.ClickException: The source cannot be read, or is not a survey.
        DeliveryError, RefusedError: The published survey cannot be fetched, or is not the one that its link names.
    """
    if survey_id is not None and not SURVEY_ID.fullmatch(survey_id):
        raise click.UsageError("--id must be 1 to 64 of a-z, 0-9, - and _, a letter or digit first, got another text")
    text = _published(source) if "://" in source else _read(Path(source))
    try:
        value = parse(text).value
    except SurveyError:
        value = None
    if not isinstance(value, Mapping) or "deniable" not in value:  # it may be a file of answers, which no message quotes
        raise click.ClickException(f"{source} must be a survey file or a definition, got another file; nothing was written")
    return with_id(text, survey_id) if survey_id else text


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            text = file.read(4 * MAX_BYTES + 1).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise click.ClickException(f"{path} must be UTF-8 text") from None
    except OSError as error:
        raise click.ClickException(f"{path} cannot be read: {error.strerror}") from None
    return file_of_definition(text) or text


def _published(link: str) -> str:
    with survey_client(link, None, outbox=":memory:", max_epsilon=_LARGEST_EPSILON, min_batch=1, min_group=1) as client:
        return survey_file(client.survey().definition)
