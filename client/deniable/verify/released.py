"""What was released: the hashes of all that a respondent's browser loads. `make release-hashes` writes the file anew."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Self

from deniable.verify.page_bundle import NAME, JoinError, joined

PATH = Path(__file__).with_name("released.json")
_FOLDER = "/browser/"
FILE = f"{_FOLDER}{NAME}"
"""The path of the one file that a respondent's browser runs, beside the first script."""


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


def belongs(files: Mapping[str, bytes]) -> bool:
    """Whether the one file that runs is what the modules beside it make. files: all that is served, by path."""
    own = {path.removeprefix(_FOLDER): body for path, body in files.items() if path.endswith(".mjs") and path != FILE}
    with suppress(JoinError, UnicodeDecodeError):
        return joined({name: body.decode() for name, body in own.items()}).encode() == files[FILE]
    return False
