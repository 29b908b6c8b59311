"""What was released: the hashes of all that a respondent's browser loads. `make release-hashes` writes the file anew."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Self

PATH = Path(__file__).with_name("released.json")


@dataclass(frozen=True)
class Released:
    """headers: what the replies must say. files: SHA-384 by path. pages: fingerprints by language, and in it by the kind of page."""

    headers: Mapping[str, str]
    files: Mapping[str, str]
    pages: Mapping[str, Mapping[str, str]]

    @classmethod
    def load(cls) -> Self:
        """That of the installed package."""
        return cls(**json.loads(PATH.read_text(encoding="utf-8")))


def name() -> str:
    """The release that is installed here, and compared with."""
    return f"deniable {version('deniable')}"


def sha384(body: bytes) -> str:
    """A hash as subresource integrity writes it."""
    return "sha384-" + base64.b64encode(hashlib.sha384(body).digest()).decode()


def fingerprint(page: bytes, survey: str) -> str:
    """The hash of a survey's page with the survey's id taken out of the places that name it: `data-survey`, addresses below /s/,
    and that of the definition.

    What stands between these places is hashed piece by piece, so that no other text can be taken for an id.
    """
    place = rb'(?:(?<= data-survey=")|(?<=/s/)|(?<=/api/v1/surveys/))' + re.escape(survey.encode()) + rb'(?=["/?#])'
    return sha384(b"".join(hashlib.sha384(piece).digest() for piece in re.split(place, page)))
