"""Clients that never finish: `python crowd.py PORT KIND=NUMBER ...` keeps so many of each connected until it is ended.

It says `ready` once all were connected, and replaces each that the server ends.
"""

from __future__ import annotations

import asyncio
import sys

POST = b"POST /api/v1/surveys/study/submissions HTTP/1.1\r\nHost: study\r\nContent-Type: application/json\r\n"
PAGE = b"GET /s/study HTTP/1.1\r\nHost: study\r\n\r\n"
PAUSE = 2.0  # seconds between two bytes of a slow client

# What each sends at first, and then again and again.
KINDS: dict[str, tuple[bytes, bytes]] = {
    "idle": (b"", b""),
    "slow-heads": (b"GET /s/study HTTP/1.1\r\nHost: s", b"t"),
    "silent-bodies": (POST + b"Content-Length: 200\r\n\r\n", b""),
    "slow-bodies": (POST + b"Content-Length: 200\r\n\r\n{", b" "),
    "slow-chunks": (POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", b"1\r\n \r\n"),
    "slow-forms": (b"POST /login HTTP/1.1\r\nHost: study\r\nContent-Length: 99\r\n\r\nuser=", b"a"),
    "deaf": (PAGE * 400, b""),  # and reads no reply
}


async def client(port: int, kind: str, connected: set[int], number: int) -> None:
    """One client after another of a kind."""
    first, more = KINDS[kind]
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
            writer.write(first)
            connected.add(number)
            ended = None if kind == "deaf" else asyncio.create_task(reader.read())
            while not writer.is_closing() and not (ended and ended.done()):
                await asyncio.sleep(PAUSE)
                writer.write(more)
            writer.close()
        except OSError:
            await asyncio.sleep(PAUSE)


async def main(port: int, numbers: dict[str, int]) -> None:
    """All of them at once."""
    connected: set[int] = set()
    kinds = [kind for kind, count in numbers.items() for _ in range(count)]
    tasks = [asyncio.create_task(client(port, kind, connected, number)) for number, kind in enumerate(kinds)]
    while len(connected) < len(tasks):
        await asyncio.sleep(0.05)
    print("ready", flush=True)
    await asyncio.gather(*tasks)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), {kind: int(count) for kind, count in (word.split("=") for word in sys.argv[2:])}))
