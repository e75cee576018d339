"""Load the classes of the Language Server Protocol in less time.

`lsprotocol.types` defines 554 classes with attrs. Most of the time goes into methods that the language server never calls: comparing and
printing messages. Without them the import takes half the time, which is most of the start of `graphmem lsp`.

lsprotocol has no option for this, so `attrs.define` is replaced while its module is imported, in this process and for its classes alone. A
version that defines its classes otherwise still works, with a slower start; `tests/lsp/test_loading.py` fails then.
"""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_TYPES: Final = "lsprotocol.types"
_NEVER_CALLED: Final = {"repr": False, "eq": False, "order": False, "slots": False}


def load_protocol() -> None:
    """Import the protocol's classes without comparison and printing.

    Classes that define such a method themselves, such as positions, keep it. This process must not compare other messages. Code that was
    imported earlier is not changed.
    """
    with _plain_classes():
        importlib.import_module(_TYPES)


@contextmanager
def _plain_classes() -> Iterator[None]:
    attrs: Any = importlib.import_module("attrs")
    define = attrs.define

    def plain(cls: Any = None, **options: Any) -> Any:
        is_of_protocol = isinstance(cls, type) and cls.__module__ == _TYPES  # other threads import other classes meanwhile
        return define(cls, **(options | _NEVER_CALLED if is_of_protocol else options))

    attrs.define = plain
    try:
        yield
    finally:
        attrs.define = define
