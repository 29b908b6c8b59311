"""Firefox as Selenium knows it, without a driver program: Firefox speaks WebDriver's commands itself, over a socket of its own."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from selenium.webdriver import FirefoxOptions, Remote
from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.command import Command
from selenium.webdriver.remote.remote_connection import RemoteConnection

PREFERENCES = {
    "remote.prefs.recommended": False,  # it is to behave as people's do
    "marionette.port": 0,
    "browser.sessionstore.interval": 200,  # milliseconds between two writes of the session; people have 15,000
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "browser.sessionstore.max_resumed_crashes": -1,  # whenever it is killed, it opens again what was open
}
COMMANDS = {
    Command.GET: "Navigate",
    Command.GO_BACK: "Back",
    Command.GO_FORWARD: "Forward",
    Command.REFRESH: "Refresh",
    Command.GET_CURRENT_URL: "GetCurrentURL",
    Command.GET_TITLE: "GetTitle",
    Command.GET_PAGE_SOURCE: "GetPageSource",
    Command.FIND_ELEMENT: "FindElement",
    Command.FIND_ELEMENTS: "FindElements",
    Command.FIND_CHILD_ELEMENT: "FindElement",
    Command.FIND_CHILD_ELEMENTS: "FindElements",
    Command.CLICK_ELEMENT: "ElementClick",
    Command.CLEAR_ELEMENT: "ElementClear",
    Command.SEND_KEYS_TO_ELEMENT: "ElementSendKeys",
    Command.GET_ELEMENT_TEXT: "GetElementText",
    Command.GET_ELEMENT_ATTRIBUTE: "GetElementAttribute",
    Command.GET_ELEMENT_TAG_NAME: "GetElementTagName",
    Command.GET_ELEMENT_RECT: "GetElementRect",
    Command.IS_ELEMENT_SELECTED: "IsElementSelected",
    Command.IS_ELEMENT_ENABLED: "IsElementEnabled",
    Command.W3C_EXECUTE_SCRIPT: "ExecuteScript",
    Command.W3C_EXECUTE_SCRIPT_ASYNC: "ExecuteAsyncScript",
    Command.W3C_GET_ACTIVE_ELEMENT: "GetActiveElement",
    Command.W3C_ACTIONS: "PerformActions",
    Command.W3C_CLEAR_ACTIONS: "ReleaseActions",
    Command.W3C_GET_CURRENT_WINDOW_HANDLE: "GetWindowHandle",
    Command.W3C_GET_WINDOW_HANDLES: "GetWindowHandles",
    Command.SWITCH_TO_WINDOW: "SwitchToWindow",
    Command.NEW_WINDOW: "NewWindow",
    Command.CLOSE: "CloseWindow",
    Command.SCREENSHOT: "TakeScreenshot",
    Command.SET_TIMEOUTS: "SetTimeouts",
    Command.GET_ALL_COOKIES: "GetCookies",
    Command.SET_WINDOW_RECT: "SetWindowRect",
}
FAILED = 500


class Marionette(RemoteConnection):
    """Sends Selenium's commands as Firefox's own, each message with its length before it."""

    def __init__(self, port: int) -> None:
        super().__init__(client_config=ClientConfig("http://127.0.0.1"))
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._stream = self._socket.makefile("rwb")
        self._number = 0
        self._read()

    def execute(self, command: str, params: dict[str, Any]) -> dict[str, Any]:
        if command == Command.NEW_SESSION:
            return self._tell("WebDriver:NewSession", {})
        params = {name: value for name, value in params.items() if name != "sessionId"}
        if command in (Command.FIND_CHILD_ELEMENT, Command.FIND_CHILD_ELEMENTS):
            params["element"] = params.pop("id")
        return self._tell(f"WebDriver:{COMMANDS[command]}", params)

    def quit(self) -> None:
        """Has Firefox close as a person would close it."""
        self._tell("Marionette:Quit", {"flags": ["eAttemptQuit"]})

    def _tell(self, name: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        message = json.dumps([0, self._number, name, params]).encode()
        self._stream.write(b"%d:%s" % (len(message), message))
        self._stream.flush()
        _, _, error, result = self._read()
        if error:
            return {"status": FAILED, "value": json.dumps({"value": error})}
        return {"value": result["value"] if isinstance(result, dict) and set(result) == {"value"} else result}

    def _read(self) -> Any:
        digits = b""
        while not digits.endswith(b":"):
            digits += self._stream.read(1) or self._lost()
        return json.loads(self._stream.read(int(digits[:-1])))

    def _lost(self) -> bytes:
        raise ConnectionError("Firefox has gone")

    def close(self) -> None:
        self._stream.close()
        self._socket.close()


class Firefox(Remote):
    """A Firefox with its profile in a folder of the caller's; whoever opens it closes or kills it."""

    def __init__(self, profile: Path) -> None:
        self.profile, self._open = profile, False
        profile.mkdir(exist_ok=True)
        preferences = {**PREFERENCES, "browser.download.folderList": 2, "browser.download.dir": str(profile / "saved")}
        chosen = "".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items())
        (profile / "user.js").write_text(chosen, encoding="utf-8")
        (port := profile / "MarionetteActivePort").unlink(missing_ok=True)
        program = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))))
        command = [program, "--headless", "--no-remote", "--marionette", "--profile", str(profile)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        while not (port.exists() and port.read_text(encoding="ascii")):
            assert self.process.poll() is None, "Firefox did not start"
            time.sleep(0.05)
        self._own = Marionette(int(port.read_text(encoding="ascii")))
        super().__init__(self._own, options=FirefoxOptions())  # type: ignore[no-untyped-call]
        self._open = True

    def quit(self) -> None:
        if self._open:
            self._own.quit()
            self._end()

    def kill(self) -> None:
        """Ends it as a power cut would, where it still runs."""
        if self._open:
            self.process.send_signal(signal.SIGKILL)
            self._end()

    def _end(self) -> None:
        self._open = False
        self.process.wait(timeout=60)
        self._own.close()
