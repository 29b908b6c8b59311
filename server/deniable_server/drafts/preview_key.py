"""Key of previews: everybody may know it, so that a preview can sign its own tokens. No published survey has it."""

from __future__ import annotations

from deniable.wire.blind_rsa import EXPONENT
from deniable_server.store.blind_signing import SigningKey

KEY = SigningKey(
    int(
        "fa386f3d1127e282859e18909c33cc921cc11662071dce612a86a443119e1c0be80538bd82c56fe51a8d8e352a2b89eec8bfff5730efcfe7980eeeaceb0d515d"
        "8ea9c93863860ee3275c926704606af492c87207dd694e8460504afdaaa7ec4470b5094e6fa5e49d68297a70541229953555ee0539df45c698021ce448edafed",
        16,
    ),
    int(
        "f67ecf5f5668ddad0599bec2331102fde3c33041fdae716717db1e0251a86380a8755f0c208ea761c07cc02de0fccf8a134ac7fa67605c3c7e797507f49b3d38"
        "a1444c692eebf2aa62ad93ed01338500d036c22fd6aa2e2766fafb91473ca546dce03049fec9eefa2bfbc947ebbe623ba9f06ee398ababb514735845560205bf",
        16,
    ),
)
NUMBERS = f"{KEY.p * KEY.q:x} {pow(EXPONENT, -1, (KEY.p - 1) * (KEY.q - 1)):x}"
"""The modulus and the private exponent in hexadecimal, for the preview's script."""
