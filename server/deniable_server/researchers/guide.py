"""Chapters of the guide: Markdown files as HTML with anchors, whose links lead to other chapters on this server."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from deniable_server import paths

_INDEX = "README.md"
_LINK = re.compile(r"\]\(([a-z]+/[a-z0-9-]+)\.md\)")
_DROPPED = re.compile(r"[^\w\- ]")
MOST_MATCHES = 40
"""The most sections that a search returns."""


@dataclass(frozen=True)
class GuideSection:
    """A section of a chapter, up to the next heading. The first section of a chapter has its title."""

    chapter: str
    heading: str
    anchor: str
    level: int
    text: str

    def has(self, words: Sequence[str]) -> bool:
        """Returns whether all words are in the heading."""
        return all(word in self.heading.casefold() for word in words)

    def mentions(self, words: Sequence[str]) -> bool:
        """Returns whether all words are in the heading or the text."""
        return all(word in f"{self.heading} {self.text}".casefold() for word in words)


@dataclass(frozen=True)
class Chapter:
    """A chapter. name: its folder and file, such as `guide/writing`."""

    name: str
    html: Markup
    sections: tuple[GuideSection, ...]

    @property
    def title(self) -> str:
        """The heading of the whole chapter."""
        return self.sections[0].heading

    @property
    def anchors(self) -> frozenset[str]:
        """The anchors of its headings."""
        return frozenset(section.anchor for section in self.sections)


@cache
def names() -> tuple[str, ...]:
    """Returns the names of all chapters, in the order of the index."""
    return tuple(dict.fromkeys(_LINK.findall((paths.DOCS / _INDEX).read_text(encoding="utf-8"))))


@cache
def chapter(name: str) -> Chapter:
    """Returns a chapter. Raises KeyError for an unknown name."""
    if name not in names():
        raise KeyError(name)
    tokens = _parser().parse((paths.DOCS / f"{name}.md").read_text(encoding="utf-8"))
    sections = tuple(_sections(name, tokens))
    for token in _all(tokens):
        token.attrs.pop("style", None)  # of aligned columns: the pages allow no inline styles
        if token.children:
            token.children = list(_linked(name, token.children))
    return Chapter(name, Markup(_parser().renderer.render(tokens, _parser().options, {})), sections)  # noqa: S704 - our own files, and no HTML in them


def title_of(name: str) -> str:
    """Returns the title of a chapter. Raises KeyError for an unknown name."""
    return chapter(name).title


def search(text: str) -> list[GuideSection]:
    """Returns the sections that have all words of a text: in the heading first, then in the text."""
    words = text.casefold().split()
    sections = [section for name in names() for section in chapter(name).sections if section.mentions(words)] if words else []
    return sorted(sections, key=lambda section: not section.has(words))[:MOST_MATCHES]


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("table_open", _scrolling)
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return parser


def _scrolling(*_: Any) -> str:
    return '<div class="scroll"><table>\n'


def _sections(name: str, tokens: Sequence[Token]) -> Iterator[GuideSection]:
    """Yields the sections, and gives each heading its anchor."""
    counts: Counter[str] = Counter()
    heads = [index for index, token in enumerate(tokens) if token.type == "heading_open"]
    for index, end in zip(heads, [*heads[1:], len(tokens)], strict=True):
        heading = _words([tokens[index + 1]])
        anchor = slug(heading)
        counts[anchor] += 1
        anchor += f"-{counts[anchor] - 1}" if counts[anchor] > 1 else ""
        tokens[index].attrs["id"] = anchor
        yield GuideSection(name, heading, anchor, int(tokens[index].tag[1:]), _words(tokens[index + 2 : end]))


def slug(heading: str) -> str:
    """Returns the anchor of a heading, as GitHub makes it."""
    return _DROPPED.sub("", heading.lower()).replace(" ", "-")


def _words(tokens: Sequence[Token]) -> str:
    """Returns the words of tokens without markup."""
    return " ".join("".join(part.content or " " for part in token.children or [token]) for token in tokens if token.content).strip()


def _all(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()


def _linked(name: str, tokens: Sequence[Token]) -> Iterator[Token]:
    """Yields the tokens of a text: links lead to chapters or to other sites, other links are plain text, and pictures are their words."""
    is_plain = False
    for token in tokens:
        if token.type == "link_open":
            address = _address(name, str(token.attrs["href"]))
            is_plain = address is None
            if address is not None:
                token.attrs["href"] = address
                yield token
        elif token.type == "link_close":
            if not is_plain:
                yield token
            is_plain = False
        elif token.type == "image":
            yield Token("text", "", 0, content=f"({token.content})")
        else:
            yield token


def _address(name: str, target: str) -> str | None:
    """Returns the address of a link's target, relative to the chapter's; None for a file that is not served."""
    if target.startswith(("https://", "#")):
        return target
    path, sign, anchor = target.partition("#")
    other = _normal(PurePosixPath(name).parent / path)
    return f"../{other.removesuffix('.md')}{sign}{anchor}" if other.removesuffix(".md") in names() else None


def _normal(path: PurePosixPath) -> str:
    """Returns a path without `..`."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)
