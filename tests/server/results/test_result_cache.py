"""Results are computed once: kept results equal fresh ones after any moves, and nothing is computed while the counts stay the same."""

from __future__ import annotations

import pickle
import random
import re
import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.servers.release import release_people
from tests.kit.surveys import submission

from deniable.device.entropy import os_words
from deniable.errors import ModelError
from deniable.survey import Survey
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server.context import services_of
from deniable_server.public.results_page import Cache
from deniable_server.researchers import among, crosstabs, groups, models, results_body, surveys, wave_cards, wave_trends, waves
from deniable_server.results import disclosure_control, progress, public_results, result_cache, results
from deniable_server.results.disclosure_control import Release, release_of
from deniable_server.store.byte_cache import ByteCache
from deniable_server.store.errors import StoreError
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role

QUESTIONS: list[dict[str, Any]] = [
    {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"},
    {"id": "party", "text": "Which party?", "type": "choice", "options": ["Red", "Green", "Blue"]},
    {"id": "mood", "text": "How do you feel?", "type": "scale", "options": ["bad", "so so", "good"]},
]
HEAD = {"deniable": 1, "about": "A.", "epsilon": 6, "batch": 2, "accept_small_batches": True, "release": "daily", "results": "public"}
IDS = ("w1", "w2", "w3", "w4")
WAVES = {
    id_: Survey.from_dict({**HEAD, "id": id_, "title": f"Wave {id_}", "groups": ["North", "South"], "questions": QUESTIONS}) for id_ in IDS
}
PAGES = (
    *("/manage/surveys/w1", "/manage/surveys/w1?group=North", "/manage/surveys/w1?target=respondents&confidence=0.8"),
    *("/manage/surveys/w1?clusters=1", "/manage/surveys/w1/results.json", "/manage/surveys/w1/results.csv?group=South"),
    *("/manage/surveys/w1/chart/party.svg", "/manage/surveys/w1/groups", "/manage/surveys/w1/groups/party.csv"),
    *("/manage/surveys/w1/crosstab", "/manage/surveys/w1/crosstab?rows=party&columns=mood&layer=smokes&group=North"),
    *("/manage/surveys/w1/crosstab.json", "/manage/surveys/w2/waves", "/manage/surveys/w2/waves.csv?with=w1"),
    *("/manage/surveys/w2/trends.json", "/manage/surveys/w2/waves/mood.svg?with=w1", "/manage/surveys/w1/watch"),
    *("/s/w1/results", "/s/w1/results?lang=de", "/s/w1/results.json"),
)
COMPUTATIONS = (
    *((results, "analyse"), (public_results, "estimate"), (progress, "made_up"), (groups, "figures_of"), (crosstabs, "analyse_records")),
    (among, "analyse_records"),
    *((models, "fit_model"), (waves, "compare_waves"), (wave_trends, "trends"), (results_body, "cards"), (wave_cards, "changed_questions")),
)

Look = Callable[..., str]
ONE_TIME = re.compile(r'(name="(?:once|csrf_token)"[^>]* value=")[^"]+')


def recorded(category: int) -> Submission:
    """Six records that name one category of each question, so that others have other shares for certain."""
    bits = []
    for item in WAVES["w1"].items:
        named = np.zeros((6, item.channel.outputs), dtype=bool)
        named[:, [(category + place) % item.channel.outputs for place in range(item.d)]] = True
        bits.append(named)
    reports = pack(WAVES["w1"], bits)
    return Submission(os_words(4).tobytes(), WAVES["w1"].digest, 6, reports, "North", "organisation")


@pytest.fixture
def study(store: Store, app: Flask) -> Store:
    """Three waves of a study, each with a few records of each group, by people and in bulk."""
    app.config["WTF_CSRF_ENABLED"] = False
    for survey in list(WAVES.values())[:3]:
        store.surveys.publish(survey)
        for group in survey.groups:
            store.submissions.add(survey.id, submission(survey, 9, group=group, mode="organisation"))
        if survey.id != "w1":
            store.studies.join(survey.id, "w1")
    return store


@pytest.fixture
def look(study: Store, app: Flask, logged_in: Callable[..., FlaskClient]) -> Look:
    """Looks at a page of researchers as ada, and at a public one as a stranger, more than a minute after the last look."""
    ada, stranger, now = logged_in(app), app.test_client(), [0.0]
    services_of(app).add(Cache(lambda: now[0]))

    def get(path: str, client: FlaskClient | None = None) -> str:
        now[0] += 100.0
        reply = (client or (ada if path.startswith("/manage") else stranger)).get(path)
        return f"{reply.status_code} " + ONE_TIME.sub(r"\1", reply.text)

    return get


@pytest.fixture
def look_afresh(look: Look, app: Flask, monkeypatch: pytest.MonkeyPatch) -> Look:
    """Looks with nothing kept."""

    def get(path: str, client: FlaskClient | None = None) -> str:
        services, kept = services_of(app), services_of(app).get(Cache)
        with monkeypatch.context() as patched:
            patched.setattr(result_cache, "_values", ByteCache(0))
            services.add(Cache())
            page = look(path, client) if client else look(path)
        services.add(kept)
        return page

    return get


class Mover:
    """Makes moves that follow from a number: whatever can happen to the counts, and what must not change what is shown."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store, self.draw, self.sent = store, random.Random(seed), list[tuple[str, bytes]]()
        self.done = Counter[str]()

    def move(self) -> None:
        name = self.draw.choice(
            ["arrive", "arrive", "bulk", "release", "release", "withdraw", "withdraw", "close", "reopen", "minimum", "wave"]
        )
        try:
            getattr(self, name)()
            self.done[name] += 1
        except StoreError:  # closed, or not published yet
            self.done["refused"] += 1

    def _send(self, count: int, **fields: Any) -> None:
        survey = WAVES[self.draw.choice(IDS[:3])]
        one = submission(survey, count, group=self.draw.choice(survey.groups), **fields)
        self.store.submissions.add(survey.id, one)
        self.sent.append((survey.id, one.id))

    def arrive(self) -> None:
        for _ in range(4):
            self._send(1)

    def bulk(self) -> None:
        self._send(self.draw.randint(2, 5), mode="organisation")

    def release(self) -> None:
        release_people(self.store)

    def withdraw(self) -> None:
        if self.sent:
            self.store.submissions.withdraw(*self.sent.pop(self.draw.randrange(len(self.sent))))

    def close(self) -> None:
        self.store.surveys.set_open(self.draw.choice(IDS[:2]), False)

    def reopen(self) -> None:
        self.store.surveys.set_open(self.draw.choice(IDS[:2]), True)

    def minimum(self) -> None:
        self.store.life.keep("w1", Settings(least=self.draw.choice([1, 5, 12, 40])))

    def wave(self) -> None:
        if self.store.surveys.publish(WAVES["w4"]):
            self.store.studies.join("w4", "w1")


def compare(store: Store, look: Look, look_afresh: Look, seed: int, moves: int = 14) -> Counter[str]:
    """Asserts that each page is the same with and without kept results, before and after each move."""
    mover = Mover(store, seed)
    for _ in range(moves):
        for page in PAGES:
            assert look(page) == look_afresh(page), (page, mover.done)
        mover.move()
    return mover.done


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_kept_results_equal_fresh_ones_after_any_moves(study: Store, look: Look, look_afresh: Look, seed: int) -> None:
    assert compare(study, look, look_afresh, seed)["refused"] < 7


def test_the_control_a_key_without_the_state_of_the_counts_shows_old_results(
    study: Store, look: Look, look_afresh: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Release, "fingerprint", lambda table: f"{table.survey.digest} {table.by_hand}".encode())
    with pytest.raises(AssertionError):
        compare(study, look, look_afresh, 1)


def test_the_control_numbers_of_records_do_not_replace_the_state(
    study: Store, look: Look, look_afresh: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record leaves the counts and another one comes: the numbers are the same, the shares are not."""
    page = "/manage/surveys/w1/results.json"

    def exchange() -> None:
        old, new = recorded(0), recorded(1)
        study.submissions.add("w1", old)
        look(page)
        study.submissions.withdraw("w1", old.id)
        study.submissions.add("w1", new)

    exchange()
    assert look(page) == look_afresh(page)
    monkeypatch.setattr(type(study.submissions), "state", lambda *_: ())
    exchange()
    assert look(page) != look_afresh(page)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts computations and rendered templates, by name."""
    counter = Counter[str]()

    def counting(real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def count(*args: Any, **kwargs: Any) -> Any:
            counter[name or args[0]] += 1
            return real(*args, **kwargs)

        return count

    for module, name in COMPUTATIONS:
        monkeypatch.setattr(module, name, counting(getattr(module, name), name))
    for module in (surveys, results_body, wave_cards):
        monkeypatch.setattr(module, "render_template", counting(module.render_template, ""))
    return counter


WHOLE_PAGES = {"researchers/results.html", "researchers/groups.html"}


@pytest.mark.parametrize("page", PAGES)
def test_a_second_look_computes_nothing(look: Look, computed: Counter[str], page: str) -> None:
    first = look(page)
    assert first.startswith("200 ")
    assert computed.keys() - WHOLE_PAGES, "the control: the first look computes"
    computed.clear()
    assert look(page) == first
    assert computed.keys() <= WHOLE_PAGES


def test_arrivals_compute_nothing_and_a_release_does(study: Store, look: Look, computed: Counter[str]) -> None:
    page = "/manage/surveys/w1/results.json"
    look(page)
    computed.clear()
    for _ in range(4):
        study.submissions.add("w1", submission(WAVES["w1"], group="North"))
        look(page)
    assert not computed
    release_people(study)
    look(page)
    assert computed == {"analyse": 1}


def test_a_model_is_fitted_once_also_one_without_an_estimate(
    look: Look, computed: Counter[str], app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        computed["fit_model"] += 1
        raise ModelError("nothing converged", "there are few records", ["collect more"])

    monkeypatch.setattr(models, "fit_model", fail)
    page = "/manage/surveys/w1/model?outcome=smokes&predictor=party"
    first = look(page)
    assert (first[:3], "Nothing converged" in first or "nothing converged" in first) == ("400", True)
    assert look(page) == first
    assert computed["fit_model"] == 1


RACES = (
    *((results, "records_of", "/manage/surveys/w1/results.json"), (results, "analyse", "/manage/surveys/w1/results.json")),
    *((surveys, "records_of", "/manage/surveys/w1"), (surveys, "estimates_of", "/manage/surveys/w1")),
    *((waves, "_both", "/manage/surveys/w2/waves.csv?with=w1"), (waves, "compare_waves", "/manage/surveys/w2/waves.csv?with=w1")),
    *((wave_trends, "estimates_of", "/manage/surveys/w2/trends.json"), (surveys, "groups_of", "/manage/surveys/w1/groups")),
    *((wave_cards, "records_of", "/manage/surveys/w2/waves"), (crosstabs, "records_of", "/manage/surveys/w1/crosstab.json")),
    *(
        (among, "records_of", "/manage/surveys/w1/among.json?among=smokes"),
        (among, "analyse_records", "/manage/surveys/w1/among?among=smokes"),
    ),
)


@pytest.mark.parametrize("times", [1, 99])
@pytest.mark.parametrize(("module", "name", "page"), RACES)
def test_counts_that_change_while_a_page_is_made_are_not_mistaken_for_the_earlier_ones(
    study: Store, look: Look, look_afresh: Look, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, page: str, times: int
) -> None:
    """Records come and go after any part of a page, and the numbers of records stay as they were."""
    real, sent = getattr(module, name), [recorded(0)]
    study.submissions.add("w1", sent[0])

    def exchanging(*args: Any, **kwargs: Any) -> Any:
        result = real(*args, **kwargs)
        if len(sent) <= times:
            study.submissions.withdraw("w1", sent[-1].id)
            sent.append(recorded(len(sent) % 2))
            study.submissions.add("w1", sent[-1])
        return result

    with monkeypatch.context() as patched:
        patched.setattr(module, name, exchanging)
        look(page)
    assert len(sent) > 1, "the page has this part"
    assert look(page) == look_afresh(page)


def test_the_control_figures_that_were_read_before_the_state_would_be_found(
    study: Store, look: Look, look_afresh: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that estimates first, and then keeps its cards under the state of the counts."""
    real, old = surveys._body, recorded(0)
    study.submissions.add("w1", old)
    with monkeypatch.context() as patched:

        def early(selected: Any, *options: Any) -> Any:
            before = surveys.estimates_of(selected, {})
            patched.setattr(surveys, "estimates_of", lambda *_: before)
            study.submissions.withdraw("w1", old.id)
            study.submissions.add("w1", recorded(1))
            return real(selected, *options)

        patched.setattr(surveys, "_body", early)
        look("/manage/surveys/w1")
    assert look("/manage/surveys/w1") != look_afresh("/manage/surveys/w1")


@pytest.mark.parametrize("page", ["/manage/surveys/w1", "/manage/surveys/w1/groups", "/manage/surveys/w2/waves"])
def test_nobody_finds_anything_of_another_researcher_on_a_page(
    study: Store, look: Look, look_afresh: Look, app: Flask, logged_in: Callable[..., FlaskClient], page: str
) -> None:
    app.config["WTF_CSRF_ENABLED"] = True
    eve = logged_in(app, "eve")
    for survey_id in IDS[:3]:
        study.roles.grant(survey_id, "eve", Role.VIEWER)
    own, of_ada = look_afresh(page, eve), look(page)
    assert look(page, eve) == own
    assert of_ada != own, "the control: an owner's page has more"
    for (value,), _ in result_cache._values._entries.values():
        assert not re.search(r"csrf|ada\b|eve\b|<form", repr(value))


def test_a_cached_value_may_be_none_and_an_error_is_not_cached() -> None:
    calls = list[int]()
    for _ in range(2):
        assert result_cache.compute_once("nothing", lambda: calls.append(1)) is None
    assert (len(calls), result_cache.contains("nothing"), result_cache.contains("another")) == (1, True, False)

    def fail() -> None:
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            result_cache.compute_once("failure", fail)


def test_the_cache_has_a_limit_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_cache, "_values", ByteCache(5 * (10_000 + result_cache.ENTRY_BYTES + 500)))
    for number in range(10):
        result_cache.compute_once(number, lambda: "x" * 10_000)
    assert [number for number in range(10) if result_cache.contains(number)] == [5, 6, 7, 8, 9]
    for number in range(1000, 2000):
        result_cache.compute_once(number, lambda: None)
    assert len(result_cache._values) < 60, "an entry without a value has a size, too"


def test_the_size_of_an_entry_is_at_least_its_memory(study: Store, look: Look) -> None:
    for page in PAGES:
        look(page)
    entries = [(value, size) for (value,), size in result_cache._values._entries.values()]
    assert len(entries) > 15
    for value, size in entries:
        packed = pickle.dumps(value)
        tracemalloc.start()
        copy = pickle.loads(packed)
        memory = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert copy is not None
        assert size >= 0.9 * memory, type(value)
        assert size <= 5 * memory + 8 * result_cache.ENTRY_BYTES, type(value)


def test_two_tables_are_not_mistaken_for_each_other(study: Store) -> None:
    first, second = release_of(study, WAVES["w1"]), release_of(study, WAVES["w1"], by_hand=True)
    assert first.fingerprint() != second.fingerprint()
    assert disclosure_control.compute_once([first], "key", lambda: "devices") == "devices"
    assert disclosure_control.compute_once([second], "key", lambda: "by hand") == "by hand"
