"""The extension in the real VS Code: seconds until lenses, hovers, impact and memories are shown.

    python -m benchmarks vscode CODE_SERVER REPOSITORY FILE NAME [--screenshots DIR]

code-server is VS Code in a browser (`npm install code-server`; its native modules need Debian's libkrb5-dev). CODE_SERVER is the folder of
its installation, FILE a path in the indexed REPOSITORY, and NAME a function in the first lines of that file. `make vscode` packs the
extension first. The seconds of the first lens include the start of the editor, of `graphmem lsp` and of the server.
"""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import browser
import report

EXTENSION = Path(__file__).parents[1] / "web" / "vscode" / "dist" / "graphmem.vsix"
SETTINGS: dict[str, Any] = {
    "graphmem.command": [sys.executable, "-m", "graphmem", "lsp"],
    "telemetry.telemetryLevel": "off",
    "workbench.startupEditor": "none",
}
LONGEST_S = 120.0


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("editor", type=Path)
    parser.add_argument("repository", type=Path)
    parser.add_argument("file")
    parser.add_argument("name")
    parser.add_argument("--screenshots", type=Path, help="folder for a screenshot of each step")
    options = parser.parse_args()
    if not EXTENSION.is_file():
        raise SystemExit(f"{EXTENSION} is missing; run `make vscode`")
    with (
        tempfile.TemporaryDirectory(prefix="graphmem-vscode-") as scratch,
        code_server(options.editor.resolve(), Path(scratch)) as address,
        browser.chromium(Path(scratch) / "profile") as tab,
    ):
        steps = tour(tab, address, options.repository.resolve() / options.file, options.name, options.screenshots)
    report.table(["step", "seconds", "shown"], [[name, *step] for name, step in steps.items()])
    report.publish("vscode", {"steps": steps, "repository": options.repository.name, "file": options.file}, options.out)


@contextmanager
def code_server(installed: Path, scratch: Path) -> Iterator[str]:
    """Run a code-server with the extension; yield its address."""
    program = ["node", str(installed / "node_modules" / "code-server" / "out" / "node" / "entry.js")]
    (scratch / "data" / "User").mkdir(parents=True)
    (scratch / "data" / "User" / "settings.json").write_text(json.dumps(SETTINGS))
    folders = ["--user-data-dir", str(scratch / "data"), "--extensions-dir", str(scratch / "extensions")]
    subprocess.run([*program, *folders, "--install-extension", str(EXTENSION)], check=True, capture_output=True, timeout=LONGEST_S)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    quiet = ["--auth", "none", "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"]
    process = subprocess.Popen([*program, *folders, *quiet, "--bind-addr", place], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + LONGEST_S
        while time.monotonic() < until:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://{place}/healthz", timeout=5):
                break
            time.sleep(0.2)
        yield place
    finally:
        process.terminate()
        process.wait(30)


def tour(tab: browser.Tab, address: str, file: Path, name: str, pictures: Path | None) -> dict[str, tuple[float, str]]:
    """Open a file, read a lens, hover, click the lens.

    Returns (seconds, text) of each step.
    """
    root = next(folder for folder in file.parents if (folder / ".graphmem").is_dir())
    steps: dict[str, tuple[float, str]] = {}
    begun = time.monotonic()

    def step(title: str, shown: str) -> None:
        nonlocal begun
        text = tab.until(shown, LONGEST_S)
        steps[title] = (round(time.monotonic() - begun, 2), " ".join(str(text).split()))
        if pictures is not None:
            pictures.mkdir(parents=True, exist_ok=True)
            tab.screenshot(pictures / f"{title.replace(' ', '-')}.png")
        begun = time.monotonic()

    opened = json.dumps([["openFile", f"vscode-remote://{address}{file}"]])
    tab.open(f"http://{address}/?folder={root}&payload={opened}")
    step("first lens", "document.querySelector('.codelens-decoration a')?.innerText")
    _move(tab, _place(tab, ".view-line span span", name))
    step("hover", "document.querySelector('.monaco-hover .hover-contents')?.innerText")
    _move(tab, _place(tab, ".codelens-decoration a", "caller"), click=True)
    step("impact", "(document.querySelector('.pane-body')?.innerText ?? '').match(/.*dependents.*/s)?.[0]")
    step("status", "[...document.querySelectorAll('.statusbar-item')].map((one) => one.innerText).find((text) => /graphmem/.test(text))")
    return steps


def _place(tab: browser.Tab, selector: str, text: str) -> tuple[float, float]:
    """Return the screen position of the first element with some text."""
    found = f"[...document.querySelectorAll({json.dumps(selector)})].find((one) => one.innerText.includes({json.dumps(text)}))"
    x, y = tab.until(f"(() => {{ const box = {found}?.getBoundingClientRect(); return box && [box.x + 12, box.y + box.height / 2]; }})()")
    return x, y


def _move(tab: browser.Tab, place: tuple[float, float], *, click: bool = False) -> None:
    for shift in (0, 2):  # a hover starts when the pointer moves inside a word
        tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=place[0] + shift, y=place[1])
    for kind in ("mousePressed", "mouseReleased") if click else ():
        tab.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)


if __name__ == "__main__":
    main()
