"""The API's own description, as OpenAPI 3.1: a file for programs, and the same as a page for people."""

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
    """The description, as one dict. Whoever changes it changes it for all."""
    read: dict[str, Any] = YAML(typ="safe", pure=True).load(Path(__file__).with_name("openapi.yaml").read_text(encoding="utf-8"))
    return read


@bp.get("/openapi.json")
def openapi() -> Response:
    return jsonify(document())


@bp.get("/")
def page() -> str:
    """Every operation with what it takes and what it replies."""
    return render_template("api.html", api=document(), operations=list(_operations()))


def _operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Of each operation its address, its method, and itself; with what its references stand for, and the keys of its body."""
    for path, item in document()["paths"].items():
        for method in ("get", "post", "delete"):
            if method in item:
                operation = dict(item[method])
                operation["parameters"] = [_found(each) for each in (*item.get("parameters", ()), *operation.get("parameters", ()))]
                operation["responses"] = {status: _found(reply) for status, reply in operation["responses"].items()}
                operation["body"] = _body(operation.get("requestBody"))
                yield path, method.upper(), operation


def _body(request: dict[str, Any] | None) -> dict[str, Any]:
    """The keys of a body and what they are; none where there is no body."""
    if request is None:
        return {}
    schema = _found(_found(request)["content"]["application/json"]["schema"])
    return {name: _found(value) for name, value in schema["properties"].items()}


def _found(value: dict[str, Any]) -> dict[str, Any]:
    """What a reference of this document stands for, or the value itself."""
    if "$ref" not in value:
        return value
    found: Any = document()
    for name in value["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return dict(found)
