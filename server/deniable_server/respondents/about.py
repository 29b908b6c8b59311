"""Information pages: a survey's definition and how to verify it, privacy, and accessibility."""

from __future__ import annotations

import shlex

from flask import redirect, render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from deniable_server.web import languages, page_cache
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.compression import compressed
from deniable_server.web.lanes import Lane
from deniable_server.web.links import respondents_link, server_address

bp = Routes("about", __name__, Audience(login=False, forms=False, csrf=False, translated=True), Lane.RESPONDENTS)

RECOMPUTE = """\
import hashlib, json, sys
from fractions import Fraction
raw = sys.stdin.buffer.read()
print(hashlib.sha256(raw).hexdigest())
for q in json.loads(raw)["questions"]:
    k, keep, coin = q["k"], q["keep_threshold"], 2**32
    w = q.get("window", 0)
    near, far = (w, q["outputs"] - (1 if k > q["levels"] else w)) if w else (q["d"], k - q["d"])
    own, other = Fraction(keep, coin * (w or 1)), Fraction(coin - keep, coin * far) if w else Fraction(near * coin - keep, coin * (k - 1))
    print(q["id"], own, other, Fraction(keep * far, (coin - keep) * near))
"""
"""A program that reads a definition and prints its digest and the odds of its coins, in whole numbers only."""


@bp.get("/")
def home() -> AnyResponse:
    """Serves the home page."""
    return redirect(url_for("researchers.surveys"))


@bp.get("/s/<survey_id>/definition")
@page_cache.cacheable()
@compressed
def definition(survey_id: str) -> str:
    """Serves a survey's definition with exact odds, which anyone can recompute from the definition's bytes."""
    survey = page_cache.published(survey_id).survey
    languages.about(survey)
    download = "curl -s " + shlex.quote(server_address() + url_for("api.definition", survey_id=survey.id))
    commands = {
        "digest": f"{download} | sha256sum",
        "verify": "deniable verify " + shlex.quote(respondents_link(survey)),
        "recompute": f"{download} | python3 recompute.py",
    }
    return render_template("respondents/definition.html", survey=survey, commands=commands, recompute=RECOMPUTE)


@bp.get("/privacy")
@page_cache.cacheable()
@compressed
def privacy() -> str:
    """Serves the privacy page: what happens to respondents' data, in plain words."""
    return render_template("respondents/privacy.html")


@bp.get("/accessibility")
@page_cache.cacheable()
@compressed
def accessibility() -> str:
    """Serves the accessibility statement: its aims, how they were tested, and known gaps."""
    return render_template("respondents/accessibility.html")
