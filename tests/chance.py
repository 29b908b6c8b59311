"""The tests of chance with other coins, one set after the other: `make long NAME=chance`, or `python -m tests.chance 2 3 4`.

With the first set it finds out which tests toss coins at all (`tests/kit/coins.py`); with the others it runs only these.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

WHERE = ("tests/client/estimate", "tests/client/plan", "tests/client/privacy", "tests/server/researchers")


def main(seeds: Sequence[str], where: Sequence[str] = WHERE) -> int:
    """Runs them all; 1 where a test failed with any of the coins, else 0."""
    failed = []
    with TemporaryDirectory() as folder:
        tossed = Path(folder) / "tossed"
        for seed in seeds:
            which, keep = ([f"@{tossed}"], "") if tossed.exists() else (["-m", "not browser", *where], str(tossed))
            print(f"coins {seed}", flush=True)
            settings = {**os.environ, "DENIABLE_COINS": seed, "DENIABLE_COINS_TOSSED": keep}
            how = ("-q", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
            if subprocess.run([sys.executable, "-m", "pytest", *how, *which], env=settings, check=False).returncode:
                failed.append(seed)
    print(f"tests failed with the coins {', '.join(failed)}" if failed else f"no test failed with {len(seeds)} sets of coins")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
