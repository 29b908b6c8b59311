"""A respondent's link: what it carries, and what is told of a wrong one."""

from __future__ import annotations

import itertools

import pytest

from deniable.wire.access_codes import format_code
from deniable.wire.link import Link, server_address

CODE = format_code(bytes(range(15)))
DIGEST = "0123456789abcdef" * 4


def test_the_parts_of_a_link_come_in_any_order_and_each_may_be_left_out():
    assert Link.parse("https://a.org/x/s/id/") == Link("https://a.org/x", "id")
    whole = Link("http://a.org:8000", "id", DIGEST, "North", CODE)
    parts = [f"digest={DIGEST}", "group=North", f"code={CODE}"]
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        assert Link.parse("http://a.org:8000/s/id#" + "&".join(parts[i] for i in order)) == whole


@pytest.mark.parametrize("group", ["North & South", "a=b#c", "100 %", "Süd", "مستشفى", "1+1", "?/"])
def test_any_label_survives_percent_encoding(group):
    from urllib.parse import quote

    assert Link.parse(f"https://a/s/id#group={quote(group, safe='')}").group == group


def test_a_code_is_taken_as_people_write_it():
    for text in (CODE, CODE.lower(), CODE.replace("-", ""), CODE.replace("-", "%20")):
        assert Link.parse(f"https://a/s/id#code={text}").code == CODE


def links():
    """Each combination of parts, with labels that need percent-encoding."""
    groups = (None, "North & South", "a=b#c?d/e", "مستشفى 100 %")
    for digest, group, code, kiosk in itertools.product((None, DIGEST), groups, (None, CODE), (False, True)):
        yield Link("https://a.org:8000/x", "id", digest, group, code, kiosk=kiosk)


def test_what_is_written_is_read_again():
    written = {str(link): link for link in links()}
    assert len(written) == 32
    assert str(Link("https://a", "id", DIGEST, kiosk=True)) == f"https://a/s/id/kiosk#digest={DIGEST}"
    assert Link.parse("https://a/s/kiosk/").survey == "kiosk"
    assert {text: Link.parse(text) for text in written} == written
    assert str(Link("", "id", DIGEST, code=CODE)) == f"/s/id#digest={DIGEST}&code={CODE}"
    assert CODE not in repr(Link("https://a", "id", code=CODE))


@pytest.mark.parametrize(
    "query",
    [
        f"{part}{rest}"
        for part in (f"digest={DIGEST}", "lang=de&Digest=1", "digest", f"code={CODE}", "group=North")
        for rest in ("", f"#digest={DIGEST}")
    ],
)
def test_a_part_that_the_server_sees_is_refused_and_told_where_it_belongs(query):
    """Taken for a link without a digest, it would pin nothing."""
    with pytest.raises(ValueError, match=r"the link's (digest|code|group) must come after #") as caught:
        Link.parse(f"https://a/s/id?{query}")
    assert CODE not in str(caught.value)


def test_what_others_add_to_a_link_changes_nothing():
    assert Link.parse(f"https://a/s/id?lang=de&utm_source=mail#digest={DIGEST}") == Link("https://a", "id", DIGEST)


@pytest.mark.parametrize(
    "link", ["https://a/b", "a/s/b", "https://a/s/B", "https://a/s/", "ftp://a/s/b", "/s/b", "http://a:b/s/c", "http://[::1/s/b"]
)
def test_what_is_no_link_is_told(link):
    with pytest.raises(ValueError, match="link must look like"):
        Link.parse(link)


@pytest.mark.parametrize(
    "fragment",
    ["d", "digest=12", "digest=", "digest=12&digest=12", "group", "group=", "page=2", "&", "group=%ff", f"code={CODE[:-1]}", "code=1"],
)
def test_a_wrong_fragment_is_told(fragment):
    with pytest.raises(ValueError, match="link"):
        Link.parse(f"https://a/s/b#{fragment}")


@pytest.mark.parametrize(
    "link",
    [
        f"https://a/{rest}"
        for rest in (f"b#code={CODE}", f"s/b%23code={CODE}", f"b?code={CODE}", f"s/b#code={CODE}&page=1", f"s/b#code={CODE}0")
    ],
)
def test_no_message_quotes_a_code(link):
    with pytest.raises(ValueError, match="link") as caught:
        Link.parse(link)
    assert CODE not in str(caught.value)
    assert CODE[:9] not in str(caught.value)


@pytest.mark.parametrize("spelled", ["HTTPS://A.example", "https://a.Example:443", "https://a.example:0443/", "https://a.example//"])
def test_an_address_has_one_spelling(spelled):
    assert server_address(spelled) == "https://a.example"
    assert Link.parse(f"{spelled.rstrip('/')}/s/b").url == "https://a.example"


@pytest.mark.parametrize("url", ["http://a:443", "https://a:80/b", "https://[::1]:8000", "https://a.example/Path", "http://b\u00e9"])
def test_what_leads_elsewhere_stays_apart(url):
    assert server_address(url) == url


@pytest.mark.parametrize(
    "page", ["/s/health", "/s/health/", "/s/health#digest=ab", "/s/health?a=b", "/manage", "/manage/surveys/x", "/api/v1/surveys"]
)
@pytest.mark.parametrize("server", ["https://a.example", "http://127.0.0.1:8000", "https://a.example/below"])
def test_the_address_of_a_page_is_refused_with_what_to_do_instead(server, page):
    own = f"the address of a page: the server's own is {server}"
    advice = "a respondent's link: SurveyClient.from_link takes it" if "/s/" in page else own
    with pytest.raises(ValueError, match=r"^url must be the address of a server alone, got ") as caught:
        server_address(server + page)
    assert str(caught.value).endswith(advice)
