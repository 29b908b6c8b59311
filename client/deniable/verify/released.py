"""Hashes of a release: of everything that a respondent's browser loads. `make release-hashes` writes released.json."""

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

from deniable.verify.page_bundle import ENTRIES, NAME, JoinError, join_modules

PATH = Path(__file__).with_name("released.json")
_FOLDER = "/browser/"
FILE = f"{_FOLDER}{NAME}"
"""The path of the one file that a respondent's browser runs, beside the first script."""
FILES = {f"{_FOLDER}{name}": entry for name, entry in ENTRIES.items()}
"""The module that starts each joined file, by the file's path: the survey page's, and the kiosk's."""


@dataclass(frozen=True)
class Released:
    """The headers, files and pages of a release.

    Attributes:
        headers: The values that every reply must have.
        files: SHA-384 hashes, by path.
        pages: Fingerprints, by language and by the kind of page.
    """

    headers: Mapping[str, str]
    files: Mapping[str, str]
    pages: Mapping[str, Mapping[str, str]]

    @classmethod
    def load(cls) -> Self:
        """Returns the hashes of the installed package."""
        return cls(**json.loads(PATH.read_text(encoding="utf-8")))


def name() -> str:
    """Returns the name of the installed release."""
    return f"deniable {version('deniable')}"


def sha384(body: bytes) -> str:
    """Returns a hash in the format of subresource integrity."""
    return "sha384-" + base64.b64encode(hashlib.sha384(body).digest()).decode()


def fingerprint(page: bytes, survey: str) -> str:
    """Returns the hash of a survey's page without the survey's id, so that all surveys have the same.

    The id is removed from `data-survey`, from addresses below /s/ and from the address of the definition. The pieces between are hashed
    one by one, so that no other text can pass as an id.
    """
    survey_id = rb'(?:(?<= data-survey=")|(?<=/s/)|(?<=/api/v1/surveys/))' + re.escape(survey.encode()) + rb'(?=["/?#])'
    return sha384(b"".join(hashlib.sha384(piece).digest() for piece in re.split(survey_id, page)))


def is_joined_from_modules(files: Mapping[str, bytes], path: str = FILE) -> bool:
    """Returns whether a file that runs is the result of joining the modules. `files` has all served files, by path."""
    bodies = {name.removeprefix(_FOLDER): body for name, body in files.items() if name.endswith(".mjs") and name not in FILES}
    with suppress(JoinError, UnicodeDecodeError):
        return join_modules({name: body.decode() for name, body in bodies.items()}, FILES[path]).encode() == files[path]
    return False
