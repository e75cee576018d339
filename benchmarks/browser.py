"""A page in headless Chromium over the DevTools protocol, for benchmarks and tests of pages."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--remote-debugging-port=0",
    # No host name resolves: requests to other hosts fail, as they would offline.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
KEYS = {"ArrowDown": 40, "ArrowUp": 38, "Enter": 13, "Escape": 27, "Tab": 9}


class Tab:
    """One page; `events` has the browser's messages since they were cleared."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Run a command of the protocol and return its result."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while (message := json.loads(self._socket.recv(timeout=60))).get("id") != number:
            self.events.append(message)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    def open(self, address: str) -> None:
        """Go to an address."""
        for domain in ("Network", "Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=address)

    def value(self, expression: str) -> Any:
        """Return the value of an expression in the page; a promise is awaited."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def until(self, expression: str, seconds: float = 20) -> Any:
        """Wait until an expression is true and return its value.

        While the page loads, the expression may have no value at all.
        """
        deadline = time.monotonic() + seconds
        plain = f"Promise.resolve({expression}).then((one) => one instanceof Node || one)"  # an element itself has no value
        while True:
            try:
                value, said = self.value(plain), ""
            except RuntimeError as error:
                value, said = None, str(error)
            if value:
                return value
            if time.monotonic() > deadline:
                shown = self.value("document.body.innerText.slice(0, 600)")
                raise AssertionError(f"{expression} stays {said or repr(value)}; {self.troubles()}; {shown}")
            time.sleep(0.03)

    def press(self, key: str) -> None:
        """Press a key of the keyboard."""
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        code = KEYS.get(key, ord(key.upper()[0]))
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        """Type text into the element with the focus."""
        self.call("Input.insertText", text=text)

    def requested(self) -> list[str]:
        """Return the addresses that the page requested."""
        return [event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"]

    def troubles(self) -> list[dict[str, Any]]:
        """Return the errors and warnings of the browser."""
        return [event["params"] for event in self.events if event["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")]

    def screenshot(self, path: Path) -> None:
        """Write a screenshot as PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def chromium(profile: Path, size: tuple[int, int] = (1400, 900)) -> Iterator[Tab]:
    """Run a browser with its own profile."""
    if CHROMIUM is None:
        raise RuntimeError("Chromium is not installed; on Debian: apt install chromium")
    process = subprocess.Popen(
        [CHROMIUM, *FLAGS, f"--window-size={size[0]},{size[1]}", f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(profile)},
    )
    try:
        port_file = profile / "DevToolsActivePort"
        deadline = time.monotonic() + 60
        while not (port_file.exists() and port_file.read_text().count("\n")):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("Chromium does not start; run it with --headless to see why")
            time.sleep(0.05)
        port = port_file.read_text().split()[0]
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"http://127.0.0.1:{port}/json") as answer:
            tab = next(one for one in json.load(answer) if one["type"] == "page")
        with connect(tab["webSocketDebuggerUrl"], max_size=None, proxy=None) as socket:
            yield Tab(socket)
            socket.send(json.dumps({"id": 0, "method": "Browser.close"}))
        process.wait(20)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
