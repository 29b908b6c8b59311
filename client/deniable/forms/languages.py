"""Language tags (BCP 47, https://www.rfc-editor.org/info/bcp47) for the languages that a form's columns name."""

from __future__ import annotations

import re
from functools import lru_cache

from deniable.survey.translation import LANGUAGE

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
    """Returns the tag of a language as forms name it: “English (en)”, “en”, “EN”, “English”; empty if it is unknown."""
    in_brackets = re.search(r"\(([^()]+)\)$", language.strip())
    name = language.strip()
    for tag in (in_brackets[1].strip().replace("_", "-").lower() if in_brackets else "", name.lower() if name.isupper() else name):
        if LANGUAGE.fullmatch(tag):
            return tag
    return _TAGS.get(language.partition("(")[0].strip().lower(), "")
