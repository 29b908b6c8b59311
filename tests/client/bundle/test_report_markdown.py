"""A report as Markdown: texts of people lose the meaning that their characters have in Markdown, and tables keep their cells."""

from __future__ import annotations

from deniable.bundle.report import ReportSection, to_html, to_markdown
from deniable.estimate.present.table import Table


def test_headings_paragraphs_and_tables() -> None:
    table = Table("", ("Who", "What"), (("a | b", "*c*"),))
    report = [ReportSection("A # study", 1, ("one\ntwo",)), ReportSection("Second", 2, (), table)]
    assert to_markdown(report) == "# A \\# study\n\none two\n\n## Second\n\n| Who | What |\n| --- | --- |\n| a \\| b | \\*c\\* |\n"


def test_a_page_has_its_language_and_direction() -> None:
    assert '<html lang="ar" dir="rtl">' in to_html([ReportSection("T", 1)], "ar", "rtl")
    assert '<html lang="en" dir="ltr">' in to_html([ReportSection("T", 1)])
