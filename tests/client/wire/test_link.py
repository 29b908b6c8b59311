"""A respondent's link: what it carries, and what is told of a wrong one."""

from __future__ import annotations

import pytest

from deniable.wire.access_codes import written
from deniable.wire.link import Link, parse_link

CODE = written(bytes(range(15)))
DIGEST = "0123456789abcdef" * 4


def test_the_parts_of_a_link_come_in_any_order_and_each_may_be_left_out():
    assert parse_link("https://a.org/x/s/id/") == Link("https://a.org/x", "id")
    whole = Link("http://a.org:8000", "id", DIGEST, "North", CODE)
    parts = [f"digest={DIGEST}", "group=North", f"code={CODE}"]
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        assert parse_link("http://a.org:8000/s/id#" + "&".join(parts[i] for i in order)) == whole


@pytest.mark.parametrize("group", ["North & South", "a=b#c", "100 %", "Süd", "مستشفى", "1+1", "?/"])
def test_any_label_survives_percent_encoding(group):
    from urllib.parse import quote

    assert parse_link(f"https://a/s/id#group={quote(group, safe='')}").group == group


def test_a_code_is_taken_as_people_write_it():
    for text in (CODE, CODE.lower(), CODE.replace("-", ""), CODE.replace("-", "%20")):
        assert parse_link(f"https://a/s/id#code={text}").code == CODE


@pytest.mark.parametrize("link", ["https://a/b", "a/s/b", "https://a/s/B", "https://a/s/", "ftp://a/s/b", "/s/b"])
def test_what_is_no_link_is_told(link):
    with pytest.raises(ValueError, match="link must look like"):
        parse_link(link)


@pytest.mark.parametrize(
    "fragment",
    ["d", "digest=12", "digest=", "digest=12&digest=12", "group", "group=", "page=2", "&", "group=%ff", f"code={CODE[:-1]}", "code=1"],
)
def test_a_wrong_fragment_is_told(fragment):
    with pytest.raises(ValueError, match="link"):
        parse_link(f"https://a/s/b#{fragment}")


@pytest.mark.parametrize("link", [f"https://a/b#code={CODE}", f"https://a/s/b#code={CODE}&page=1", f"https://a/s/b#code={CODE}0"])
def test_no_message_quotes_a_code(link):
    with pytest.raises(ValueError, match="link") as caught:
        parse_link(link)
    assert CODE not in str(caught.value)
    assert CODE[:9] not in str(caught.value)
