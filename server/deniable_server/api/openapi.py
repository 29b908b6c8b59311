"""OpenAPI 3.1 description of the API: a file for programs, and a page for people."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from flask import Response, jsonify, render_template
from ruamel.yaml import YAML

from deniable_server.web.audience import Audience, Routes

bp = Routes("api_document", __name__, Audience(login=False, forms=False, csrf=False, translated=False), url_prefix="/api/v1")


@cache
def document() -> dict[str, Any]:
    """Returns the description. The dict is shared: do not change it."""
    text = Path(__file__).with_name("openapi.yaml").read_text(encoding="utf-8")
    description: dict[str, Any] = YAML(typ="safe", pure=True).load(text)
    return description


@bp.get("/openapi.json")
def openapi() -> Response:
    """Serves the description as JSON."""
    return jsonify(document())


@bp.get("/")
def page() -> str:
    """Serves a page with every operation, its parameters and its replies."""
    return render_template("api.html", api=document(), operations=list(_operations()))


def _operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yields the address, method and resolved description of each operation, with the keys of its body."""
    for path, item in document()["paths"].items():
        for method in ("get", "post", "delete"):
            if method in item:
                operation = dict(item[method])
                operation["parameters"] = [_resolved(each) for each in (*item.get("parameters", ()), *operation.get("parameters", ()))]
                operation["responses"] = {status: _resolved(reply) for status, reply in operation["responses"].items()}
                operation["body"] = _body(operation.get("requestBody"))
                yield path, method.upper(), operation


def _body(request: dict[str, Any] | None) -> dict[str, Any]:
    """Returns the keys of a request body and their descriptions; empty without a body."""
    if request is None:
        return {}
    schema = _resolved(_resolved(request)["content"]["application/json"]["schema"])
    return {name: _resolved(value) for name, value in schema["properties"].items()}


def _resolved(value: dict[str, Any]) -> dict[str, Any]:
    """Resolves a reference within this document; returns other values as they are."""
    if "$ref" not in value:
        return value
    target: Any = document()
    for name in value["$ref"].removeprefix("#/").split("/"):
        target = target[name]
    return dict(target)
