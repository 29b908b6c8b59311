"""Citation of public results: a line of text and a BibTeX entry, with the day of the release and the definition's digest."""

from __future__ import annotations

import re
from dataclasses import dataclass

from deniable.survey import Survey


@dataclass(frozen=True)
class Citation:
    """A citation as text and as BibTeX."""

    text: str
    bibtex: str


def cite(survey: Survey, n: int, released_on: str, address: str) -> Citation:
    """Returns the citation of a survey's public results.

    Args:
        survey: The survey.
        n: The number of records.
        released_on: The day of the last release, YYYY-MM-DD, or empty.
        address: The stable address of the results.
    """
    title, institution = " ".join(survey.title.split()), " ".join(survey.institution.split())
    year, day = released_on[:4] or "n.d.", f", released {released_on}" if released_on else ""
    note = (
        f"{n:,} perturbed records, local differential privacy with epsilon = {survey.epsilon:.4g}{day}. Definition SHA-256 {survey.digest}"
    )
    author = f"{institution} ({year}). {title}" if institution else f"{title} ({year})"
    fields = {
        **({"author": f"{{{_tex(institution)}}}"} if institution else {}),
        "title": f"{{{_tex(title)}}}",
        **({"year": year} if released_on else {}),
        "howpublished": f"\\url{{{address}}}",
        "note": _tex(note),
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    key = re.sub(r"[^A-Za-z0-9]", "", survey.id) + survey.digest[:8]
    return Citation(f"{author} [Data set]. {address}. {note}.", f"@misc{{{key},\n{lines}\n}}")


def _tex(text: str) -> str:
    """Returns a text with TeX's special characters escaped."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(letter) or (f"\\{letter}" if letter in "&%$#_{}" else letter) for letter in text)
