"""Page shown instead of results when there are too few records."""

from __future__ import annotations

from flask import render_template

from deniable_server.context import current_store
from deniable_server.pages.forms import ActionForm
from deniable_server.results.results import sizes_of
from deniable_server.store.protocol import Published
from deniable_server.web.errors import WithheldError


def withheld(published: Published, error: WithheldError) -> str:
    """Returns the page with the minimum number of records."""
    sizes = sizes_of(current_store(), published.survey)
    return render_template("researchers/too_few_records.html", published=published, message=str(error), sizes=sizes, form=ActionForm())
