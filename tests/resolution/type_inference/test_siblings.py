"""Members that a mixin uses and the classes beside it define."""

from __future__ import annotations

from graphmem.parsing.extract import extract
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.resolver import Resolver
from graphmem.resolution.type_inference.ancestors import Ancestors
from graphmem.resolution.type_inference.classes import Classes
from graphmem.resolution.values.types import EMPTY, INST

MIXIN = "class Mixin:\n    def go(self): return self.name\nclass Other:\n    name = 1\nclass Both(Mixin, Other): ...\n"


def test_a_sibling_whose_bases_are_still_inferred_is_not_looked_up_without_end(monkeypatch):
    """While the bases of a class depend on the member, the answer so far is that no class has it."""
    resolver = Resolver("p")
    resolver.update({"a.py": extract("a.py", MIXIN.encode(), "python", "")}, ())
    classes, entry = Classes(resolver._inference, Ancestors(resolver._inference)), resolver._project.files["a.py"]
    mixin, other = (symbol for symbol in entry.symbols if symbol.name in ("Mixin", "Other"))
    assert classes.attribute_of((INST, mixin, False), "name") != EMPTY
    monkeypatch.setattr(Ancestors, "owner", lambda *_, **__: None)
    monkeypatch.setattr(type(rules_of(entry)), "sibling_owners", lambda *_: [other])
    assert classes.attribute_of((INST, mixin, False), "name") == EMPTY
