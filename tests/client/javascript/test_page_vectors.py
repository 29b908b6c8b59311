"""The page's modules give in Node what the vectors say: the same tests as in a browser, on the package's files."""

from __future__ import annotations

from pathlib import Path

from tests.browser.test_vectors import (
    test_a_list_of_options_means_in_the_browser_what_it_means_in_python,
    test_every_answer_means_its_category_or_is_refused,
    test_every_answer_with_exclusive_options_is_accepted_or_refused_as_in_python,
    test_every_bad_record_is_refused_by_its_rule,
    test_every_bound_and_every_count_of_people_is_that_of_decimal_arithmetic,
    test_every_definition_is_accepted_or_refused_as_in_python,
    test_every_definition_with_a_rating_block_is_accepted_or_refused_as_in_python,
    test_every_record_packs_to_its_bytes_and_back,
    test_every_report_has_its_bits_from_its_words_and_uses_all_of_them,
    test_every_threshold_is_the_one_of_exact_arithmetic,
    test_every_whole_submission_is_the_same_envelope_byte_by_byte,
    test_every_window_has_its_coin_and_its_people_and_reports_its_output_from_its_words,
    test_the_page_shows_a_question_where_its_answer_is_sent,
)

__all__ = [name for name in dir() if name.startswith("test_")]

MODULES = Path(__file__).parents[3] / "client" / "deniable" / "browser"


def test_the_packages_modules_are_the_pages_byte_by_byte(installed: Path) -> None:
    folder = installed / "node_modules" / "deniable" / "deniable" / "browser"
    modules = sorted(folder.rglob("*.mjs"))
    assert len(modules) > 15
    assert [path for path in modules if path.read_bytes() != (MODULES / path.relative_to(folder)).read_bytes()] == []
