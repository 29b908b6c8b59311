"""One analysis, all doors: a figure is the same to the last digit by the library on a file, API, SDK, command line and pages."""

from __future__ import annotations

import base64
import html
import json
import os
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.kit.servers.process import ServerProcess
from tests.kit.surveys import submission

from deniable import SurveyClient
from deniable.cli import main
from deniable.delivery.transport import Transport
from deniable.errors import DeliveryError, EstimateError, RejectedError
from deniable.estimate import Analysis, analyse
from deniable.estimate.samples.sample import Sample
from deniable.estimate.tables import compare_changes
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.part import Part
from deniable.wire.record import unpack
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.access import api_keys
from deniable_server.store import open_store

AUTH = ("ada", "correct horse battery")
SURVEY = Survey.from_text("""
deniable: 1
id: health
title: Health
about: Who asks, and why.
epsilon: 8
groups: [North, South]
questions:
  - {id: smokes, text: Smokes?, type: yes_no}
  - {id: party, text: Party?, type: choice, options: [Red, Green, Blue]}
  - {id: mood, text: Mood?, type: scale, options: [bad, so so, good]}
  - {id: hours, text: Hours?, type: number, low: 0, high: 14}
  - {id: used, text: Used?, type: multi_choice, options: [tea, coffee]}
  - {id: pets, text: Pets?, type: yes_no, required: false}
""")
LATER = Survey.from_dict({**SURVEY.to_dict(), "id": "later"})
"""The same questions, asked a year later."""
PARTS = {Part("North"): 900, Part("North", "organisation"): 400, Part("South"): 1100}
TRUTH = {
    "smokes": [0.3, 0.7],
    "party": [0.5, 0.3, 0.2],
    "mood": [0.2, 0.5, 0.3],
    "hours": [0.2, *[0.8 / (SURVEY.items[3].k - 1)] * (SURVEY.items[3].k - 1)],
    "used[tea]": [0.6, 0.4],
    "used[coffee]": [0.5, 0.5],
    "pets": [0.4, 0.4, 0.2],
}

Figure = Callable[[Callable[..., Analysis]], Any]
FIGURES: dict[str, tuple[Figure, str, str]] = {
    "results": (lambda of: of(), "results", "results.json"),
    "results of a group": (
        lambda of: of(group="South", confidence=0.8),
        "results --group South --confidence 0.8",
        "results.json?group=South&confidence=0.8",
    ),
    "results for the respondents": (
        lambda of: of(target="respondents", method="score"),
        "results --target respondents --method score",
        "results.json?target=respondents&method=score",
    ),
    "cross table": (lambda of: of().crosstab("smokes", "party"), "crosstab smokes party", "crosstab.json?rows=smokes&columns=party"),
    "cross table of a group": (
        lambda of: of(group="North").crosstab("mood", "used[tea]"),
        "crosstab mood used[tea] --group North",
        "crosstab.json?rows=mood&columns=used[tea]&group=North",
    ),
    "cross table of three": (
        lambda of: of(reports=True).crosstab("smokes", "party", "used[tea]"),
        "crosstab smokes party used[tea]",
        "crosstab.json?rows=smokes&columns=party&layer=used[tea]",
    ),
    "results among people with an answer": (
        lambda of: of().among("smokes", "yes"),
        "results --among smokes=yes",
        "among.json?among=smokes&answer=yes",
    ),
    "results of a group among people who chose an option": (
        lambda of: of(group="North", confidence=0.8).among("used", "tea"),
        "results --among used=tea --group North --confidence 0.8",
        "among.json?among=used&answer=tea&group=North&confidence=0.8",
    ),
    "comparison": (
        lambda of: of(group="North").compare(of(group="South"), "mood"),
        "compare mood --first North --second South",
        "",
    ),
    "comparison of all groups": (
        lambda of: of(group="North").compare_groups({"South": of(group="South")}, "mood", name="North"),
        "compare mood --first North",
        "groups/mood.json?first=North",
    ),
    "comparison of all groups in a multiple choice": (
        lambda of: of(group="South", confidence=0.8).compare_groups({"North": of(group="North")}, "used", name="South"),
        "compare used --first South --confidence 0.8",
        "groups/used.json?first=South&confidence=0.8",
    ),
    "comparison of every pair of groups": (
        lambda of: of(group="North").compare_groups({"South": of(group="South")}, "mood", name="North", pairs=True),
        "compare mood --first North --pairs",
        "",
    ),
    "correlation": (lambda of: of().correlation("smokes", "mood"), "correlate smokes mood", ""),
    "shares among those who answered": (lambda of: of().answered("pets"), "answered pets", ""),
    "waves": (lambda of: of().compare_waves(of(survey=LATER)), "waves --second later", "waves.json?with=later"),
    "waves for the respondents": (
        lambda of: of(target="respondents", confidence=0.8).compare_waves(of(survey=LATER, target="respondents", confidence=0.8)),
        "waves --second later --target respondents --confidence 0.8",
        "waves.json?with=later&target=respondents&confidence=0.8",
    ),
    "regression": (
        lambda of: of(reports=True).regress("smokes ~ party"),
        "regress 'smokes ~ party'",
        "model.json?outcome=smokes&predictor=party",
    ),
    "trend": (lambda of: of().trend(of(survey=LATER), of(survey=LATER)), "waves --second later --second later", ""),
    "differences in differences": (
        lambda of: compare_changes(
            of(group="South").compare_waves(of(survey=LATER, group="South")),
            of(group="North").compare_waves(of(survey=LATER, group="North")),
            ("South", "North"),
        ),
        "waves --second later --group North --less South",
        "",
    ),
    "average marginal effects of an ordinal model": (
        lambda of: of(reports=True).regress("mood ~ smokes", model="ordinal").average_marginal_effects(),
        "regress 'mood ~ smokes' --model ordinal --show effects",
        "",
    ),
    "a test of a term": (
        lambda of: of(reports=True).regress("smokes ~ party").wald_test("party"),
        "regress 'smokes ~ party' --test party",
        "",
    ),
    "linear regression": (
        lambda of: of(reports=True, group="South").regress("mood ~ smokes", model="linear", scored=["mood"]),
        "regress 'mood ~ smokes' --model linear --scored mood --group South",
        "model.json?outcome=mean:mood&predictor=smokes&group=South",
    ),
}


@dataclass(frozen=True)
class Site:
    url: str
    kept: dict[Part, bytes]
    later: dict[str, bytes]
    keys: dict[str, str]

    def on_a_file(self, group: str | None = None, reports: bool = False, survey: Survey = SURVEY, **interval: Any) -> Analysis:
        """The library, on a file of the records; it knows nothing of a server."""
        if survey is LATER:
            return analyse(LATER, b"".join(raw for name, raw in self.later.items() if group in (None, name)), **interval)
        raw = b"".join(records for part, records in self.kept.items() if group in (None, part.group))
        return analyse(SURVEY, raw, **interval)

    def by_api(self, group: str | None = None, reports: bool = False, survey: Survey = SURVEY, **interval: Any) -> Analysis:
        """The routes, and the library on what they say."""
        params = {} if group is None else {"group": group}
        if reports:
            raw = httpx.get(f"{self.url}/api/v1/surveys/health/reports", params=params, auth=AUTH, timeout=60).content
            return analyse(SURVEY, raw, **interval)
        reply = httpx.get(f"{self.url}/api/v1/surveys/{survey.id}/tally", params=params, auth=AUTH, timeout=60).json()
        return analyse(survey, Tally.from_bytes(reply["n"], SURVEY.record.bits, base64.b64decode(reply["pairs"])), **interval)

    def by_sdk(self, survey: Survey = SURVEY, **options: Any) -> Analysis:
        with SurveyClient(self.url, auth=AUTH, outbox=":memory:") as client:
            return client.analysis(survey.id, **options)

    def by_page(self, path: str) -> Any:
        """What somebody downloads who is logged in."""
        with httpx.Client(base_url=self.url, timeout=60) as client:
            door = client.get("/login").text
            token = html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', door)[0])
            client.post("/login", data={"user": AUTH[0], "password": AUTH[1], "csrf_token": token})
            reply = client.get(f"/manage/surveys/health/{path}")
            assert reply.status_code == 200, reply.text
            return reply.json()

    def by_command(self, words: list[str], form: str = "--json", status: int = 0, key: str = "results reports") -> str:
        line = [words[0], f"{self.url}/s/health", *words[1:], form, "--key-env", "A_KEY"]
        done = CliRunner().invoke(main, line, env={"A_KEY": self.keys[key]})
        assert done.exit_code == status, done.output
        return done.output


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with 2,400 records in three parts, in the order of a download, and 21 that wait for their release."""
    server = ServerProcess(tmp_path_factory.mktemp("doors"))
    store, size, kept = open_store(server.db), SURVEY.record.bytes, {}
    store.surveys.publish(SURVEY)
    for part, n in PARTS.items():
        raw = simulate(SURVEY, TRUTH, n=n).reports
        store.submissions.add("health", Submission(os.urandom(16), SURVEY.digest, n, raw, part.group, part.mode))
        kept[part] = b"".join(sorted(raw[at : at + size] for at in range(0, len(raw), size)))
    for _ in range(21):
        store.submissions.add("health", submission(SURVEY, group="North"))
    store.surveys.publish(LATER)
    later = {group: simulate(LATER, {**TRUTH, "smokes": [0.2, 0.8]}, n=750).reports for group in LATER.groups}
    for group, raw in later.items():
        store.submissions.add("later", Submission(os.urandom(16), LATER.digest, 750, raw, group))
    key = {scopes: api_keys.make(store, scopes, scopes.split()) for scopes in ("results", "reports", "results reports")}
    store.close()
    server.start()
    yield Site(server.url, kept, later, key)
    server.stop()
    server.close()
    assert "Traceback" not in server.log.read_text()


@pytest.mark.parametrize("name", list(FIGURES))
def test_a_figure_is_the_same_to_the_last_digit_by_every_door(site: Site, name: str) -> None:
    figure, words = FIGURES[name][0], shlex.split(FIGURES[name][1])
    forms = [figure(door) for door in (site.on_a_file, site.by_api, site.by_sdk)]
    told = [figures_of(json.loads(one.to_json())) for one in forms]
    assert told[0] == told[1] == told[2] == figures_of(json.loads(site.by_command(words)))
    if FIGURES[name][2]:
        assert figures_of(site.by_page(FIGURES[name][2])) == told[0]
    assert site.by_command(words, "--csv").splitlines() == forms[2].to_csv().splitlines()


def figures_of(found: Any) -> Any:
    """All that is said, but for what only a server knows: which records these are."""
    return {key: value for key, value in found.items() if key not in DESCRIBED} if isinstance(found, dict) else found


def test_clusters_are_the_same_by_every_door(site: Site, tmp_path: Path) -> None:
    """Two groups are few clusters; more people than in a group make no difference then."""
    file = tmp_path / "sample.yaml"
    file.write_text("clusters: group\n", encoding="utf-8")
    kept = {name: b"".join(raw for part, raw in site.kept.items() if part.group == name) for name in SURVEY.groups}
    tallies = {name: Tally.from_bits(unpack(SURVEY, raw, len(raw) // SURVEY.record.bytes)) for name, raw in kept.items()}
    own = analyse(SURVEY, tallies, sample=Sample(clusters="group"))
    assert own.results.sample == "2 clusters (group), t with 1 degrees of freedom"
    assert figures_of(site.by_sdk(sample=Sample(clusters="group")).to_dict()) == figures_of(own.to_dict())
    assert figures_of(json.loads(site.by_command(["results", "--sample", str(file)]))) == figures_of(own.to_dict())
    assert figures_of(site.by_page("results.json?clusters=1")) == figures_of(own.to_dict())
    told = json.loads(site.by_command(["crosstab", "smokes", "party", "--sample", str(file)]))
    assert told == json.loads(own.crosstab("smokes", "party").to_json())
    refused = httpx.get(f"{site.url}/api/v1/surveys/health/results", params={"clusters": "1", "group": "North"}, auth=AUTH, timeout=60)
    assert (refused.status_code, "clusters must be left out" in refused.text) == (400, True)
    with pytest.raises(EstimateError, match="neither group nor by_hand nor reports"):
        site.by_sdk(sample=Sample(clusters="group"), group="North")


def test_groups_are_a_public_column_of_a_model_or_its_clusters(site: Site) -> None:
    parts = [site.on_a_file(group=group) for group in SURVEY.groups]
    labels = pd.DataFrame({"group": np.repeat(SURVEY.groups, [part.tally.n for part in parts])})
    own = analyse(SURVEY, np.concatenate([part.bits for part in parts])).regress("smokes ~ party + group", labels)
    told = json.loads(site.by_command(["regress", "smokes ~ party + group", "--by-group"]))
    assert [row["coef"] for row in told["coefficient"]] == pytest.approx(own.params.tolist(), rel=1e-9)
    clustered = site.by_command(["regress", "smokes ~ party", "--clusters"], "--table")
    assert "clusters errors, t with 1 degrees of freedom" in clustered
    assert "--group selects one group" in site.by_command(["regress", "smokes ~ party", "--by-group", "--group", "North"], status=2)


DESCRIBED = ("group", "by_hand", "n_by_hand", "n_organisation", "waiting")


def test_the_analysis_of_a_survey_says_of_its_records_what_the_results_say(site: Site) -> None:
    with SurveyClient(site.url, auth=AUTH, outbox=":memory:") as client:
        for group in (None, "North"):
            found = client.analysis("health", group=group).results
            assert found == client.results("health", group=group)
            assert (found.n_organisation, found.group, found.waiting) == (400, group, 20)


def test_figures_that_differ_in_their_last_digit_would_be_noticed(site: Site) -> None:
    def off_by_one(tally: Tally) -> bytes:
        pairs = tally.pairs.copy()
        pairs[0, 0] += 1
        return Tally(tally.n, pairs).to_bytes()

    own = site.by_sdk().results.to_dict()
    one = Tally.from_bytes(2400, SURVEY.record.bits, off_by_one(site.by_sdk().tally))
    assert figures_of(analyse(SURVEY, one).results.to_dict()) != figures_of(own)


# Who may, and what is told where somebody may not or something is wrong.


def test_a_key_for_results_has_the_tally_and_one_for_reports_the_records(site: Site) -> None:
    with SurveyClient(site.url, key=site.keys["results"], outbox=":memory:") as client:
        assert client.analysis("health").results.n == 2400
        with pytest.raises(EstimateError, match="must be individual records for a regression"):
            client.analysis("health").regress("smokes ~ party")
        with pytest.raises(RejectedError, match="the key must have the scope reports"):
            client.analysis("health", reports=True)
    with SurveyClient(site.url, key=site.keys["reports"], outbox=":memory:") as client, pytest.raises(RejectedError, match="scope results"):
        client.analysis("health")
    assert "the key must have the scope reports" in site.by_command(["regress", "smokes ~ party"], status=1, key="results")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["crosstab", "smokes", "nothing"], "the question must be one of survey health"),
        (["crosstab", "smokes"], "name at least two questions"),
        (["results", "--among", "smokes"], "among must be a question and an answer, such as smokes=yes"),
        (["results", "--among", "smokes=maybe"], "the option must be an answer to question smokes"),
        (["compare", "smokes", "--first", "North", "--second", "North"], "--second must be another group than --first"),
        (["compare", "smokes", "--first", "North", "--second", "South", "--pairs"], "--pairs compares all groups: leave --second out"),
        (["waves", "--second", "later", "--less", "South"], "--less needs another group in --group, and one --second"),
        (["waves", "--second", "later", "--times", "1,2"], "--times needs three waves or more"),
        (["waves", "--second", "later", "--second", "later", "--times", "soon"], "must be numbers with commas between them, got 'soon'"),
        (["correlate", "smokes", "hours"], "correlation: not for hours"),
        (["answered", "smokes"], "question smokes must be one that need not be answered"),
        (["compare", "smokes", "--first", "North", "--second", "West"], "group must be one of the groups of survey health: North, South"),
        (["regress", "smokes ~ hours"], "hours"),
        (["results", "--confidence", "2"], "confidence must be above 0 and below 1"),
    ],
)
def test_what_is_wrong_is_told_by_its_rule(site: Site, words: list[str], told: str) -> None:
    usage = words == ["crosstab", "smokes"] or {"--pairs", "--less", "--times"} & set(words)
    assert told in site.by_command(words, status=2 if usage else 1)


# A server that answers with something else.


def test_a_reply_that_is_no_tally_or_no_records_of_this_survey_is_told(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    get = Transport.get

    def change(what: str, body: Callable[[bytes], bytes]) -> None:
        def changed(self: Transport, path: str, *given: Any, **options: Any) -> bytes:
            raw = get(self, path, *given, **options)
            return body(raw) if path.endswith(what) else raw

        monkeypatch.setattr(Transport, "get", changed)

    broken = [
        (b'"n":2400', b'"n":"2400"'),
        (b'"pairs":"', b'"pairs":"AAAA'),
        (SURVEY.digest.encode(), b"0" * 64),
        (b"{", b"["),
        (b"{", b'{"n":1,'),
        (b'"n":2400', b'"n":' + b"9" * 400),
    ]
    for before, after in [*broken, (b'"waiting":', b'"waiting":"x","x":')]:
        change("/tally", lambda raw, before=before, after=after: raw.replace(before, after))
        with pytest.raises(DeliveryError, match="answered with no tally of survey health"):
            site.by_sdk()
    change("/reports", lambda raw: raw[:-1])
    with pytest.raises(DeliveryError, match="answered with no records of survey health"):
        site.by_sdk(reports=True)
    change("/reports", lambda raw: raw[SURVEY.record.bytes :])
    with pytest.raises(DeliveryError, match="records that its tally of survey health does not count"):
        site.by_sdk(reports=True)


def test_a_batch_that_comes_between_tally_and_records_is_no_error(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    get, before = Transport.get, []

    def earlier(self: Transport, path: str, *given: Any, **options: Any) -> bytes:
        """The first tally is one of before: of one group only."""
        if path.endswith("/tally") and not before:
            before.append(path)
            return get(self, path, {"group": "North"}, *given[1:], **options)
        return get(self, path, *given, **options)

    monkeypatch.setattr(Transport, "get", earlier)
    assert site.by_sdk(reports=True).results.n == 2400
    assert before
