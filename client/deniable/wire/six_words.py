"""Fingerprint as six words, short enough to compare by eye or to read out on the telephone.

Each of six bytes of PBKDF2 (RFC 8018) of the fingerprint, with HMAC-SHA-256 and 2^18 rounds, selects a word from a list of 256: 48 bits.
The rounds make each try as expensive as 2^19 hashes, so finding another survey with given six words takes 2^67 hashes. An attacker
who chooses both surveys needs only 2^43: the digest in the link protects against that, the words do not. Twin: browser/six_words.mjs.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

_SALT = b"deniable six words"
_ROUNDS = 2**18
_LIST = """
acorn actor alarm album amber anchor angle apple april army arrow artist atlas august autumn bacon badge baker balcony
banana barn basket beach bell berry bicycle bird blanket boat bottle bowl box branch bread bridge broom bucket butter
cake camel candle carpet castle chair cherry circle city clay clock coffee cotton crab crown cube cup daisy dance deer
desert diamond dinner doctor dog dolphin donkey door dragon drum duck eagle earth east echo eight elbow elephant engine
envelope evening fabric family farm feather fence field finger fire fish flag flute forest frame friend frog fruit
galaxy garden gate giraffe glass globe gold goose grape green guitar hammer harbor hat hawk heart helmet hill hockey
honey horse hotel hundred iron island jacket january jelly juice jungle kettle key king kitchen ladder lamp lantern
laptop leaf lemon letter library lion lizard lunch machine marble mask melon metal milk mirror moon morning mountain
museum nail napkin nature needle nest nine north nose november ocean october office olive onion orange orchard oven
paint palace panda paper park pencil pepper piano picnic pilot pizza planet plum pocket pond potato pumpkin puzzle
pyramid quarter queen rabbit radio rain ribbon rice river robot roof ruby sailor salad sand school seven shadow sheep
ship shoe silver six sky snow soap sofa spoon square stone sugar summer swan table tea temple tent three tiger tomato
tooth tower trumpet tulip tunnel turtle twelve umbrella uniform valley vase village violin voice volcano water wave
whale wheat window wolf wood worker yacht yard yellow yogurt zebra zero zoo
"""
WORDS = tuple(_LIST.split())
"""English in every language, so that people who read in different ones can compare; no two begin with the same three letters."""


@lru_cache(maxsize=1024)
def six_words(fingerprint: str) -> str:
    """Returns the words of a fingerprint: a survey's digest in hexadecimal, or a script's `integrity` hash. Takes 0.05 s or more."""
    derived = hashlib.pbkdf2_hmac("sha256", fingerprint.encode(), _SALT, _ROUNDS, 6)
    return " ".join(WORDS[byte] for byte in derived)
