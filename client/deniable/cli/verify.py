"""`deniable verify`: does a server serve what was released?"""

from __future__ import annotations

import json
import shutil
from typing import Any

import click

from deniable.cli.options import survey_option
from deniable.verify import Verdict, verify
from deniable.verify.released import name
from deniable.wire.link import Link
from deniable.wire.six_words import six_words


@click.command("verify")
@click.argument("address")
@survey_option
@click.option("--browser", "real", is_flag=True, help="Load the page in a real Chromium as well, and compare what that received and ran.")
@click.option("--browser-program", metavar="PATH", help="The Chromium to use with --browser, where it is not on the PATH.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify_command(address: str, survey_id: str | None, real: bool, browser_program: str | None, as_json: bool) -> None:
    """Compare what a server serves with the files that were released.

    ADDRESS is the survey's link, or the server's address with --survey. What respondents get is compared: the page, in
    every language, its script and its style sheets must be, byte for byte, those of this release of deniable, and the
    script what the modules that are served beside it make; the headers must protect them, and no others may be there;
    and the definition must be what its epsilons imply, with the digest of the link. With the server installed too
    (deniable[server]), so must every other page and form. --browser loads the page in a real Chromium, which no server
    can tell from a visitor by its requests; it needs deniable[browser].

    The exit code is 0 if all that holds, and 1 if not: then each page, file and header that differs, is missing or is
    unexpected is listed. 3: the server or the browser could not be reached.

    What this shows is what was served here and now. A server that means harm can serve something else to another
    visitor, or later. Several people who verify, from several networks, make that risky; who wants to be sure
    sends with `deniable submit` instead of the page.

    \b
    Examples:
      deniable verify 'https://example.org/s/health#digest=9f…'
      deniable verify https://example.org --survey health --json
      deniable verify --browser 'https://example.org/s/health#digest=9f…'
    """
    verdict = verify(_link(address, survey_id), browser=(browser_program or chromium()) if real or browser_program else None)
    click.echo(_json(verdict) if as_json else _told(verdict))
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
    """The Chromium of this machine."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
    if found is None:
        raise click.UsageError("--browser needs Chromium or Chrome, and finds none on the PATH; name it with --browser-program PATH")
    return found


def _json(verdict: Verdict) -> str:
    findings = [found._asdict() for found in verdict.findings]
    own: dict[str, Any] = {
        "release": name(),
        "server": verdict.url,
        "survey": verdict.survey,
        "digest": verdict.digest,
        "right": not findings,
    }
    own["words"] = {"survey": verdict.digest and six_words(verdict.digest), "script": verdict.script and six_words(verdict.script)}
    told = {"checked": verdict.checked, "left": verdict.left, "ran": dict(verdict.ran), "findings": findings}
    return json.dumps({**own, **told}, indent=2, ensure_ascii=False)


def _told(verdict: Verdict) -> str:
    head = f"{verdict.url}, survey {verdict.survey}, compared with {name()}:"
    checked = [f"  {what}" for what in verdict.checked] + [f"  not compared: {what}" for what in verdict.left]
    checked += [f"  words of the survey: {six_words(verdict.digest)}"] if verdict.digest else []
    checked += [f"  words of the page's program: {six_words(verdict.script)}"] if verdict.script else []
    checked += [f"  ran {hash_} {path}" for path, hash_ in verdict.ran.items()]
    if verdict.findings:
        found = [f"  {found.kind}: {found.name} {found.message}" for found in verdict.findings]
        return "\n".join(
            [
                head,
                *checked,
                f"{len(found)} not as released:",
                *found,
                "A server that runs another release differs too: verify with that one.",
            ]
        )
    right = "What was compared is as released." if verdict.left else "All is as released."
    return "\n".join([head, *checked, f"{right} Another visitor may be served something else."])
