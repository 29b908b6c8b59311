"""Posts by wrk, a client in C: its cost is small, so more of the machine is left to the server, and single posts wait for the server only.

wrk is a package of Debian. Each request is sent once: a second one of the same submission would be answered without being stored.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from benchmarks.ingest import CONNECTIONS, Poured, Running

MOST_A_SECOND = 12_000
"""Requests prepared for each second."""

SCRIPT = """
local lines = io.open("%s", "rb")
function request()
  local size = lines:read("*l")
  if not size then wrk.thread:stop() return "" end
  return lines:read(tonumber(size))
end
counts = {}
function response(status) counts[status] = (counts[status] or 0) + 1 end
local threads = {}
function setup(thread) table.insert(threads, thread) end
function done(summary, latency, requests)
  local words = {}
  for _, thread in ipairs(threads) do
    for status, count in pairs(thread:get("counts")) do table.insert(words, string.format('"%%d": %%d', status, count)) end
  end
  local took = {}
  for share = 1, 100 do took[share] = string.format("%%.9f", latency:percentile(share - 0.5) / 1e6) end
  words, took = table.concat(words, ", "), table.concat(took, ", ")
  print(string.format('wrk{"seconds": %%.6f, "counts": {%%s}, "took": [%%s]}', summary.duration / 1e6, words, took))
end
"""


def is_installed() -> bool:
    """Whether wrk is on this machine."""
    return shutil.which("wrk") is not None


def pour(server: Running, seconds: float, connections: int = CONNECTIONS) -> Poured:
    """Posts for so long, each connection one request after the other. `took` has a hundred quantiles."""
    whole = max(1, round(seconds))
    with tempfile.TemporaryDirectory() as folder:
        requests, script = Path(folder, "requests"), Path(folder, "post.lua")
        requests.write_bytes(b"".join(_sized(islice(server.requests, whole * MOST_A_SECOND // server.records))))
        script.write_text(SCRIPT % str(requests), encoding="utf-8")
        cpu = server.cpu
        command = [
            "wrk",
            "-t1",
            f"-c{connections}",
            f"-d{whole}s",
            "--timeout",
            "60s",
            "-s",
            str(script),
            f"http://127.0.0.1:{server.port}",
        ]
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        spent = server.cpu - cpu
    found = json.loads(next(line for line in out.splitlines() if line.startswith("wrk{"))[3:])
    counts = {int(status): count for status, count in found["counts"].items()}
    taken = sum(count for status, count in counts.items() if status in (200, 201))
    others = {status: count for status, count in counts.items() if status not in (200, 201)}
    return Poured(found["seconds"], taken, others, found["took"], spent)


def _sized(requests: Iterator[bytes]) -> Iterator[bytes]:
    for request in requests:
        yield f"{len(request)}\n".encode() + request
