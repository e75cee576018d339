"""The explorer of a server with many projects: it lists them, shows one, and goes to another."""

from __future__ import annotations

import pytest

from graphmem.client.remote import RemoteGraphMem
from hosted import SHOP, SITE, hosted, indexed

pytestmark = pytest.mark.browser


def test_a_browser_chooses_a_project_and_changes_to_another(tab, tmp_path, visit):
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

        tab.open("about:blank")  # an open page would be asked for a token
        ann, ben = (RemoteGraphMem(server.project("shop"), server.enter(who)) for who in ("ann", "ben"))
        right = ann.remember("`rounded` always returns whole cents.", source="user_taught").memory
        ben.remember("`rounded` never returns whole cents.", source="user_taught")
        token = server.enter("cem", level="curate")
        visit(f"{server.project('shop')}/explore/news#token={token}", "document.querySelectorAll('.dispute .side').length === 2")
        said = "[...document.querySelectorAll('.dispute .author, main td:first-child')].map((one) => one.textContent)"
        assert tab.value(said)[:2] == ["ann", "ben"], "both sides, and who says them"
        assert {"ann", "ben", "cem"} <= set(tab.value(said)[2:])
        tab.value("document.querySelector('.dispute button').click()")
        decided = "document.querySelector('main [role=status]')?.textContent.includes('no open dispute')"
        tab.until(f"{decided} && !document.querySelector('.loading')")
        assert [one.content for one in ben.memories().memories] == [right.content]
        tab.open("about:blank")  # before the server ends
