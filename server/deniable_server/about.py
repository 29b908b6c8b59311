"""Pages about the system, for people: what a survey has published and how to check it, what happens to data, how accessible it all is."""

from __future__ import annotations

import shlex

from flask import Blueprint, render_template, url_for

from deniable_server import current_store
from deniable_server.compression import compressed
from deniable_server.respond import respondents_link, server_address

bp = Blueprint("about", __name__)

RECOMPUTE = """\
import hashlib, json, sys
from fractions import Fraction
raw = sys.stdin.buffer.read()
print(hashlib.sha256(raw).hexdigest())
for q in json.loads(raw)["questions"]:
    k, d, keep, coin = q["k"], q["d"], q["keep_threshold"], 2**32
    own, other = Fraction(keep, coin), Fraction(d * coin - keep, coin * (k - 1))
    print(q["id"], own, other, Fraction(keep * (k - d), (coin - keep) * d))
"""
"""Reads a definition and prints its digest and the odds of its coins, by itself and in whole numbers only."""


@bp.get("/s/<survey_id>/definition")
@compressed
def definition(survey_id: str) -> str:
    """What a survey has published, with exact odds: everything on this page can be computed from the definition's bytes."""
    survey = current_store().published(survey_id).survey
    download = "curl -s " + shlex.quote(server_address() + url_for("api.definition", survey_id=survey.id))
    commands = {
        "digest": f"{download} | sha256sum",
        "verify": "deniable verify " + shlex.quote(respondents_link(survey)),
        "recompute": f"{download} | python3 recompute.py",
    }
    return render_template("respond/definition.html", survey=survey, commands=commands, recompute=RECOMPUTE)


@bp.get("/privacy")
@compressed
def privacy() -> str:
    """What happens to what respondents do, in plain words."""
    return render_template("respond/privacy.html")


@bp.get("/accessibility")
@compressed
def accessibility() -> str:
    """What the pages aim at, how that was tested, and what is known to be missing."""
    return render_template("respond/accessibility.html")
