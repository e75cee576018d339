"""One operation is found without loading the declarations of all."""

from __future__ import annotations

import subprocess
import sys

from graphmem.operations.finding import COMMANDS_IN, DECLARED_IN, find, find_command
from graphmem.operations.registry import DECLARED, registry

ALWAYS = ("declare", "finding", "marks")  # these declare no operation


def test_every_declared_operation_is_found_by_name() -> None:
    assert sorted(f"graphmem.operations.{module}.{name}" for module, name in DECLARED_IN) == sorted(
        f"{one.__module__}.{one.__name__}" for one in DECLARED
    )
    for name, operation in registry().items():
        found = find(name)
        assert found is not None
        assert found.function is operation.function


def test_what_is_not_declared_is_not_found() -> None:
    assert find("close") is None


def test_a_client_that_asks_for_impact_loads_no_other_declarations() -> None:
    asked = "import sys, graphmem.client.remote as r; r.find('impact'); print(*(m for m in sys.modules if 'graphmem.operations.' in m))"
    loaded = subprocess.run([sys.executable, "-P", "-c", asked], capture_output=True, text=True, check=True, timeout=60).stdout.split()
    assert sorted(loaded) == [f"graphmem.operations.{name}" for name in ("code", *ALWAYS)]


def test_every_derived_command_is_found_by_name() -> None:
    for name, operation in registry().items():
        if command := operation.hints.command:
            found = find_command(command)
            assert found is not None
            assert found.name == name
    assert find_command("impct") is None


def test_a_derived_command_loads_no_other_declarations() -> None:
    for module, names in COMMANDS_IN.items():
        asked = (
            f"import sys, graphmem.operations.finding as f\nfor name in {names.split()!r}: assert f.find(f.find_command(name).name)\n"
            "print(*(m for m in sys.modules if 'graphmem.operations.' in m))"
        )
        loaded = subprocess.run([sys.executable, "-P", "-c", asked], capture_output=True, text=True, check=True, timeout=60).stdout.split()
        assert sorted(loaded) == sorted(f"graphmem.operations.{name}" for name in (module, *ALWAYS))
