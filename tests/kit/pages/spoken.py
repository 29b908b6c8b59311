"""What a screen reader gets of a page: the browser's accessibility tree, a line for each thing that is announced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from selenium.webdriver import Chrome

SILENT = {"generic", "none", "InlineTextBox", "LineBreak", "RootWebArea", "ListMarker", "LabelText", "rowgroup"}
"""Roles that nobody hears by themselves."""
SILENT_UNNAMED = {"form"}
"""Roles that nobody hears where they have no name: a form without one is no landmark, and is mapped to nothing."""
WHOLE = {
    "StaticText",
    "heading",
    "button",
    "link",
    "radio",
    "checkbox",
    "textbox",
    "combobox",
    "option",
    "term",
    "rowheader",
    "columnheader",
}
"""Roles whose name is all that they hold."""
STATES = ("checked", "expanded", "invalid", "required", "disabled", "live", "posinset", "setsize", "level", "selected", "current")
PLAIN = ("", "false", "off")


def spoken(driver: Chrome, root: str = "body") -> list[str]:
    """Role, “name”, (description), value and states of all that is announced inside `root`, indented as it is nested."""
    driver.execute_cdp_cmd("Accessibility.enable", {})
    try:
        document = driver.execute_cdp_cmd("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
        element = driver.execute_cdp_cmd("DOM.querySelector", {"nodeId": document, "selector": root})["nodeId"]
        backend = driver.execute_cdp_cmd("DOM.describeNode", {"nodeId": element})["node"]["backendNodeId"]
        nodes = {node["nodeId"]: node for node in driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]}
    finally:
        driver.execute_cdp_cmd("Accessibility.disable", {})
    (start,) = (node for node in nodes.values() if node.get("backendDOMNodeId") == backend)
    return list(_lines(start, nodes, 0))


def _lines(node: dict[str, Any], nodes: dict[str, Any], depth: int) -> Iterator[str]:
    role = node.get("role", {}).get("value", "")
    named = bool(node.get("name", {}).get("value"))
    heard = not node["ignored"] and role not in SILENT and (named or role not in SILENT_UNNAMED)
    if heard:
        yield "  " * depth + _line(role, node)
    if heard and role in WHOLE:
        return
    for child in node.get("childIds", ()):
        if child in nodes:
            yield from _lines(nodes[child], nodes, depth + heard)


def _line(role: str, node: dict[str, Any]) -> str:
    parts = ["text" if role == "StaticText" else role]
    for key, form in (("name", "“{}”"), ("description", "({})"), ("value", "= {}")):
        said = node.get(key, {}).get("value")
        if said not in (None, ""):
            parts.append(form.format(" ".join(str(said).split())))
    states = {p["name"]: str(p["value"].get("value", "")).lower() for p in node.get("properties", ())}
    parts += [key if states[key] == "true" else f"{key} {states[key]}" for key in STATES if states.get(key, "") not in PLAIN]
    return " ".join(parts)


def focused(driver: Chrome) -> str:
    """What is announced of the element that has the focus; empty where that is the page itself."""
    reply = driver.execute_cdp_cmd("Runtime.evaluate", {"expression": "document.activeElement"})
    if reply["result"]["className"] == "HTMLBodyElement":
        return ""
    wanted = {"objectId": reply["result"]["objectId"], "fetchRelatives": False}
    (node,) = driver.execute_cdp_cmd("Accessibility.getPartialAXTree", wanted)["nodes"]
    return _line(node["role"]["value"], node)
