"""Templates name no value that their view does not give: in all tests of the server such a name fails (`strict_templates`)."""

from __future__ import annotations

import pytest
from flask import Flask, render_template_string
from jinja2 import UndefinedError

from deniable_server.store.life import Settings


@pytest.mark.parametrize(
    "text", ["{{ renamed }}", "{% if renamed %}{% endif %}", "{{ settings.renamed }}", "{% for one in renamed %}{% endfor %}"]
)
def test_a_name_without_a_value_fails(app: Flask, text: str) -> None:
    with app.test_request_context(), pytest.raises(UndefinedError):
        render_template_string(text, settings=Settings())


def test_what_some_pages_do_not_have_is_left_out(app: Flask) -> None:
    with app.test_request_context():
        assert render_template_string("{{ user }}{% if options.target %}{% endif %}.", options={}) == "."
