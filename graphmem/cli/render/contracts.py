"""Print contracts between programs, such as HTTP routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.answers.contracts import Contract, ContractsAnswer
from graphmem.cli.output import Output, plural
from graphmem.cli.render import common
from graphmem.cli.rendering import renders

if TYPE_CHECKING:
    from graphmem.answers.contracts import ContractPlace
    from graphmem.cli.output import Cell

USERS: Final = 20  # lines for the users of one contract


@renders(ContractsAnswer, bare=lambda found: [one.name for one in found.contracts])
def contracts(output: Output, found: ContractsAnswer) -> None:
    """Print contracts, such as HTTP routes, and the code that uses them.

    Code that offers a contract is printed first.
    """
    across = f" in {plural(len(found.projects) + 1, 'project')}" if found.projects else ""
    output.line((plural(found.count, "contract"), common.HEADING), (across, common.DIM))
    for one in found.contracts:
        contract(output, one)
    if more := common.cut(len(found.contracts), found.count, "--limit shows more"):
        output.line((more, common.DIM))
    for note in found.notes:
        output.line((note, common.UNSURE))


def contract(output: Output, one: Contract) -> None:
    """Print a contract, such as an HTTP route, and the code that uses it.

    Code that offers the contract is printed first.
    """
    output.line()
    change = (f"  {one.change}", common.BAD) if one.change else ""
    output.line((f"{one.kind} ", common.DIM), (one.name, common.NAME), change, (f"  used in {plural(len(one.asked), 'place')}", common.DIM))
    output.rows([("was offered" if one.change == "removed" else "offered", *_place(place)) for place in one.offered], 2)
    output.rows([("used", *_place(place), common.confidence(place.confidence)) for place in one.asked[:USERS]], 2)
    if more := common.cut(min(USERS, len(one.asked)), len(one.asked), "--json shows all"):
        output.line(("  " + more, common.DIM))


def _place(place: ContractPlace) -> tuple[Cell, ...]:
    path, style = common.place(place.path, place.line)
    return ((f"{place.project}: {path}" if place.project else path, style), place.name)
