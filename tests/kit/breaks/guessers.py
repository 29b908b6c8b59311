"""Guesses passwords as fast as the server answers: `python guessers.py URL form|basic HOW_MANY SECONDS` prints the statuses it got.

A process of its own, so that its work is not taken for the server's. Every other guess is for ada, the rest for names made up.
"""

from __future__ import annotations

import base64
import html
import http.client
import json
import re
import secrets
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from urllib.parse import urlencode, urlsplit

Guess = Callable[[http.client.HTTPConnection, str, str], int]


def basic(connection: http.client.HTTPConnection, name: str, password: str) -> int:
    written = base64.b64encode(f"{name}:{password}".encode()).decode()
    connection.request("GET", "/api/v1/surveys/study/results", headers={"Authorization": f"Basic {written}"})
    return finished(connection).status


class Form:
    """The login page, with the token and the cookie that it gives out once."""

    def __init__(self) -> None:
        self.token = self.cookie = ""

    def __call__(self, connection: http.client.HTTPConnection, name: str, password: str) -> int:
        if not self.token:
            connection.request("GET", "/login")
            reply = connection.getresponse()
            self.cookie = (reply.getheader("Set-Cookie") or "").split(";")[0]
            self.token = html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', reply.read().decode())[0])
        body = urlencode({"user": name, "password": password, "csrf_token": self.token})
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": self.cookie}
        connection.request("POST", "/login", body, headers)
        return finished(connection).status


def finished(connection: http.client.HTTPConnection) -> http.client.HTTPResponse:
    reply = connection.getresponse()
    reply.read()
    return reply


def guess(url: str, way: Guess, until: float, statuses: Counter[int]) -> None:
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)) as connection:
        while time.monotonic() < until:
            name = "ada" if secrets.randbelow(2) else secrets.token_hex(8)
            try:
                statuses[way(connection, name, secrets.token_hex(8))] += 1
            except (OSError, http.client.HTTPException):
                statuses[0] += 1
                connection.close()


def main() -> None:
    url, way, how_many, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    until, counted = time.monotonic() + seconds, [Counter[int]() for _ in range(how_many)]
    threads = [threading.Thread(target=guess, args=[url, basic if way == "basic" else Form(), until, own]) for own in counted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(sum(counted, Counter())))


if __name__ == "__main__":
    main()
