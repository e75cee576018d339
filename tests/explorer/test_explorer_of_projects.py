"""The explorer of a server with many projects: it lists them, shows one, and goes to another."""

from __future__ import annotations

import pytest

from hosted import SHOP, SITE, hosted, indexed

pytestmark = pytest.mark.browser


def test_a_browser_chooses_a_project_and_changes_to_another(tmp_path, visit):
    with hosted(tmp_path / "srv") as server:
        for name, files in (("shop", SHOP), ("site", SITE)):
            with indexed(tmp_path / name, files) as own:
                own.push_index(server.project(name))
        visit(server.address + "/", "document.querySelectorAll('.view-projects a').length === 2")
        title = "document.querySelector('h1')?.textContent"
        visit(
            server.project("shop") + "/explore/",
            f"document.querySelector('#project select')?.options.length === 2 && {title}.includes('shop')",
        )
        visit(server.project("site") + "/explore/code?at=cart_of", "document.querySelector('.ln.in')")
