"""The private parts of granian that the server uses: a release that lacks one of them must not be accepted by pyproject.toml."""

from __future__ import annotations

import ast
import inspect
import socket
from importlib import import_module
from pathlib import Path

import granian._granian as private
import pytest
from granian.server.embed import Server

import deniable_server

SOURCES = sorted(Path(deniable_server.__file__).parent.rglob("*.py"))
PRIVATE = {"RSGIHTTPProtocol", "RSGIProtocolClosed", "RSGIProtocolError", "SocketHolder"}


def imports() -> set[tuple[str, str]]:
    """Every module and name that the server imports from granian."""
    nodes = [node for path in SOURCES for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    return {
        (node.module, alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "granian"
        for alias in node.names
    }


def test_the_server_imports_the_private_names_that_are_tested_here_and_no_others() -> None:
    assert {name for module, name in imports() if "_" in module} == PRIVATE


@pytest.mark.parametrize(("module", "name"), sorted(imports()))
def test_granian_has_what_the_server_imports(module: str, name: str) -> None:
    assert hasattr(import_module(module), name)


def test_a_socket_holder_takes_a_descriptor_whether_it_is_a_path_and_a_backlog() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        holder = private.SocketHolder(listener.fileno(), False, 16)  # type: ignore[call-arg]
        assert holder.get_fd() == listener.fileno()
        listener.detach()  # the holder closes it


def test_a_server_makes_its_socket_in_a_method_of_its_own_and_keeps_it_in_an_attribute() -> None:
    assert "self._shd" in inspect.getsource(Server._init_shared_socket)
    assert list(inspect.signature(Server._init_shared_socket).parameters) == ["self"]


@pytest.mark.parametrize("method", ["response_bytes", "response_file", "response_file_range", "__call__", "__aiter__"])
def test_a_request_is_read_and_answered_by_these_methods(method: str) -> None:
    assert hasattr(private.RSGIHTTPProtocol, method)


def test_a_client_that_is_gone_is_an_error_of_granians_own() -> None:
    assert issubclass(private.RSGIProtocolClosed, Exception)
    assert issubclass(private.RSGIProtocolError, Exception)
