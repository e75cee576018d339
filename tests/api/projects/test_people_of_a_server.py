"""People of a server of many projects: invited by a command, known by their tokens, held to their roles, logged in by a provider."""

from __future__ import annotations

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from commands import environ, graphmem
from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import BadInputError, ForbiddenError, GraphMemError, UnauthenticatedError
from graphmem.runtime.process.system import account
from graphmem.security.openid import OpenId
from hosted import SHOP, SITE, hosted, indexed
from openid_provider import Provider

__all__ = ["environ", "graphmem"]


@pytest.fixture(scope="module")
def pushed(tmp_path_factory):
    """The folder of a server to which two projects were pushed, with the projects beside it. Tests copy it."""
    folder = tmp_path_factory.mktemp("pushed")
    with hosted(folder / "srv") as running:
        for name, files in (("shop", SHOP), ("site", SITE)):
            with indexed(folder / name, files) as own:
                own.push_index(running.project(name))
    return folder


@pytest.fixture
def server(pushed, tmp_path):
    shutil.copytree(pushed, tmp_path, dirs_exist_ok=True)
    with hosted(tmp_path / "srv") as running:
        yield running


def test_an_invited_person_logs_in_pushes_and_asks_and_the_audit_names_them(tmp_path, server, graphmem):
    folder = server.hosting.folder
    asked = {"GRAPHMEM_PROJECTS": str(folder)}
    code = graphmem("server", "invite", "ann", "--on", "shop", "--quiet", cwd=tmp_path, **asked).out.strip()
    root = tmp_path / "shop"
    ran = graphmem("push", server.project("shop"), cwd=root)
    assert ran.code == 1, "nobody enters without a token any more"
    assert "asks for a token; log in with an invitation, `graphmem login URL CODE`" in ran.said
    ran = graphmem("login", server.address, code, cwd=tmp_path)
    assert "you are ann" in ran.out, ran.said
    assert graphmem("login", server.address, code, cwd=tmp_path).code == 1, "an invitation is good once"
    (root / "new.py").write_text("def new():\n    pass\n")
    assert graphmem("index", cwd=root).code == 0
    assert graphmem("push", server.project("shop"), cwd=root).code == 0
    ran = graphmem("push", server.project("other"), cwd=root)
    assert (ran.code, "no project 'other' that you may use; `graphmem projects` lists yours" in ran.said) == (2, True), ran.said
    assert graphmem("projects", "--quiet", "--server", server.address, cwd=tmp_path).out.split() == ["shop"]
    assert graphmem("remember", "Prices are whole cents.", "--server", server.project("shop"), cwd=tmp_path).code == 0
    said = graphmem("server", "audit", "--login", "ann", cwd=tmp_path, **asked).out
    assert "ann: remember shop" in said
    assert re.search(r"ann: push shop +generation \d+", said), "a push is recorded, with the person"
    assert "ann: token created" in said
    assert f"operator {account()}: invited ann shop" in said, "the entry names who acted, and for whom"
    assert "write in shop" in graphmem("server", "people", cwd=tmp_path, **asked).out
    assert graphmem("server", "enable", "ann", "--off", cwd=tmp_path, **asked).code == 0
    assert "token" in graphmem("projects", "--server", server.address, cwd=tmp_path).said


def test_the_audit_does_not_say_that_a_failed_operation_was_done(server):
    remote = RemoteGraphMem(server.project("shop"), server.enter("ann"))
    with pytest.raises(BadInputError):
        remote.remember("Prices are cents.", type="nonsense")
    assert [(one.action, one.details) for one in server.people.audit("ann", limit=1)] == [("remember", "failed: BAD_INPUT")]
    remote.remember("Prices are cents.", type="decision")
    assert [(one.action, one.details) for one in server.people.audit("ann", limit=1)] == [("remember", "")]


def test_a_role_in_a_project_that_was_never_pushed_is_noted(tmp_path, server, graphmem):
    asked = {"GRAPHMEM_PROJECTS": str(server.hosting.folder)}
    said = graphmem("server", "invite", "ann", "--on", "shop", cwd=tmp_path, **asked).said
    assert "no project" not in said
    ran = graphmem("server", "role", "shpo", "write", "--login", "ann", cwd=tmp_path, **asked)
    assert (ran.code, ran.out) == (0, "ann: write in shpo\n"), "a role may come before the first push"
    assert "the server has no project shpo yet; it has shop, site" in ran.said
    assert "no project" in graphmem("server", "invite", "ben", "--on", "shpo", cwd=tmp_path, **asked).said
    assert "no project" not in graphmem("server", "role", "shpo", "none", "--login", "ann", cwd=tmp_path, **asked).said


def test_a_person_is_exported_and_erased_with_everything_of_theirs(tmp_path, graphmem):
    folder = tmp_path / "srv"
    asked = {"GRAPHMEM_PROJECTS": str(folder)}
    with hosted(folder) as server, indexed(tmp_path / "shop", SHOP) as own:
        own.push_index(server.project("shop"))
        ann, ben = (RemoteGraphMem(server.project("shop"), server.enter(login, team="core")) for login in ("ann", "ben"))
        said = ann.remember("Prices are zqfirstqz cents.", visibility="team").memory
        ann.update_memory(said.id, content="Prices are zqsecondqz cents.")
        ann.remember("Ann likes zqthirdqz tea.", visibility="personal")
        ben.remember("Carts of ben are zqfourthqz.")
        ran = graphmem("server", "export", "ann", cwd=tmp_path, **asked)
        assert (ran.code, "the server is running" in ran.said) == (2, True), ran.said
    lines = [json.loads(line) for line in graphmem("server", "export", "ann", cwd=tmp_path, **asked).out.splitlines()]
    assert {one["kind"] for one in lines} == {"person", "team", "role", "credential", "action", "memory"}
    texts = sorted(re.findall(r"zq\w+qz", " ".join(one["content"] for one in lines if one["kind"] == "memory")))
    assert texts == ["zqfirstqz", "zqsecondqz", "zqthirdqz"]
    assert "hash" not in json.dumps([one for one in lines if one["kind"] == "credential"])
    assert graphmem("server", "erase", "ann", "--confirm", "ben", cwd=tmp_path, **asked).code == 2
    ran = graphmem("server", "erase", "ann", "--confirm", "ann", cwd=tmp_path, **asked)
    assert "3 memories erased" in ran.out, ran.said
    left = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert [word for word in texts if word.encode() in left] == []
    assert b"zqfourthqz" in left
    said = graphmem("server", "audit", cwd=tmp_path, **asked).out
    assert ("erased a person" in said, "ann" in said) == (True, False)
    assert "unknown person" in graphmem("server", "export", "ann", cwd=tmp_path, **asked).said


def test_private_branches_of_an_erased_person_are_not_those_of_the_next_one_with_the_login(tmp_path, graphmem):
    folder = tmp_path / "srv"
    asked = {"GRAPHMEM_PROJECTS": str(folder)}
    with hosted(folder) as server:
        with indexed(tmp_path / "shop", SHOP) as own:
            own.push_index(server.project("shop"))
        ann = server.enter("ann")
        for name, private in (("draft", True), ("shown", False)):
            with indexed(tmp_path / name / "shop", SHOP | {f"shop/{name}.py": "def zqfifthqz():\n    return 1\n"}) as own:
                own.push_index(server.project("shop"), ann, name, private)
    lines = [json.loads(line) for line in graphmem("server", "export", "ann", cwd=tmp_path, **asked).out.splitlines()]
    assert {(one["name"], one["private"]) for one in lines if one["kind"] == "branch"} == {("draft", True), ("shown", False)}
    assert graphmem("server", "erase", "ann", "--confirm", "ann", cwd=tmp_path, **asked).code == 0
    with hosted(folder) as server:
        [shop] = RemoteGraphMem(server.address, server.enter("ann")).projects().projects
        assert [(one.name, one.pushed_by) for one in shop.branches] == [("shown", "")]


def test_a_short_id_never_means_a_memory_that_the_caller_does_not_see(server):
    ann, ben = (RemoteGraphMem(server.project("shop"), server.enter(login)) for login in ("ann", "ben"))
    hidden = ben.remember("Bob's personal zqbobqz about prices and cents.", visibility="personal").memory
    own = ann.remember("Alice counts carts number 6112 of the shop.", visibility="personal").memory  # its hash begins with the same digits
    assert own.short_id.startswith(hidden.short_id)
    assert ann.update_memory(hidden.short_id, visibility="project").id == own.id
    derived = ann.remember("Carts are counted by hand.", derived_from=[hidden.short_id]).memory
    assert [one.id for one in derived.relations] == [own.id]
    ann.note_use([hidden.short_id])
    assert ann.forget(hidden.short_id).ids == [own.id]
    kept = ben.memory(hidden.id)
    assert (kept.visibility, kept.status, kept.used_count) == ("personal", hidden.status, 0)


def test_a_memory_belongs_to_its_author_although_another_person_tried_to_store_one_with_its_id(server):
    ann, ben = (RemoteGraphMem(server.project("shop"), server.enter(login)) for login in ("ann", "ben"))
    with pytest.raises(BadInputError):
        ann.remember("", id="m0123456789", visibility="personal")
    assert ben.remember("Ben likes zqteaqz.", id="m0123456789", visibility="personal").memory.id == "m0123456789"
    assert [one.content for one in ben.memories().memories] == ["Ben likes zqteaqz."]
    assert ann.memories().memories == []


def test_of_two_people_who_choose_one_id_at_once_the_author_of_the_stored_memory_owns_it(server):
    people = {login: RemoteGraphMem(server.project("shop"), server.enter(login)) for login in ("ann", "ben")}

    def remember(login: str, number: int) -> None:
        with suppress(GraphMemError):  # the id is taken
            people[login].remember(f"A secret of {login}, number {number}.", id=f"m{number:010}", visibility="personal")

    with ThreadPoolExecutor(2) as pool:
        for number in range(40):
            list(pool.map(remember, people, [number, number]))
    for login, person in people.items():
        assert all(f"of {login}," in one.content for one in person.memories(limit=100).memories)
    assert sum(len(person.memories(limit=100).memories) for person in people.values()) == 40


def test_a_role_decides_what_a_person_may_do(tmp_path, server):
    tokens = {level: server.enter(level, level=level) for level in ("read", "write", "curate", "admin")}
    ask = {level: RemoteGraphMem(server.project("shop"), token) for level, token in tokens.items()}
    assert all(one.impact(["rounded"]).total == 2 for one in ask.values())
    with pytest.raises(ForbiddenError, match="remember"):
        ask["read"].remember("Prices are euros.")
    kept = ask["write"].remember("Prices are whole cents.").memory
    assert ask["write"].update_memory(kept.id, importance=0.9).importance == 0.9, "an author changes their own memory"
    theirs = ask["curate"].remember("Carts are never shared between people.").memory
    with pytest.raises(ForbiddenError, match="role curate"):
        ask["write"].forget(theirs.id)
    ask["curate"].forget(kept.id)
    for one in ask.values():
        for closed in ("export_memories", "audit", "sync_memories"):
            with pytest.raises(ForbiddenError):
                getattr(one, closed)()
    with indexed(tmp_path / "shop", SHOP | {"shop/more.py": "MORE = 1\n"}) as own:
        with pytest.raises(ForbiddenError, match="push"):
            own.push_index(server.project("shop"), tokens["read"])
        assert own.push_index(server.project("shop"), tokens["write"]).sent == 1
        with pytest.raises(GraphMemError, match="no project 'site' that you may use"):
            own.push_index(server.project("site"), tokens["write"])
        with pytest.raises(UnauthenticatedError):
            own.push_index(server.project("shop"))
    with pytest.raises(ForbiddenError):
        ask["curate"].compact()
    ask["admin"].compact()


def test_people_see_no_words_of_others_in_sessions_and_write_no_backup(server):
    ann, ben, chief = (RemoteGraphMem(server.project("shop"), server.enter(*who)) for who in (*ANN_BEN_CEM[:2], ("chief", "shop", "admin")))
    ann.start_session("s1", title="Replace the vendor", work_unit="unit-42")
    (seen,) = ben.sessions().sessions
    assert (seen.id, seen.title, seen.work_unit, seen.branch) == ("s1", "", "", "")
    with pytest.raises(ForbiddenError, match="backup needs access to all memories"):
        chief.backup()


def test_a_page_that_was_open_before_there_were_people_is_asked_for_a_token(server):
    asked = {"json": {"query": "{ state { files } }"}, "trust_env": False}
    address = server.project("site") + "/graphql"
    named = {"Graphmem-Index": httpx.post(address, **asked).headers["Graphmem-Index"]}
    server.enter("ann")
    assert httpx.post(address, headers=named, **asked).status_code == 401


def test_somebody_without_a_role_cannot_tell_whether_a_project_exists(server):
    token = server.enter("ann")
    asked = {"json": {"query": "{ state { files } }"}, "headers": {"Authorization": f"Bearer {token}"}, "trust_env": False}
    answers = {name: httpx.post(f"{server.address}/p/{name}/graphql", **asked) for name in ("site", "none")}
    assert {one.status_code for one in answers.values()} == {404}
    assert answers["site"].text.replace("site", "none") == answers["none"].text
    with pytest.raises(BadInputError, match="unknown project 'site'; the projects are shop"):
        RemoteGraphMem(server.address, token).search_projects("cart", projects=["site"])
    found = RemoteGraphMem(server.address, token).impact_projects("rounded", in_project="shop")
    assert (found.projects, found.reached) == (["shop"], [])
    assert {one.project for one in RemoteGraphMem(server.address, token).search_projects("cart").hits} == {"shop"}


def test_a_memory_is_seen_by_its_author_its_team_or_the_project(server):
    ann, ben, cem = (RemoteGraphMem(server.project("shop"), server.enter(*who)) for who in ANN_BEN_CEM)
    for level in ("personal", "team", "project", "organization"):
        ann.remember(f"Prices of the {level} kind are rounded late.", visibility=level)
    seen = {name: {one.visibility for one in who.memories().memories} for name, who in (("ann", ann), ("ben", ben), ("cem", cem))}
    assert seen == {
        "ann": {"personal", "team", "project", "organization"},
        "ben": {"team", "project", "organization"},
        "cem": {"project", "organization"},
    }
    assert not [hit for hit in cem.search("prices rounded late personal").hits if hit.memory and hit.memory.visibility == "personal"]


ANN_BEN_CEM = (("ann", "shop", "write", "core"), ("ben", "shop", "write", "core"), ("cem", "shop", "write"))


def test_texts_of_two_people_never_meet_unseen(server):
    ann, _, cem = (RemoteGraphMem(server.project("shop"), server.enter(*who)) for who in ANN_BEN_CEM)
    first = ann.remember("Totals are rounded once, at the end.", visibility="personal")
    second = cem.remember("Totals are rounded once, at the end.", visibility="personal")
    assert (first.result.outcome, second.result.outcome) == ("added", "added")
    assert [one.content for one in cem.memories().memories] == [second.memory.content]
    assert ann.memory(first.memory.id).strength == first.memory.strength
    with pytest.raises(GraphMemError):
        cem.memory(first.memory.id)
    with pytest.raises(GraphMemError):
        cem.update_memory(first.memory.id, visibility="project")
    with pytest.raises(ForbiddenError):
        cem.remember("Mine.", id=first.memory.id)
    shared = ann.remember("The shop closes on Sundays.").memory
    with pytest.raises(ForbiddenError, match=r"who sees memories of others; ask the author of the memory$"):
        cem.update_memory(shared.id, visibility="personal")
    with pytest.raises(ForbiddenError, match="team"):
        cem.remember("For a team that is none.", visibility="team")


def test_the_news_name_who_said_what_and_a_curator_decides_a_dispute(server):
    ann, ben, cem = (RemoteGraphMem(server.project("shop"), server.enter(*who)) for who in ANN_BEN_CEM)
    dee = RemoteGraphMem(server.project("shop"), server.enter("dee", level="curate"))
    plain = ann.remember("`rounded` always returns whole cents.", source="user_taught").memory
    never = cem.remember("`rounded` never returns whole cents.", source="user_taught").memory
    ann.remember("The site moves in May.", source="user_taught", visibility="team")
    wrong = ben.remember("Carts expire after a day.", source="user_taught").memory
    dee.dispute(wrong.id, "they expire after a week")
    found = cem.team_news()
    assert {(one.content, one.person) for one in found.learnt} == {(plain.content, "ann"), (never.content, "cem"), (wrong.content, "ben")}
    assert {one.person: (one.memories, one.files, one.teams, one.level) for one in found.knows} == {
        "ann": (1, ["shop/price.py"], ["core"], "write"),
        "ben": (1, [], ["core"], "write"),
        "cem": (1, ["shop/price.py"], [], "write"),
        "dee": (0, [], [], "curate"),
    }
    assert {one.field: [(side.value, side.person) for side in one.sides] for one in found.disagreements} == {
        "text": [(plain.content, "ann"), (never.content, "cem")],
        "disputed": [(wrong.content, "ben"), ("they expire after a week", "dee")],
    }
    assert "The site moves in May" in {one.title for one in ben.team_news().learnt}, "their team's memory"

    with pytest.raises(ForbiddenError, match="role curate"):
        cem.resolve_conflict(never.id, plain.id)
    with pytest.raises(ForbiddenError, match="pass the id of the wrong memory"):
        dee.resolve_conflict(plain.id)
    dee.resolve_conflict(plain.id, never.id, note="asked the accountants")
    dee.verify(wrong.id)
    assert cem.team_news().disagreements == []


def test_a_curator_does_not_decide_about_a_memory_that_they_do_not_see(server):
    ann, dee = (RemoteGraphMem(server.project("shop"), server.enter(*who)) for who in (("ann",), ("dee", "shop", "curate")))
    plain = ann.remember("`rounded` always returns whole cents.", source="user_taught").memory
    hidden = ann.remember("Totals are rounded late.", source="user_taught", visibility="personal").memory
    for winner, loser in ((plain.id, hidden.id), (hidden.id, plain.id)):
        with pytest.raises(GraphMemError, match="unknown memory"):
            dee.resolve_conflict(winner, loser)


def test_leaving_a_team_ends_its_sight_at_the_next_request(server):
    ann, ben, _ = (RemoteGraphMem(server.project("shop"), server.enter(*who)) for who in ANN_BEN_CEM)
    ann.remember("The site moves in May.", visibility="team")
    assert len(ben.memories().memories) == 1
    server.people.join("core", "ben", leave=True)
    assert ben.memories().memories == []
    server.people.role("shop", "none", login="ben")
    with pytest.raises(GraphMemError):
        ben.memories()


def test_tokens_of_a_person_expire_and_are_revoked(server):
    server.enter("ann")
    token = server.people.token("ann", "ci", days=1)
    assert RemoteGraphMem(server.project("shop"), token).memories().memories == []
    assert server.people.holder(token).login == "ann"
    assert server.people.holder(token, datetime.now(UTC) + timedelta(days=2)) is None
    server.people.revoke("ann", "ci")
    with pytest.raises(GraphMemError):
        RemoteGraphMem(server.project("shop"), token).memories()
    stored = (server.hosting.folder / "people.sqlite").read_bytes()
    assert token.encode() not in stored
    assert (server.hosting.folder / "people.sqlite").stat().st_mode & 0o077 == 0


@pytest.fixture
def provider():
    made = Provider()
    yield made
    made.http.shutdown()
    made.http.server_close()


@pytest.fixture
def known(tmp_path, provider):
    with hosted(tmp_path / "srv", openid=OpenId(provider.issuer, "graphmem", "s3cret")) as running:
        running.hosting.make("shop", "")
        running.people.invite("ann", email="ann@example.com", project="shop")
        yield running


def _cookies(response):
    return dict(re.findall(r"(__Host-graphmem(?:-login)?)=([^;]*)", "\n".join(response.headers.get_list("set-cookie"))))


def _logged_in(server, provider):
    begun = httpx.get(f"{server.address}/login", trust_env=False)
    assert begun.status_code == 303
    state = _cookies(begun)["__Host-graphmem-login"]
    back = provider.consent(begun.headers["location"])
    return httpx.get(
        back,
        headers={
            "cookie": f"__Host-graphmem-login={state}",
            "sec-fetch-site": "cross-site",
            "sec-fetch-mode": "navigate",
            "sec-fetch-dest": "document",
        },
        trust_env=False,
    )


CROSSED = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
WRONG = (
    {"aud": "another"},
    {"iss": "https://evil.example"},
    {"exp": 1},
    {"nonce": "old"},
    {"email": "eve@example.com"},
    {"email_verified": False},
)
QUESTION = {"query": "{ memories(first: 1) { totalCount } }"}


def test_a_browser_logs_in_with_the_provider_and_its_session_ends(known, provider):
    response = _logged_in(known, provider)
    assert (response.status_code, response.headers["location"]) == (303, "/")
    [line] = [one for one in response.headers.get_list("set-cookie") if one.startswith("__Host-graphmem=")]
    assert {"secure", "httponly", "samesite=lax", "path=/"} <= {one.strip().lower() for one in line.split(";")}
    cookie = {"cookie": f"__Host-graphmem={_cookies(response)['__Host-graphmem']}"}
    ask = lambda **more: httpx.post(known.project("shop") + "/graphql", json=QUESTION, headers={**cookie, **more}, trust_env=False)  # noqa: E731
    assert ask().json() == {"data": {"memories": {"totalCount": 0}}}
    for other in ("theme/dark=1", 'tour={"step": 2}'):  # of another program at this host; http.cookies understands neither
        assert ask(cookie=f"{other}; {cookie['cookie']}").json() == {"data": {"memories": {"totalCount": 0}}}
    assert ask(origin="https://evil.example").status_code == 403, "a page of another site cannot use the session"
    assert httpx.post(f"{known.address}/logout", headers=cookie, trust_env=False).status_code == 204
    assert ask().status_code == 401
    assert known.people.audit("ann", limit=1)[0].action == "logged in"


@pytest.mark.parametrize("wrong", WRONG)
def test_a_login_of_a_stranger_or_with_a_wrong_answer_is_refused(known, provider, wrong):
    provider.wrong = wrong
    response = _logged_in(known, provider)
    assert response.status_code == 403
    assert "__Host-graphmem" not in _cookies(response)


def test_a_login_signed_by_another_key_or_begun_elsewhere_is_refused(known, provider):
    provider.signing = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    assert _logged_in(known, provider).status_code == 403
    begun = httpx.get(f"{known.address}/login", trust_env=False)
    back = provider.consent(begun.headers["location"])
    assert httpx.get(back, trust_env=False).status_code == 403, "another browser has no state"


def test_the_subject_of_the_first_login_is_bound_to_the_person(known, provider):
    assert _logged_in(known, provider).status_code == 303
    provider.person = {"sub": "8", "email": "ann@example.com", "email_verified": True}
    assert _logged_in(known, provider).status_code == 403, "somebody else took over the address"
    provider.person = {"sub": "7", "email": "ann@new.example", "email_verified": True}
    assert _logged_in(known, provider).status_code == 303, "the person keeps access with a new address"


def test_a_login_that_began_at_one_server_ends_at_another_one(provider, tmp_path):
    def server():
        return hosted(tmp_path / "srv", openid=OpenId(provider.issuer, "graphmem", "s3cret"), site="https://graphs.example.com")

    with server() as first, server() as second:
        first.hosting.make("shop", "")
        first.people.invite("ann", email="ann@example.com", project="shop")
        begun = httpx.get(f"{first.address}/login", trust_env=False)
        back = provider.consent(begun.headers["location"]).replace("https://graphs.example.com", second.address)
        cookie = {"cookie": f"__Host-graphmem-login={_cookies(begun)['__Host-graphmem-login']}"}
        response = httpx.get(back, headers={**CROSSED, **cookie}, trust_env=False)
        assert response.status_code == 303, response.text
        session = {"cookie": f"__Host-graphmem={_cookies(response)['__Host-graphmem']}"}
        for one in (first, second):
            found = httpx.post(
                f"{one.address}/graphql", json={"query": "{ projects { projects { name } } }"}, headers=session, trust_env=False
            )
            assert found.json() == {"data": {"projects": {"projects": [{"name": "shop"}]}}}


@pytest.mark.parametrize("cookie", ["", "a.b.c", "a.b.c.d", "a.b.c.1", "a.b.c.²", "a.b.c.9999999999999999"])
def test_a_login_with_an_invalid_or_old_cookie_is_refused(known, cookie):
    headers = {"cookie": f"__Host-graphmem-login={cookie}".encode()}
    assert httpx.get(f"{known.address}/login/callback?state=a&code=c1", headers=headers, trust_env=False).status_code == 403
