"""Researchers who ask for more than two processors compute: `python researchers.py URL USER PASSWORD WORKBOOK KEY` until it is killed.

8 downloads of a survey with 200 groups, 8 bundles of it, 8 models and 16 uploads of one workbook, each again as soon as it is answered. A
process of its own, that gives way to the others: in practice it would be on other machines. It prints `ready` once it is logged in, and
statuses whenever a line of them has come.
"""

from __future__ import annotations

import http.client
import os
import re
import sys
import threading
import uuid
from collections import Counter
from contextlib import closing, suppress
from urllib.parse import urlencode, urlsplit

DOWNLOAD, BUNDLE = "/api/v1/surveys/wide/reports?form=arrow", "/api/v1/surveys/wide/bundle"
MODEL = "/manage/surveys/modelled/model?outcome=q0&predictor=q1&predictor=q2&predictor=q3"
_TOKEN = re.compile(r'name="csrf_token"[^>]*value="([^"]+)"')
statuses: Counter[str] = Counter()
lock = threading.Lock()


def ask(netloc: str, name: str, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> None:
    """The same request, again and again."""
    while True:
        with suppress(OSError, http.client.HTTPException), closing(http.client.HTTPConnection(netloc, timeout=600)) as connection:
            while True:
                connection.request(method, path, body, headers)
                reply = connection.getresponse()
                reply.read()
                with lock:
                    statuses[f"{name} {reply.status}"] += 1
                    print(dict(statuses), flush=True)
                if reply.status == 503:
                    threading.Event().wait(float(reply.getheader("Retry-After") or 1))


def page(netloc: str, path: str, cookie: str) -> tuple[str, str]:
    """The token of a page, and the cookie that it sets, or the one that there was."""
    with closing(http.client.HTTPConnection(netloc, timeout=600)) as connection:
        connection.request("GET", path, headers={"Cookie": cookie})
        reply = connection.getresponse()
        token = _TOKEN.search(reply.read().decode())
        assert token, path
        return token[1], (reply.getheader("Set-Cookie") or cookie).split(";")[0]


def logged_in(netloc: str, user: str, password: str) -> str:
    token, cookie = page(netloc, "/login", "")
    with closing(http.client.HTTPConnection(netloc, timeout=600)) as connection:
        body = urlencode({"user": user, "password": password, "csrf_token": token})
        connection.request("POST", "/login", body, {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie})
        reply = connection.getresponse()
        assert reply.status == 302, reply.status
        return next(value.split(";")[0] for name, value in reply.getheaders() if name.lower() == "set-cookie" and "-device" not in value)


def form_of(token: str, workbook: bytes) -> tuple[bytes, str]:
    boundary = uuid.uuid4().hex
    head = 'Content-Disposition: form-data; name="%s"'
    parts = [(head % "csrf_token").encode() + b"\r\n\r\n" + token.encode(), (head % "upload").encode() + b"\r\n\r\n1"]
    parts.append((head % "file" + '; filename="form.xlsx"').encode() + b"\r\nContent-Type: application/octet-stream\r\n\r\n" + workbook)
    body = b"".join(b"--%s\r\n%s\r\n" % (boundary.encode(), part) for part in parts) + b"--%s--\r\n" % boundary.encode()
    return body, f"multipart/form-data; boundary={boundary}"


def main(url: str, user: str, password: str, workbook: str, key: str) -> None:
    os.nice(10)
    netloc = urlsplit(url).netloc
    cookie = logged_in(netloc, user, password)
    token, cookie = page(netloc, "/manage/new", cookie)
    with open(workbook, "rb") as file:
        body, kind = form_of(token, file.read())
    bearer, own = {"Authorization": f"Bearer {key}"}, {"Cookie": cookie}
    work = [("download", "GET", DOWNLOAD, None, bearer)] * 8 + [("bundle", "GET", BUNDLE, None, bearer)] * 8
    work += [("model", "GET", MODEL, None, own)] * 8
    work += [("upload", "POST", "/manage/new", body, {**own, "Content-Type": kind})] * 16
    print("ready", flush=True)
    for one in work:
        threading.Thread(target=ask, args=(netloc, *one), daemon=True).start()
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
