"""Guesses as fast as the server answers: `python guessers.py URL WAY HOW_MANY SECONDS` prints the statuses it got.

A process of its own, so that its work is not taken for the server's. WAY: form and basic guess passwords, every other one ada's, the
rest of names made up; ada guesses hers alone; codes guesses those of her second factor, with her password; links those that make accounts.
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
        self.token = self.cookie = self.set_cookie = ""

    def __call__(self, connection: http.client.HTTPConnection, name: str, password: str) -> int:
        if not self.token:
            connection.request("GET", "/login")
            reply = connection.getresponse()
            self.cookie = (reply.getheader("Set-Cookie") or "").split(";")[0]
            self.token = token_of(reply.read())
        body = urlencode({"user": name, "password": password, "csrf_token": self.token})
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": self.cookie}
        connection.request("POST", "/login", body, headers)
        reply = finished(connection)
        self.set_cookie = (reply.getheader("Set-Cookie") or "").split(";")[0]
        return reply.status


class Ada(Form):
    """The same, for ada alone."""

    def __call__(self, connection: http.client.HTTPConnection, name: str, password: str) -> int:
        return super().__call__(connection, "ada", password)


class Codes:
    """The page after the password, which is known."""

    def __init__(self) -> None:
        self.token = self.cookie = ""

    def __call__(self, connection: http.client.HTTPConnection, name: str, password: str) -> int:
        if not self.token:
            door = Form()
            door(connection, "ada", "correct horse battery")
            self.cookie = door.set_cookie
            connection.request("GET", "/login/code", headers={"Cookie": self.cookie})
            reply = connection.getresponse()
            self.cookie = (reply.getheader("Set-Cookie") or "").split(";")[0]
            self.token = token_of(reply.read())
        body = urlencode({"code": f"{secrets.randbelow(10**6):06d}", "csrf_token": self.token})
        connection.request("POST", "/login/code", body, {"Content-Type": "application/x-www-form-urlencoded", "Cookie": self.cookie})
        return finished(connection).status


def links(connection: http.client.HTTPConnection, name: str, password: str) -> int:
    connection.request("GET", f"/join/{secrets.token_urlsafe(32)}")
    return finished(connection).status


LONGEST = 60.0  # seconds more, for a server that refuses too few
WAYS: dict[str, Callable[[], Guess]] = {"form": Form, "basic": lambda: basic, "ada": Ada, "codes": Codes, "links": lambda: links}


def token_of(page: bytes) -> str:
    return html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', page.decode())[0])


def finished(connection: http.client.HTTPConnection) -> http.client.HTTPResponse:
    reply = connection.getresponse()
    reply.read()
    return reply


def guess(url: str, way: Guess, goes_on: Callable[[], bool], statuses: Counter[int]) -> None:
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)) as connection:
        while goes_on():
            name = "ada" if secrets.randbelow(2) else secrets.token_hex(8)
            try:
                statuses[way(connection, name, secrets.token_hex(8))] += 1
            except (OSError, http.client.HTTPException):
                statuses[0] += 1
                connection.close()


def main() -> None:
    url, way, how_many, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    least = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    until, counted = time.monotonic() + seconds, [Counter[int]() for _ in range(how_many)]

    def goes_on() -> bool:
        """Until the time is over, and so many were refused: on a busy machine that takes longer."""
        now = time.monotonic()
        return now < until or (now < until + LONGEST and sum(own[429] for own in counted) < least)

    threads = [threading.Thread(target=guess, args=[url, WAYS[way](), goes_on, own]) for own in counted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(sum(counted, Counter())))


if __name__ == "__main__":
    main()
