"""A real server tells Prometheus the same before and after somebody answers, at both of its doors, and nothing else at its own address."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from tests.kit.patience import PATIENCE, wait_for
from tests.kit.servers.process import ServerProcess, reserved
from tests.kit.surveys import submission

from deniable.survey import Survey
from deniable_server.access import api_keys
from deniable_server.operate.cli import main


@contextmanager
def serving(server: ServerProcess, survey: Survey) -> Iterator[tuple[Callable[[], tuple[str, str]], str]]:
    """Serves a survey: what scrapes it, by a key and at the address of its own, and that address."""
    server.publish(survey)
    with server.store() as store:
        key = api_keys.make(store, "prometheus", ["metrics"])
    with reserved() as holder:
        own = f"127.0.0.1:{holder.getsockname()[1]}"
        server.start("--metrics", "--metrics-listen", own)

        def scrape() -> tuple[str, str]:
            by_key = httpx.get(f"{server.url}/metrics", headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE)
            alone = httpx.get(f"http://{own}/metrics", timeout=PATIENCE)
            assert (by_key.status_code, alone.status_code) == (200, 200)
            return by_key.text, alone.text

        yield scrape, f"http://{own}"
        server.stop()


def before_and_after(server: ServerProcess, survey: Survey, scrape: Callable[[], tuple[str, str]]) -> tuple[str, str]:
    """What is told before and after one person answers, at each door the same."""
    first = scrape()
    body = submission(survey).to_json()
    url = f"{server.url}/api/v1/surveys/{survey.id}/submissions"
    assert httpx.post(url, content=body, headers={"Content-Type": "application/json"}, timeout=PATIENCE).status_code == 200
    wait_for(lambda: not server.db.with_name(server.db.name + "-wal").stat().st_size, "the log of the database is emptied")
    second = scrape()
    return "".join(first), "".join(second)


def test_a_scrape_is_the_same_bytes_before_and_after_one_answer(make_server: Callable[..., ServerProcess], survey: Survey) -> None:
    server = make_server()
    with serving(server, survey) as (scrape, own):
        before, after = before_and_after(server, survey, scrape)
        assert before == after
        assert before.count("\ndeniable_database_up 1\n") == 2  # at each door
        for path in ("/", "/s/study", "/login", "/readyz", "/api/v1/surveys/study", "/metrics/", "/manage"):
            assert httpx.get(own + path, timeout=PATIENCE).status_code == 404, path
        assert httpx.post(f"{own}/metrics", content=b"x" * 100, timeout=PATIENCE).status_code == 404
        assert httpx.head(f"{own}/metrics", timeout=PATIENCE).status_code == 200
        assert httpx.get(f"{server.url}/metrics", timeout=PATIENCE).status_code == 401
    assert "Traceback" not in server.log.read_text()


def test_a_server_that_counts_its_requests_is_noticed(make_server: Callable[..., ServerProcess], survey: Survey) -> None:
    server = make_server("counts-requests")
    with serving(server, survey) as (scrape, _):
        before, after = before_and_after(server, survey, scrape)
    assert before != after


@pytest.mark.parametrize("written", ["9464", ":9464", "localhost:", "localhost:0", "localhost:65536", "localhost:x"])
def test_an_address_that_is_none_is_told(written: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["serve", "--db", str(tmp_path / "none.db"), "--metrics-listen", written])
    assert result.exit_code == 2
    assert "must be an address and a port, such as 127.0.0.1:9464" in result.output
