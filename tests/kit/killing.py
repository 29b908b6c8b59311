"""Jobs that are killed in the middle of what they send."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from typing import Any


def kill_again_and_again(
    server: Any, faults: list[Any], command: Callable[[], list[str]], kills: int, environment: Mapping[str, str], seed: int = 3
) -> None:
    """Starts a command anew for each kill, has the server's first replies to it fail, and kills it after a few of its requests."""
    rng = random.Random(seed)
    for _ in range(kills):
        server.faults.extend(faults)
        enough = len(server.posts) + rng.randrange(1, 9)
        process = subprocess.Popen(command(), stderr=subprocess.DEVNULL, env=environment)
        while len(server.posts) < enough and process.poll() is None:
            time.sleep(0.0005)
        time.sleep(rng.random() * 0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    server.faults.clear()
