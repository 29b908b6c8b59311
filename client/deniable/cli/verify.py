"""Verification of a server's pages against the release: the command `verify`."""

from __future__ import annotations

import json
import shutil
from typing import Any

import click

from deniable.cli.command import command
from deniable.cli.options import survey_option
from deniable.verify import Verdict, verify
from deniable.verify.released import name
from deniable.wire.link import Link
from deniable.wire.six_words import six_words


@command("verify")
@click.argument("address")
@survey_option
@click.option("--browser", "real", is_flag=True, help="Also load the page in a real Chromium, and compare what it received and ran.")
@click.option("--browser-program", metavar="PATH", help="The Chromium for --browser, if it is not on the PATH.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify_command(address: str, survey_id: str | None, real: bool, browser_program: str | None, as_json: bool) -> None:
    """Compare a server's pages with the released files.

    ADDRESS is the survey's link, or the server's address with --survey. Compares everything that respondents get:

    The page in every language, its script and its style sheets must be, byte for byte, the files of this release of deniable. The script
    must be what the modules served beside it build. Security headers must be present, and unknown headers absent. The definition must
    be the canonical one for its epsilons, and have the link's digest. If deniable[server] is installed, every other page and form is
    compared too.

    --browser loads the page in a real Chromium, which a server cannot distinguish from a visitor by its requests. It needs
    deniable[browser].

    The exit code is 0 if everything matches. It is 1 if a page, file or header differs, is missing or is unexpected; each is listed.
    It is 3 if the server or the browser could not be reached.

    This verifies what the server sent here and now. A malicious server can send something else to another visitor, or later. The more
    people verify, from different networks, the likelier it is that such a server is caught. To be certain, send answers with
    `deniable submit` instead of the page.

    Examples:
      deniable verify 'https://example.org/s/health#digest=9f…'
      deniable verify https://example.org --survey health --json
      deniable verify --browser 'https://example.org/s/health#digest=9f…'
    """
    verdict = verify(_link(address, survey_id), browser=(browser_program or chromium()) if real or browser_program else None)
    click.echo(_to_json(verdict) if as_json else _in_words(verdict))
    raise click.exceptions.Exit(1 if verdict.findings else 0)


def _link(address: str, survey_id: str | None) -> Link:
    try:
        link = Link.parse(address if survey_id is None or "/s/" in address else str(Link(address.rstrip("/"), survey_id)))
    except ValueError as error:
        hint = "" if survey_id else " (or give a server's address, and --survey ID)"
        raise click.UsageError(f"{error}{hint}") from None
    if survey_id not in (None, link.survey):
        raise click.UsageError(f"--survey must be the survey of the link, {link.survey}, got {survey_id}")
    return link


def chromium() -> str:
    """Returns the path of this machine's Chromium. Raises click.UsageError if there is no Chromium."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
    if program is None:
        raise click.UsageError("--browser needs Chromium or Chrome, but neither is on the PATH; name it with --browser-program PATH")
    return program


def _to_json(verdict: Verdict) -> str:
    document: dict[str, Any] = {
        "release": name(),
        "server": verdict.url,
        "survey": verdict.survey,
        "digest": verdict.digest,
        "right": not verdict.findings,
        "words": {"survey": verdict.digest and six_words(verdict.digest), "script": verdict.script and six_words(verdict.script)},
        "checked": verdict.checked,
        "left": verdict.left,
        "ran": dict(verdict.ran),
        "findings": [finding._asdict() for finding in verdict.findings],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _in_words(verdict: Verdict) -> str:
    lines = [f"{verdict.url}, survey {verdict.survey}, compared with {name()}:"]
    lines += [f"  {comparison}" for comparison in verdict.checked]
    lines += [f"  not compared: {omission}" for omission in verdict.left]
    lines += [f"  words of the survey: {six_words(verdict.digest)}"] if verdict.digest else []
    lines += [f"  words of the page's program: {six_words(verdict.script)}"] if verdict.script else []
    lines += [f"  ran {sha384} {path}" for path, sha384 in verdict.ran.items()]
    if verdict.findings:
        differences = "1 difference" if len(verdict.findings) == 1 else f"{len(verdict.findings):,} differences"
        lines.append(f"{differences} from the release:")
        lines += [f"  {finding.kind}: {finding.name} {finding.message}" for finding in verdict.findings]
        lines.append("A server of another release differs too: verify it with that release.")
    else:
        match = "Everything compared matches the release." if verdict.left else "Everything matches the release."
        lines.append(f"{match} The server may send something else to another visitor.")
    return "\n".join(lines)
