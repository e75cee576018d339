"""Print the architecture: modules, cycles, flows, hot spots, dead code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.answers.findings import CentralPage, DeadCodePage, DuplicatePage, EntryPointPage, FlowPage, HotspotPage
from graphmem.answers.history import Knowledge, KnownPart
from graphmem.answers.modules import CycleCut, CyclesAnswer, ModuleBoundary, ModuleDependency, ModuleDetail, ModuleMap
from graphmem.answers.semantic import CommitPage, Drift
from graphmem.cli.output import Output, plural
from graphmem.cli.render import (
    common,
    contracts,  # noqa: F401 - it renders an answer of this family
    reasons,  # noqa: F401 - it renders an answer of this family
)
from graphmem.cli.render.common import BAD, DIM, HEADING, NAME, PATH, UNSURE
from graphmem.cli.rendering import renders
from graphmem.model import TEST_KINDS

if TYPE_CHECKING:
    from graphmem.answers import PathStep
    from graphmem.cli.output import Cell

DEPENDENCIES = 12
SITES = 3
MEMBERS = 12


def modules(output: Output, found: ModuleMap) -> None:
    """Print modules, top layer first, then dependencies on higher layers."""
    output.line((plural(len(found.modules), "module"), HEADING), (f", modularity {found.modularity:.2f}", DIM))
    rows = [
        (
            (f"{one.layer}", DIM),
            (one.name, NAME),
            plural(one.files, "file"),
            f"{one.lines:,} lines",
            _heat(one.heat),
            (one.summary, DIM),
        )
        for one in sorted(found.modules, key=lambda one: (-one.layer, one.name))
    ]
    output.line()
    output.line(("layer, name, size, heat", DIM))
    output.rows(rows, right=(0, 2, 3))
    upward = sorted((one for one in found.dependencies if one.upward), key=lambda one: (one.weight, one.src_name, one.dst_name))
    output.line()
    if not upward:
        count = len(found.dependencies)
        downward = f"no dependency leads to a higher layer (of {plural(count, 'dependency', 'dependencies')})"
        output.line(downward if count else "the modules do not depend on each other")
    else:
        output.line(
            (
                f"{len(upward):,} of {plural(len(found.dependencies), 'dependency', 'dependencies')} lead to a higher layer; "
                "fewest edges first",
                HEADING,
            )
        )
        output.rows([_dependency(one) for one in upward[:DEPENDENCIES]])
        _cut(output, DEPENDENCIES, len(upward), "--json has all")
    _end(output, found.notes)
    output.line(common.state_line(found.state))


def module(output: Output, found: ModuleDetail) -> None:
    """Print a module with its files and neighbouring modules."""
    one = found.module
    output.line((one.name, HEADING), f"  layer {one.layer}, {plural(one.files, 'file')}, {one.lines:,} lines, cohesion {one.cohesion:.2f}")
    if one.summary:
        output.line((one.summary, DIM))
    if one.paragraph:
        output.line(one.paragraph)
    if one.central:
        output.line("leans on " + ", ".join(symbol.qualname for symbol in one.central))
    for title, rows in (("depends on", found.dependencies), ("is used by", found.dependents)):
        output.line()
        output.line((f"{title}", HEADING), ("" if rows else "  nothing", DIM))
        output.rows([_dependency(row) for row in rows[:DEPENDENCIES]])
        _cut(output, DEPENDENCIES, len(rows), "--json has all")
    output.line()
    output.line(("files", HEADING))
    output.rows(
        [((file.path, PATH), f"{file.lines:,} lines", _heat(file.heat), ("test" if file.is_test else "", DIM)) for file in found.files]
    )


@renders(ModuleBoundary, bare=lambda found: [one.symbol.ref for one in found.surface])
def boundary(output: Output, found: ModuleBoundary) -> None:
    """Print a module's interface, dependencies and cycles, and its best split."""
    output.line((f"{found.module}: ", HEADING), f"other modules use {plural(found.total, 'symbol')} of it")
    output.rows(
        [
            (
                common.name(one.symbol),
                common.place(one.symbol.path, one.symbol.start_line),
                plural(one.edges, "edge"),
                ("from " + _some(one.modules), DIM),
            )
            for one in found.surface
        ]
    )
    _cut(output, len(found.surface), found.total, "raise --limit")
    for title, rows in (("is used by", found.incoming), ("depends on", found.outgoing)):
        output.line()
        output.line((title, HEADING), ("" if rows else "  nothing", DIM))
        output.rows([_dependency(row) for row in rows[:DEPENDENCIES]])
        _cut(output, DEPENDENCIES, len(rows), "--json has all")
    for cycle in found.cycles:
        output.line()
        output.line(("in a cycle  ", BAD), " → ".join([*cycle.example, cycle.example[0]]))
        output.line(("  cut first  ", common.GOOD), *_cut_words(cycle.cheapest))
    output.line()
    if not found.smaller:
        output.line(("no split is proposed: the module is too small or too large", DIM))
    else:
        _split(output, found)
    output.line(common.state_line(found.state))


def _split(output: Output, found: ModuleBoundary) -> None:
    """Print whether a module can be split well, the parts, and shared uses."""
    title, style = ("split in two", HEADING) if found.splits_well else ("no good place to split", BAD)
    all_uses = found.crossing + found.inside
    output.line((title, style), f"  {found.crossing:,} of {plural(all_uses, 'use')} of the smaller part cross the best division")
    for part in (found.larger, found.smaller):
        output.line("  ", (plural(len(part), "file"), NAME), (f"  {_some(part, MEMBERS)}", DIM))
    output.rows(
        [
            (
                common.name(one.symbol),
                common.place(one.symbol.path, one.symbol.start_line),
                plural(one.uses, "use"),
                (f"from {_some(one.files)}", DIM),
            )
            for one in found.crossing_symbols[:DEPENDENCIES]
        ]
    )
    _cut(output, DEPENDENCIES, len(found.crossing_symbols), "--json has more")


@renders(Knowledge, bare=lambda found: [one.name for one in found.parts])
def people(output: Output, found: Knowledge) -> None:
    """Print modules or files with the people who know them."""
    if found.whole is not None:
        output.line((found.whole.name, HEADING), f"  {_shares(found.whole)}", (f"  bus factor {found.whole.bus_factor}", DIM))
    if found.parts:
        output.line(("bus factor, commits, shares of the commits (older ones weigh less)", DIM))
    output.rows(
        [
            (
                (f"{one.bus_factor}", BAD if one.bus_factor == 1 else DIM),
                (one.name, NAME),
                plural(one.commits, "commit"),
                _shares(one) or ("nobody is known", DIM),
                (f"and {len(one.people) - SITES} more" if len(one.people) > SITES else "", DIM),
            )
            for one in found.parts
        ],
        right=(0, 2),
    )
    _cut(output, len(found.parts), found.total, "raise --limit")
    _end(output, found.notes)


def _shares(one: KnownPart) -> str:
    return ", ".join(f"{person.name} {person.share:.0%}" for person in one.people[:SITES])


@renders(CommitPage, bare=lambda found: [one.sha for one in found.commits])
def commits(output: Output, found: CommitPage) -> None:
    """Print commits, newest first."""
    output.rows(
        [
            (
                (one.sha[:10], DIM),
                one.at[:10],
                one.author,
                (one.subject, NAME),
                plural(one.files, "file"),
                (_some(one.modules), PATH),
            )
            for one in found.commits
        ]
    )
    _end(output, found.notes)


@renders(
    CyclesAnswer,
    bare=lambda found: [" ".join(one.members) for one in found.cycles],
    refused=lambda found: bool(found.total),
    fail="Exit with code 1 when there is a dependency cycle.",
)
def cycles(output: Output, found: CyclesAnswer) -> None:
    """Print each dependency cycle with an example, and the best edges to cut."""
    if not found.total:
        output.line((f"no cycle between {found.level}", common.GOOD))
        return
    output.line((plural(found.total, "cycle"), HEADING), f" between {found.level}")
    for one in found.cycles:
        output.line()
        late = "  (loads, because every path around it has an import inside a function)" if one.deferred else ""
        output.line((plural(len(one.members), "member"), NAME), (late, DIM))
        output.line("  " + " → ".join([*one.example, one.example[0]]))
        output.line(("  cut first  ", common.GOOD), *_cut_words(one.cheapest))
        for site in one.cheapest.sites[:SITES]:
            output.line("    ", *_site(site))
        for cut in one.cuts[:SITES]:
            if (cut.src, cut.dst) != (one.cheapest.src, one.cheapest.dst):
                output.line(("  and        ", DIM), *_cut_words(cut))
        if one.cut_count > 1:
            output.line((f"  {one.cut_count:,} cuts leave no cycle among them", DIM))
    _cut(output, len(found.cycles), found.total, "raise --limit")


@renders(EntryPointPage, bare=lambda found: [one.symbol.ref for one in found.entry_points])
def entry_points(output: Output, found: EntryPointPage) -> None:
    """Print entry points, ordered by kind."""
    others = {kind: count for kind, count in found.by_kind.items() if kind not in TEST_KINDS}
    plain = found.total == sum(others.values())
    counts = ", ".join(f"{count:,} {kind}" for kind, count in (others if plain else found.by_kind).items())
    output.line((plural(found.total, "entry point"), HEADING), (f"   ({counts or 'none was recognised'})", DIM))
    output.rows(
        [
            (
                (one.kind, DIM),
                common.name(one.symbol),
                common.place(one.symbol.path, one.symbol.start_line),
                (one.module, DIM),
                f"reaches {one.reach:,}",
                (", ".join(dict.fromkeys(name.name for name in one.names)), DIM),
            )
            for one in found.entry_points
        ]
    )
    _cut(output, len(found.entry_points), found.total, "raise --limit, or narrow by --kind")
    left = [(kind, found.by_kind.get(kind, 0)) for kind in TEST_KINDS]
    if plain and any(count for _, count in left):
        _end(output, [f"{' and '.join(plural(count, kind) for kind, count in left if count)} left out; --kind lists them"])


@renders(FlowPage, bare=lambda found: [one.name for one in found.flows])
def flows(output: Output, found: FlowPage) -> None:
    """Print each flow: an entry point and the calls that follow from it."""
    output.line((plural(found.total, "flow"), HEADING))
    for one in found.flows:
        output.line()
        output.line((one.name, NAME), f"  {one.kind}  ", common.confidence(one.confidence))
        output.line(("  through " + ", ".join(one.modules), DIM))
        if one.paragraph:
            output.line("  " + one.paragraph)
        output.rows(
            [(f"{at}", (step.dst.qualname, NAME), common.place(step.src.path, step.line)) for at, step in enumerate(one.steps, 1)], indent=4
        )
        if one.variant_count:
            output.line((f"    {plural(one.variant_count, 'other entry point')} the same way", DIM))
    output.line()
    _cut(output, len(found.flows), found.total, "raise --limit")


@renders(HotspotPage, bare=lambda found: [one.symbol.ref for one in found.hotspots])
def hotspots(output: Output, found: HotspotPage) -> None:
    """Print files or symbols that are complex and change often, hottest first."""
    output.line(
        (plural(found.total, "hot spot"), HEADING), (f", {found.level}; score, churn, complexity, direct dependents (tests included)", DIM)
    )
    output.rows(
        [
            (
                _heat(one.score / 100),
                f"{one.churn:.1f}" if found.churn_known else ("–", DIM),
                f"{one.complexity:,}",
                f"{one.dependents:,}",
                (one.symbol.path, PATH) if found.level == "files" else common.name(one.symbol),
                ("", DIM) if found.level == "files" else common.place(one.symbol.path, one.symbol.start_line),
            )
            for one in found.hotspots
        ],
        right=(1, 2, 3),
    )
    _cut(output, len(found.hotspots), found.total, "raise --limit")
    _end(output, found.notes)


@renders(CentralPage, bare=lambda found: [one.symbol.ref for one in found.symbols])
def central(output: Output, found: CentralPage) -> None:
    """Print the symbols of the project, most central first."""
    output.line(("rank (1 is average), dependents", DIM))
    output.rows(
        [
            (
                f"{one.rank:,.1f}",
                f"{one.dependents:,}",
                common.name(one.symbol),
                (common.kind(one.symbol), DIM),
                common.place(one.symbol.path, one.symbol.start_line),
            )
            for one in found.symbols
        ],
        right=(0, 1),
    )


@renders(
    DeadCodePage,
    bare=lambda found: [one.symbol.ref for one in found.symbols],
    refused=lambda found: bool(found.total),
    fail="Exit with code 1 when dead code is found.",
)
def dead_code(output: Output, found: DeadCodePage) -> None:
    """Print dead code, most certain first."""
    output.line((plural(found.total, "definition"), HEADING), f" without a known use, {found.lines:,} lines")
    output.rows(
        [
            (
                common.confidence(one.confidence),
                common.name(one.symbol),
                (one.reason.replace("_", " "), UNSURE),
                common.place(one.symbol.path, one.symbol.start_line),
                ("; ".join(one.why), DIM),
            )
            for one in found.symbols
        ]
    )
    _cut(output, len(found.symbols), found.total, "raise --limit")
    _end(output, found.notes)


@renders(DuplicatePage, bare=lambda found: [f"{one.path}:{one.start_line}" for group in found.groups for one in group.places])
def duplicates(output: Output, found: DuplicatePage) -> None:
    """Print each group of duplicates with its places."""
    output.line((plural(found.total, "duplicate"), HEADING), f", {found.lines:,} lines could be removed")
    for group in found.groups:
        output.line()
        alike = "" if group.kind != "near" else f" {group.similarity:.2f}"
        output.line((f"{plural(group.lines, 'line')} to save", NAME), (f"  {group.kind}{alike}", DIM))
        output.rows([(common.place(one.path, one.start_line), f"to {one.end_line}", (one.qualname, DIM)) for one in group.places[:MEMBERS]])
        _cut(output, MEMBERS, len(group.places), "--json has all")
    output.line()
    _cut(output, len(found.groups), found.total, "raise --limit")


def drift(output: Output, found: Drift) -> None:
    """Print how the architecture changed between two revisions."""
    output.line((f"{found.base[:12]} → {found.head[:12] if ' ' not in found.head else found.head}", HEADING))
    output.line(f"modularity {found.modularity_before:.2f} → {found.modularity_after:.2f}")
    output.line()
    output.line(("modules", HEADING), ("" if found.modules else "  as they were", DIM))
    output.rows(
        [((one.change, DIM), (one.name, NAME), f"{one.files_before:,} → {plural(one.files_after, 'file')}") for one in found.modules]
    )
    output.line()
    output.line(("dependencies", HEADING), ("" if found.dependencies else "  as they were", DIM))
    rows = found.dependencies[: 2 * DEPENDENCIES]
    output.rows([((one.change, DIM), f"{one.src} → {one.dst}", f"{one.before:,} → {one.after:,}") for one in rows])
    _cut(output, len(rows), len(found.dependencies), "--json has all")
    for title, list_, style in (("new cycles", found.new_cycles, BAD), ("resolved cycles", found.resolved_cycles, common.GOOD)):
        output.line()
        output.line((f"{title}", HEADING), ("" if list_ else "  none", DIM))
        for one in list_:
            output.line(("  " + " → ".join([*one.example, one.example[0]]), style))
    counts = ", ".join(f"{count:,} {change}" for change, count in found.api_counts.items())
    output.line()
    output.line(("definitions that others use", HEADING), f"  {counts or 'unchanged'}")
    output.rows(
        [
            (
                (one.change, DIM if one.change == "added" else UNSURE),
                ("public" if one.public else "", DIM),
                common.name(one.symbol),
                common.place(one.symbol.path, one.symbol.start_line),
                (one.before, DIM),
            )
            for one in found.api[: 2 * DEPENDENCIES]
        ]
    )
    _cut(output, 2 * DEPENDENCIES, len(found.api), "--json has all")
    _end(output, found.notes)


def _dependency(one: ModuleDependency) -> tuple[Cell, ...]:
    site = one.sites[0] if one.sites else None
    where = common.place(site.src.path, site.line) if site is not None else ("", DIM)
    return (f"{one.src_name} → {one.dst_name}", plural(one.weight, "edge"), where, ("leads to a higher layer" if one.upward else "", BAD))


def _cut_words(cut: CycleCut) -> tuple[Cell, ...]:
    frees = f", takes {plural(cut.frees, 'member')} out of the cycle" if cut.frees else ""
    return (f"{cut.src} → {cut.dst}", (f"  {plural(cut.weight, 'edge')}{frees}", DIM))


def _site(step: PathStep) -> tuple[Cell, ...]:
    return (common.place(step.src.path, step.line), (f"  {common.verb(step.kind)} ", DIM), step.dst.qualname or step.dst.path)


def _some(names: list[str], most: int = SITES) -> str:
    """Join the first `most` names with commas; add the number of the others."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _heat(value: float) -> tuple[str, str]:
    return f"{value:.2f}", BAD if value >= 0.85 else UNSURE if value >= 0.6 else DIM


def _cut(output: Output, shown: int, total: int, how: str) -> None:
    if total > shown:
        output.line((common.cut(shown, total, how), DIM))


def _end(output: Output, notes: list[str]) -> None:
    for note in notes:
        output.line((note, DIM))
