"""What the commands that read a live survey have in common: who asks, and which records."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from deniable.cli.options import key_option, opened_client, survey_option, unset
from deniable.sdk.client import SurveyClient

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_user = click.option("--user", metavar="NAME", help="The researcher's name, as for logging in.  [default: the key is used]")
_password = click.option("--password-env", metavar="VAR", help="The environment variable that has the password.  [default: ask]")
group_option = click.option("--group", metavar="LABEL", help="The figures of this group only, where the survey has groups.")
by_hand_option = click.option(
    "--by-hand", is_flag=True, help="The figures of those who answered with real coins; they are in no other results."
)
sample_option = click.option(
    "--sample",
    "sample_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A YAML or JSON file that says how people were drawn: clusters, strata, population, margins, attributes.",
)


def sampled(options: dict[str, Any]) -> dict[str, Any]:
    """The options with the sample in the file that `sample_option` took, if it took one."""
    path = options.pop("sample_file")
    if path is None:
        return options
    from deniable.estimate.samples.sample import Sample

    try:
        return {**options, "sample": Sample.from_text(path.read_text(encoding="utf-8-sig"))}
    except UnicodeDecodeError:
        raise click.BadParameter("the file must be in UTF-8", param_hint="--sample") from None


def account_options(command: Decorated) -> Decorated:
    """The options that say who asks: what `account` takes."""
    for option in (key_option, _password, _user):
        command = option(command)
    return command


def who_options(command: Decorated) -> Decorated:
    """The options that say which survey, and who asks: what `reader` takes."""
    return survey_option(account_options(command))


def reader(address: str, options: dict[str, Any]) -> SurveyClient:
    """A client of a survey for whoever asks. Takes what `who_options` gave out of the options."""
    return opened_client(address, options.pop("survey_id"), **account(options))


def account(options: dict[str, Any]) -> dict[str, Any]:
    """Who asks, as SurveyClient takes it: by name and password, or else by the key. Asks for a password that nothing names.

    Takes what `account_options` gave out of the options.
    """
    user, password_env, key = (options.pop(name) for name in ("user", "password_env", "key"))
    if user is None and password_env is None and key is not None:
        return {"key": key}
    if user is None:
        raise click.UsageError("--user is missing (or a key, in the environment variable that --key-env names)")
    password = os.environ.get(password_env) if password_env else click.prompt("Password", hide_input=True, err=True)
    if password is None:
        raise unset(str(password_env), "--password-env")
    return {"auth": (user, password)}
