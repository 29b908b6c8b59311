"""Cards of the Waves page: trends and changes of the questions of a page, rendered once for all who may see these surveys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flask import render_template
from markupsafe import Markup

from deniable.survey import Survey
from deniable_server.pages.paging import Paging
from deniable_server.researchers.question_cards import axis_of
from deniable_server.researchers.study_waves import ListedWave
from deniable_server.researchers.wave_trends import StudyTrends, question_trends, study_trends
from deniable_server.researchers.waves import changed_questions, wave_blocks, wave_names, waves_of
from deniable_server.results.disclosure_control import compute_once
from deniable_server.results.results import interval_of, records_of
from deniable_server.store.protocol import Store


def trend_cards(
    store: Store, survey: Survey, study: Sequence[ListedWave], trends: StudyTrends, options: Mapping[str, str], paging: Paging
) -> Markup:
    """Returns the cards of the trends that `study_trends` returned for the same options."""
    interval = interval_of(options)

    def render() -> Markup:
        current = study_trends(store, survey, study, options)
        questions = list(question_trends(paging.part(survey.questions), study, current.table.rows)) if current else []
        return Markup(render_template("researchers/trend_cards.html", questions=questions, interval=interval))  # noqa: S704 - our own template

    waves = tuple((listed.wave.survey, listed.wave.number, listed.published.published_on) for listed in study)
    return compute_once(trends.tables, ("trend cards", survey.digest, interval, paging, waves), render)


def change_cards(store: Store, page_of: str, pair: tuple[Survey, Survey], options: Mapping[str, str], paging: Paging) -> Markup:
    """Returns the cards of the changes between two surveys.

    Args:
        store: The server's store.
        page_of: The survey of the page. The links to its charts have the other survey as an option.
        pair: The surveys, which `waves_of` compared for the same options.
        options: As for `waves_of`.
        paging: The page of the first survey's questions.
    """
    (first, second), interval = pair, interval_of(options)
    other = second.id if page_of == first.id else first.id
    chosen = {"target": interval.target, "confidence": interval.confidence, "with": other}

    def render() -> Markup:
        waves = waves_of(store, first.id, second.id, options)
        context = {"questions": list(changed_questions(paging.part(first.questions), waves)), "pair": wave_names(waves), "second": second}
        context |= {"interval": interval, "chosen": chosen, "page_of": page_of, "wave_blocks": wave_blocks, "axis_of": axis_of}
        return Markup(render_template("researchers/wave_cards.html", **context))  # noqa: S704 - our own template

    tables = [records_of(store, survey.id, {}).release for survey in pair]
    return compute_once(tables, ("wave cards", page_of, interval, paging), render)
