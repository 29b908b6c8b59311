"""Researchers' pages bear the name and the picture of whoever runs the server; those of respondents are the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable_server import Config, create_app
from deniable_server.config import MOST_LOGO, Institution, Logo
from deniable_server.store.protocol import Store

PICTURE = b'<svg xmlns="http://www.w3.org/2000/svg"/>'


@pytest.fixture
def named(tmp_path: Path, store: Store) -> Flask:
    (tmp_path / "logo.svg").write_bytes(PICTURE)
    institution = Institution("Institute of <Tests>", Logo.of(tmp_path / "logo.svg"))
    return create_app(Config(tmp_path / "deniable.db", "x" * 40, institution=institution), store)


def test_name_and_picture_stand_in_the_header_and_the_policy_stays(named: Flask, logged_in: Callable[[Flask], FlaskClient]) -> None:
    page = logged_in(named).get("/manage")
    header = page.text.split("<header>")[1].split("</header>")[0]
    assert "Institute of &lt;Tests&gt;" in header
    assert '<img src="/logo" alt=""' in header
    picture = named.test_client().get("/logo")
    assert (picture.data, picture.mimetype) == (PICTURE, "image/svg+xml")
    assert "default-src 'none'" in picture.headers["Content-Security-Policy"]
    assert named.test_client().get("/static/icon.svg").mimetype == "image/svg+xml"
    assert '/static/icon.svg"' in page.text


def test_without_them_the_header_has_the_programs_name(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> None:
    header = logged_in(app).get("/manage").text.split("<header>")[1].split("</header>")[0]
    assert ">deniable</a>" in header
    assert "<img" not in header
    assert app.test_client().get("/logo").status_code == 404


def test_respondents_get_the_same_bytes_whoever_runs_the_server(named: Flask, app: Flask) -> None:
    for path in ("/s/study", "/s/study/definition", "/s/study/withdraw", "/privacy", "/s/nothing"):
        assert named.test_client().get(path).data == app.test_client().get(path).data, path


def test_a_picture_of_another_kind_or_size_is_told(tmp_path: Path) -> None:
    (tmp_path / "logo.gif").write_bytes(b"x")
    (tmp_path / "logo.png").write_bytes(b"x" * (MOST_LOGO + 1))
    with pytest.raises(ValueError, match="the logo must be a file that ends in"):
        Logo.of(tmp_path / "logo.gif")
    with pytest.raises(ValueError, match="at most 200,000 bytes, got 200,001"):
        Logo.of(tmp_path / "logo.png")


def test_an_error_has_the_header_and_the_way_back_for_researchers_only(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> None:
    ada = logged_in(app)
    for path in ("/manage/surveys/nothing", "/manage/surveys/study?confidence=7", "/manage/nothing", "/manage/surveys/study/close"):
        reply = ada.get(path, headers={"Accept-Language": "de"})
        assert reply.status_code in (400, 404, 405)
        assert '<a href="/manage">All surveys</a>' in reply.text
        assert all(place in reply.text for place in ('<html lang="en"', "<bdi>ada</bdi>", ">People</a>", ">Log out</button>"))
        assert ('aria-label="This survey"' in reply.text) == ("?" in path)  # its pages, for whoever has a role in it
        assert reply.headers["Content-Security-Policy"].endswith("form-action 'self'")
        assert ('<a href="/manage/surveys/study">Open this page without options</a>' in reply.text) == ("?" in path)
    assert "<bdi>ada</bdi>" not in app.test_client().get("/manage/nothing").text
    for client in (ada, app.test_client()):
        assert "All surveys" not in client.get("/s/nothing").text
