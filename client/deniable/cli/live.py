"""Commands on a live survey: login, selection of records, and output."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cached_property, update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.command import Function, command
from deniable.cli.options import form_options, key_option, print_result, survey_client, survey_option, unset_variable_error
from deniable.errors import RejectedError
from deniable.sdk.client import SurveyClient

if TYPE_CHECKING:
    from deniable.estimate.analysis import Analysis

address_argument: Callable[[Function], Function] = click.argument("address")
group_option = click.option("--group", metavar="LABEL", help="Use the records of this group only.")
by_hand_option = click.option(
    "--by-hand", is_flag=True, help="Use the records of people who tossed real coins; other results leave them out."
)
sample_option = click.option(
    "--sample",
    "sample_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A YAML or JSON file with the sample design: clusters, strata, population, margins, attributes.",
)
_user = click.option("--user", metavar="NAME", help="Your name at login.  [default: use the API key]")
_password = click.option("--password-env", metavar="VAR", help="The environment variable with your password.  [default: ask]")
_LOGIN = ("survey_id", "user", "password_env", "key")
_SELECTION = ("group", "by_hand", "sample_file", "confidence", "method", "target")
"""Options that select and weight records, and say how intervals are computed; the client's methods take them."""


def account_options(function: Function) -> Function:
    """Adds the options for login, which `credentials` takes."""
    for option in (key_option, _password, _user):
        function = option(function)
    return function


def survey_options(function: Function) -> Function:
    """Adds the options for a survey and login, which `researcher_client` takes."""
    return survey_option(account_options(function))


def researcher_client(address: str, options: dict[str, Any]) -> SurveyClient:
    """Returns a client of a survey that logs in. Removes its own options from `options`."""
    return survey_client(address, options.pop("survey_id"), **credentials(options))


def credentials(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of SurveyClient for login: a name and a password, or an API key. Prompts for a missing password.

    Removes its own options from `options`.

    Raises:
        click.UsageError: There is neither a name nor a key.
        click.BadParameter: The password's environment variable is not set.
    """
    user, password_env, key = (options.pop(name) for name in ("user", "password_env", "key"))
    if user is None and password_env is None and key is not None:
        return {"key": key}
    if user is None:
        raise click.UsageError("--user is missing (or an API key, in the environment variable that --key-env names)")
    password = os.environ.get(password_env) if password_env else click.prompt("Password", hide_input=True, err=True)
    if password is None:
        raise unset_variable_error(str(password_env), "--password-env")
    return {"auth": (user, password)}


class LiveSurvey:
    """The survey of a command, with the selection of its records. Logs in when it is first used, after the command's own checks.

    Attributes:
        selection: Arguments for the client's methods that return figures.
    """

    def __init__(self, address: str, options: dict[str, Any]) -> None:
        """Removes the options for login and selection from `options`."""
        self._address = address
        self._login = {name: options.pop(name) for name in _LOGIN}
        self.selection = {name: options.pop(name) for name in _SELECTION if name in options}
        if (path := self.selection.pop("sample_file", None)) is not None:
            self.selection["sample"] = _sample(path)

    @cached_property
    def client(self) -> SurveyClient:
        """The client, logged in."""
        return researcher_client(self._address, self._login)

    @property
    def id(self) -> str:
        """The survey's id."""
        return self.client.survey_id or ""

    def analysis(self, survey_id: str | None = None, **options: Any) -> Analysis:
        """Returns an analysis of this survey, or of another one on its server. Options override the selection."""
        return self.client.analysis(survey_id or self.id, **{**self.selection, **options})

    def analyses(self, groups: Sequence[str], **options: Any) -> dict[str, Analysis]:
        """Returns an analysis of each group. Leaves out groups with too few records, and names them on standard error."""
        analyses = {}
        for group in groups:
            try:
                analyses[group] = self.analysis(**{**options, "group": group})
            except RejectedError as error:
                if error.status != 403:  # these credentials may see the survey, so 403 means that the group's results are withheld
                    raise
                click.echo(f"{group} is left out: {error}", err=True)
        return analyses

    def close(self) -> None:
        """Closes the client, if it was used."""
        if "client" in vars(self):
            self.client.close()


def _sample(path: Path) -> Any:
    """Returns the sample design in a file. Raises click.BadParameter if it is not text."""
    from deniable.estimate.samples.sample import Sample

    try:
        return Sample.from_text(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise click.BadParameter("the file must be in UTF-8", param_hint="--sample") from None


def live_command(name: str, *decorators: Callable[[Function], Function]) -> Callable[[Function], click.Command]:
    """Decorates a function that computes a result for a survey, and makes it a command that prints the result.

    Args:
        name: The name of the command.
        decorators: Its arguments after ADDRESS, and its options. The function gets the survey, and the values of those that do not
            select records.
    """

    def decorate(compute: Function) -> click.Command:
        def run(address: str, form: str | None, **options: Any) -> None:
            with closing(LiveSurvey(address, options)) as survey:
                result = compute(survey, **options)
            print_result(result, form)

        function: Function = update_wrapper(run, compute)
        for decorator in (form_options, survey_options, *reversed(decorators), address_argument):
            function = decorator(function)
        result: click.Command = command(name)(function)
        return result

    return decorate
