"""Lists of people, drafts of e-mail and mail merge files, as the scripts of the page of letters make them."""

from __future__ import annotations

import csv
import io
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable
from email import message_from_bytes, message_from_string, policy
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.utils import parseaddr
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome

import deniable_server

pytestmark = pytest.mark.browser
STATIC = Path(deniable_server.__file__).parent / "static"
Run = Callable[..., Any]

CALL = """
const done = arguments[arguments.length - 1], given = arguments[0];
(async () => {
  const [people, letters, archive] = await Promise.all(["people_list", "letters", "zip"].map((name) => import(`/${name}.mjs`)));
  BODY
})().then((value) => done({ value }), (error) => done({ error: `${error.name}: ${error.message}` }));
"""


@pytest.fixture
def run(browser: Chrome, served: Callable[[Path], str], tmp_path: Path) -> Run:
    """`run(body, given)` runs a function's body beside the scripts; `change=(file, right, wrong)` breaks one of them."""

    def call(body: str, given: Any = None, change: tuple[str, str, str] | None = None) -> Any:
        folder = Path(shutil.copytree(STATIC, tmp_path / f"scripts{len(list(tmp_path.iterdir()))}"))
        if change:
            file, right, wrong = change
            source = (folder / file).read_text(encoding="utf-8")
            assert source.count(right) == 1, right
            (folder / file).write_text(source.replace(right, wrong), encoding="utf-8")
        browser.get(served(folder))
        outcome = browser.execute_async_script(CALL.replace("BODY", body), given)
        assert "error" not in outcome, outcome
        return outcome["value"]

    return call


def read(run: Run, text: str) -> tuple[list[tuple[str, str]], list[tuple[int, str]]]:
    """The people of a list with their names, and its problems by line."""
    found = run("return people.readPeople(given)", text)
    people = [(each["address"], each["values"]["name"]) for each in found["people"]]
    return people, [(each["line"], each["rule"]) for each in found["problems"]]


ADA, BOB = ("ada@example.org", "Ada"), ("bob@example.org", "Bob")


@pytest.mark.parametrize(
    "text",
    [
        "E-Mail,Name\nada@example.org,Ada\nbob@example.org,Bob",
        "Name;E-Mail;Telefon\r\nAda;ada@example.org;1\r\nBob;bob@example.org;\r\n",
        "vorname\tkontakt\nAda\tada@example.org\nBob\tbob@example.org\n",
        "ada@example.org, Ada\rbob@example.org, Bob\r",
        "Ada <ada@example.org>\n\n  \nBob <mailto:bob@example.org>",
        '"Ada" <ada@example.org>, "Bob" <bob@example.org>',
        '"Ada";"ada@example.org"\n"Bob";"bob@example.org"',
    ],
    ids=["commas", "semicolons", "tabs", "no headings", "a mail program's", "on one line", "all in quotation marks"],
)
def test_a_list_is_read_as_spreadsheets_and_mail_programs_write_it(run: Run, text: str) -> None:
    assert read(run, text) == ([ADA, BOB], [])


def test_commas_quotation_marks_and_line_breaks_in_a_name_stay_in_it(run: Run) -> None:
    text = 'mail,name\nada@example.org,"Lovelace, ""Ada""\r\nKing"\nbob@example.org,Bob'
    assert read(run, text) == ([("ada@example.org", 'Lovelace, "Ada" King'), BOB], [])


def test_each_line_without_a_message_is_named_and_the_others_are_read(run: Run) -> None:
    wrong = ["Grace Hopper,", "ADA@Example.org,again", "=1@example.org,x", "a b@example.org,"]
    text = "\n".join(["mail,name", "ada@example.org,Ada", *wrong, "bob@example.org,Bob", ",Eve"])
    people, problems = read(run, text)
    assert people == [ADA, BOB]
    assert problems == [
        (3, "has no @"),
        (4, "repeats the address of line 2"),
        (5, "is no address that this page can write to"),
        (6, "is no address that this page can write to"),
        (8, "has no @"),
    ]


def test_a_quotation_mark_without_its_end_swallows_nobody_silently(run: Run) -> None:
    people, problems = read(run, 'ada@example.org,Ada\n"bob@example.org,Bob\neve@example.org,Eve')
    assert (people, problems) == ([ADA], [(2, "has a quotation mark without its end, so the rest was not read")])


def test_names_of_every_script_and_domains_beyond_ascii(run: Run) -> None:
    text = "بريد,اسم\nleila@example.org,ليلى\njoerg@bücher.example,Jörg Müller"
    assert read(run, text) == ([("leila@example.org", "ليلى"), ("joerg@xn--bcher-kva.example", "Jörg Müller")], [])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_files_are_read_in_the_encodings_that_spreadsheets_save(run: Run, encoding: str) -> None:
    content = list("mail,name\njoerg@example.org,Jörg".encode(encoding))
    assert run("return people.decode(Uint8Array.from(given))", content) == "mail,name\njoerg@example.org,Jörg"


PEOPLE = [
    {"address": "leila@example.org", "name": "ليلى بنت عبد الرحمن المجدلاوية من مدينة نابلس"},
    {"address": "joerg@example.org", "name": "Jörg Müller-Lüdenscheidt, Dr."},
    {"address": "ada@example.org", "name": "Ada Lovelace"},
    {"address": "x@example.org", "name": ""},
    {"address": "eve@example.org", "name": "Eve\r\nBcc: spy@example.org\r\n\r\nbody"},
    {"address": "quote@example.org", "name": 'Bob "Bobby" <bob@evil.example>'},
    {"address": "word@example.org", "name": "=?utf-8?B?QmNj?= \u2028 \u0085 x"},
]
SUBJECT = "Einladung für {name}: \U0001f469\u200d\U0001f52c eine lange Betreffzeile, die kein Mailprogramm in einer Zeile hat"
BODY = "Hallo,\nمرحبا\r\n" + "https://survey.example.org/s/x#" + "a" * 300 + "\n" + "ein langer Satz " * 100

DRAFTS = """
return given.people.map((to) => letters.draft({
  from: { address: "lab@example.org", name: "Lab\\nBcc: spy@example.org" }, to, date: new Date(0),
  subject: letters.fillIn(given.subject, to), body: given.body,
}));
"""


def drafts(run: Run, **options: Any) -> list[tuple[str, EmailMessage]]:
    texts = run(DRAFTS, {"people": PEOPLE, "subject": SUBJECT, "body": BODY}, **options)
    return [(text, message_from_bytes(text.encode(), policy=policy.default)) for text in texts]


HEADERS = ["From", "To", "Subject", "Date", "X-Unsent", "MIME-Version", "Content-Type", "Content-Transfer-Encoding"]


def display_name(text: str) -> str:
    """The name of the recipient by RFC 2047. Python's newer reader keeps the space between two encoded words of a name."""
    name = parseaddr(message_from_string(text)["To"])[0]
    return str(make_header(decode_header(name)))


def faults(text: str, message: EmailMessage, person: dict[str, str]) -> list[str]:
    """What is wrong with a draft, as Python's own reader of mail sees it."""
    name = " ".join(person["name"].split())
    (to,) = message["To"].addresses
    wrong = {
        "headers": message.keys() != HEADERS,
        "not ASCII": not text.isascii(),
        "defects": bool(message.defects) or any(message[key].defects for key in ("From", "To", "Subject")),
        "address": to.addr_spec != person["address"],
        "name": " ".join(display_name(text).split()) != name,
        "sender": [each.addr_spec for each in message["From"].addresses] != ["lab@example.org"],
        "subject": message["Subject"] != " ".join(SUBJECT.replace("{name}", name).split()),
        "body": message.get_content().replace("\r\n", "\n").rstrip("\n") != BODY.replace("\r\n", "\n").rstrip("\n"),
        "unsent": message["X-Unsent"] != "1",
        "long lines": any(len(line) > 76 for line in text.split("\r\n")),
        "bare ends of lines": "\n" in text.replace("\r\n", ""),
    }
    return [fault for fault, is_there in wrong.items() if is_there]


def test_drafts_are_read_by_another_reader_of_mail_as_they_were_meant(run: Run) -> None:
    for (text, message), person in zip(drafts(run), PEOPLE, strict=True):
        assert faults(text, message, person) == [], text
        assert "spy" not in "".join(message.keys())


def test_a_name_that_becomes_a_header_is_noticed(run: Run) -> None:
    """Two controls: a name as it is, and encoded words of any length."""
    right = "${/^[A-Za-z0-9 ]{1,60}$/.test(plain) ? plain : encodedWords(plain)}"
    text, message = drafts(run, change=("letters.mjs", right, "${name}"))[4]
    assert message["Bcc"] == "spy@example.org"
    assert "headers" in faults(text, message, PEOPLE[4])
    cut = drafts(run, change=("letters.mjs", "const MOST_OF_A_WORD = 30;", "const MOST_OF_A_WORD = 300;"))
    assert "long lines" in faults(*cut[0], PEOPLE[0])


HOSTILE = ["=HYPERLINK(1)", "+49 1", "-2", "@SUM(1)", "\t=1", "\r\n=1", "＝1", " =1"]


def test_no_cell_of_a_mail_merge_file_is_a_formula_and_excel_reads_its_letters(run: Run) -> None:
    rows = [{"address": "ada@example.org", "name": name, "link": "https://x.example/#a,b"} for name in [*HOSTILE, 'Jörg "J", ليلى']]
    body = "return letters.toCsv(['address', 'name', 'link'], given)"
    text = run(body, rows)
    assert text.startswith("\ufeff")
    table = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    assert [row["name"][0] for row in table[:-1]] == ["'"] * len(HOSTILE)
    assert table[-1] == {**rows[-1]}
    assert {row["link"] for row in table} == {"https://x.example/#a,b"}
    broken = run(body, rows, change=("letters.mjs", "`'${text}`", "text"))
    assert "=HYPERLINK(1)" in broken
    assert "'=" not in broken
    again = run("return people.readPeople(given)", text)["people"][0]["values"]
    assert (again["name"], again["link"]) == ("=HYPERLINK(1)", "https://x.example/#a,b")


def test_placeholders_are_replaced_once_and_by_columns_of_the_list_alone(run: Run) -> None:
    body = "return letters.fillIn('{Name} {name} {link} {town} {constructor}', given)"
    assert run(body, {"name": "{link}", "link": "$& L"}) == "{link} {link} $& L {town} {constructor}"


SHUFFLES = "return Array.from({ length: given }, () => letters.shuffle('abc').join(''))"


def test_every_order_of_codes_is_equally_likely(run: Run) -> None:
    """54,000 orders: each of six about 9,000 times; 500 more or fewer are 5.8 standard deviations."""

    def spread(**options: Any) -> int:
        return max(abs(Counter(run(SHUFFLES, 54_000, **options))[order] - 9_000) for order in ("abc", "acb", "bac", "bca", "cab", "cba"))

    assert spread() < 500
    assert spread(change=("letters.mjs", "below(last + 1)", "below(order.length)")) > 500  # the well-known mistake
    assert spread(change=("letters.mjs", "below(last + 1)", "last")) > 500  # no shuffle at all


ASSIGN = """
const assignment = new letters.Assignment(given.links);
const steps = given.lists.map((list, index) => {
  const missing = assignment.assign(list);
  if (index === given.saved) assignment.isSaved = true;
  return [missing, Object.fromEntries(assignment.links)];
});
return steps;
"""


def test_each_address_gets_one_code_and_keeps_it_once_a_file_is_saved(run: Run) -> None:
    links = [f"L{n}" for n in range(4)]
    lists = [["a", "b", "c", "d", "e"], ["x", "y", "z"], ["a", "b"], ["c", "b", "d"], ["b", "f", "g", "h"]]
    (many, none), (no, _), (zero, first), (one, more), (short, rest) = run(ASSIGN, {"links": links, "lists": lists, "saved": 2})
    assert (many, none, no, zero, one, short) == (1, {}, 0, 0, 0, 3)
    assert {key: more[key] for key in first} == first
    assert sorted(more.values()) == links
    assert rest == more
    assert (sorted(first), sorted(more)) == (["a", "b"], ["a", "b", "c", "d"])


def test_the_archive_is_one_that_other_programs_read(run: Run) -> None:
    files = [{"name": f"message-{n}.eml", "text": text} for n, text in enumerate(["", "ü" * 1000, "a\r\nb"])]
    content = run(
        "return Array.from(new Uint8Array(await new Blob(archive.zip(given)).arrayBuffer()))",
        files,
    )
    with zipfile.ZipFile(io.BytesIO(bytes(content))) as archive:
        assert archive.testzip() is None
        assert [{"name": name, "text": archive.read(name).decode()} for name in archive.namelist()] == files
