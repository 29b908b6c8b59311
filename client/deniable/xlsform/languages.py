"""The languages of a form's columns, by the tags that survey files have (https://www.rfc-editor.org/info/bcp47)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from deniable.survey.translation import LANGUAGE
from deniable.xlsform.workbook import Row

_NAMES = {
    "am": "amharic አማርኛ",
    "ar": "arabic العربية عربي",
    "bn": "bengali bangla বাংলা",
    "ckb": "sorani",
    "cs": "czech",
    "de": "german deutsch",
    "en": "english",
    "es": "spanish español castellano",
    "fa": "persian farsi فارسی",
    "fil": "filipino",
    "fr": "french français",
    "ha": "hausa",
    "hi": "hindi हिन्दी हिंदी",
    "ht": "creole kreyòl",
    "id": "indonesian",
    "it": "italian italiano",
    "ja": "japanese 日本語",
    "km": "khmer ខ្មែរ",
    "ko": "korean 한국어",
    "ku": "kurdish kurmanji",
    "lo": "lao ລາວ",
    "my": "burmese myanmar",
    "ne": "nepali नेपाली",
    "nl": "dutch nederlands",
    "om": "oromo oromiffa oromifa",
    "pl": "polish polski",
    "prs": "dari",
    "ps": "pashto پښتو",
    "pt": "portuguese português",
    "ro": "romanian română",
    "ru": "russian русский",
    "rw": "kinyarwanda",
    "so": "somali",
    "sw": "swahili kiswahili",
    "ta": "tamil",
    "tet": "tetun tetum",
    "th": "thai ไทย",
    "ti": "tigrinya tigrigna tigirigna ትግርኛ",
    "tl": "tagalog",
    "tr": "turkish türkçe",
    "uk": "ukrainian українська",
    "ur": "urdu اردو",
    "vi": "vietnamese",
    "zh": "chinese mandarin 中文",
}
_TAGS = {name: tag for tag, names in _NAMES.items() for name in names.split()}


@lru_cache(1024)
def tag_of(language: str) -> str:
    """The tag of a language as a form names it: “English (en)”, “en”, “EN”, “English”; empty where it says none."""
    inside = re.search(r"\(([^()]+)\)$", language.strip())
    bare = language.strip()
    for one in (inside[1].strip().replace("_", "-").lower() if inside else "", bare.lower() if bare.isupper() else bare):
        if LANGUAGE.fullmatch(one):
            return one
    return _TAGS.get(language.partition("(")[0].strip().lower(), "")


def one_name_each(rows: Iterable[Row], names: dict[str, str]) -> list[Row]:
    """The rows with one name for each language, that of the first column in it: sheets may name it “English” and “(EN)”.

    names: those found so far, by their tags; filled.
    """
    return [{(column, _named(language, names)): text for (column, language), text in row.items()} for row in rows]


def _named(language: str, names: dict[str, str]) -> str:
    tag = tag_of(language)
    return names.setdefault(tag, language) if tag else language
