"""Data page: downloads of randomized rows, codebook, figures and scripts, for publication."""

from __future__ import annotations

from flask import abort, render_template, request

from deniable.bundle import FILES, LICENCES, approximate_sizes, omitted_files, publishable
from deniable_server.context import current_store
from deniable_server.pages import figures
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.routes import Page, routes
from deniable_server.results import bundles
from deniable_server.results.disclosure_control import counted, labelled_rows
from deniable_server.store.protocol import by_hand, estimated
from deniable_server.store.roles import Role
from deniable_server.web.audience import least
from deniable_server.web.errors import WithheldError
from deniable_server.web.lanes import computing
from deniable_server.web.offload import computed

bp = routes("data", __name__)
LICENCE_NAMES = {"cc-by-4.0": "CC BY 4.0: your name is given", "cc0-1.0": "CC0: free for all uses", "none": "none for now"}
assert set(LICENCE_NAMES) == set(LICENCES)


@bp.get("/manage/surveys/<survey_id>/data")
@least(Role.ANALYST)
@computed()
def page(survey_id: str) -> Page:
    """Lists the files and their approximate sizes."""
    store = current_store()
    published = store.surveys.published(survey_id)
    counts, survey = store.submissions.counts(survey_id), published.survey
    sizes = {"n": counted(counts, estimated(survey)), "apart": counted(counts, by_hand(survey))}
    n = sum(sizes.values())
    lengths = {name: figures.file_size(*size) for name, size in approximate_sizes(survey, n).items()}
    refusal, omitted = "", tuple[str, ...]()
    try:
        omitted = labelled_rows(store, survey).omitted
    except WithheldError as error:
        refusal = str(error)
    context = {
        "published": published,
        "refusal": refusal,
        "omitted": omitted,
        "settings": store.life.settings(survey_id),
        **sizes,
        "lengths": lengths,
        "files": FILES,
        "missing": omitted_files(survey, n),
    }
    context |= {"licences": LICENCE_NAMES, "publishable": publishable(survey), "all": bundles.ALL, "form": ActionForm()}
    return render_template("researchers/data.html", **context)


@bp.get("/manage/surveys/<survey_id>/data/<path:name>")
@least(Role.ANALYST)
@computing
def download(survey_id: str, name: str) -> Page:
    """Downloads the bundle, or one of its files."""
    if name != bundles.ALL and name not in FILES:
        abort(404)
    return bundles.reply(current_store(), survey_id, name, request.args.get("licence", bundles.PROPOSED))
