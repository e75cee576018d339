"""Addresses of the explorer's views, and conditions under which each is drawn."""

from __future__ import annotations

PAINTED = "document.querySelector('.said')?.textContent.startsWith('Showing')"
VIEWS = {
    "home": ("/", f"{PAINTED} && document.querySelectorAll('.grid table').length > 1"),
    "graph": ("/explore/graph", PAINTED),
    "code": (
        "/explore/code?at=Graph.add_edge",
        "document.querySelector('.ln.in .mark') && document.querySelector('.around-small .node') && document.querySelector('.outline a')",
    ),
    "begin": ("/explore/code", "document.querySelectorAll('.card tbody tr').length > 5"),
    "compare": (
        "/explore/graph?around=Graph.add_edge&with=Graph.add_node",
        "document.querySelector('.node.both') && document.querySelector('.panel h2')",
    ),
    "file": ("/explore/graph?focus=classes%2Fgraph.py", "document.querySelectorAll('.panel details').length > 2"),
    "module": ("/explore/graph?focus=classes", "document.querySelectorAll('.panel table').length > 2"),
    "symbol": ("/explore/graph?focus=Graph.add_edge", "document.querySelector('.panel .signature')?.textContent.includes('add_edge')"),
    "around": (
        "/explore/graph?around=pagerank&depth=2",
        "document.querySelectorAll('.below tbody tr').length > 10 && document.querySelector('.panel h2')",
    ),
    "painted": (
        "/explore/graph?paint=impact&of=to_networkx_graph",
        "document.querySelector('.over strong') && document.querySelectorAll('.below > details:first-child tbody tr').length > 5",
    ),
    "together": ("/explore/graph?paint=together&of=classes%2Fgraph.py", "document.querySelector('.over strong')"),
    "hot": ("/explore/graph?heat=churn", "document.querySelector('.over')?.textContent.includes('no history')"),
    "impact": ("/explore/impact?of=to_networkx_graph", "document.querySelectorAll('.zone').length === 3"),
    "path": ("/explore/path?from=chain_decomposition&to=Graph.nodes", "document.querySelectorAll('.stop').length > 1"),
    "diff": ("/explore/diff", "document.querySelector('textarea')"),
    "coaccess": ("/explore/coaccess?files=classes%2Fgraph.py", "document.querySelector('h1') && !document.querySelector('.loading')"),
    "memories": ("/explore/memories", "document.querySelectorAll('.memory').length >= 5"),
    "news": (
        "/explore/news?days=30",
        "document.querySelectorAll('.dispute').length >= 5 && document.querySelectorAll('.listing a').length > 5",
    ),
    "onboarding": ("/explore/onboarding", "document.querySelectorAll('.sides .listing > li').length > 5"),
    "review": ("/explore/review", "document.querySelectorAll('.item').length >= 5"),
    "teach": ("/explore/teach", "document.querySelector('textarea')"),
    "health": ("/explore/health", "document.querySelector('.score') && document.querySelector('table')"),
    "sessions": ("/explore/sessions", "document.querySelector('h1') && !document.querySelector('.loading')"),
    "questions": ("/explore/questions", "document.querySelectorAll('.grid .card').length === 8"),
    "tangled": ("/explore/tangled", "document.querySelectorAll('main table tbody tr').length > 3"),
    "matrix": ("/explore/matrix", "document.querySelectorAll('.matrix td a').length > 20"),
    "ask": ("/explore/ask?q=adjacency+dict", "document.querySelectorAll('.evidence > li').length > 1"),
    "why": ("/explore/ask?q=why+is+adjacency+a+dict+of+dicts", "document.querySelector('.reasons li')"),
    "answered": ("/explore/ask?q=which+tests+cover+Graph.add_edge", "document.querySelector('main .card .answer')"),
    "misspelt": ("/explore/impact?of=Graph.add_edgs", "document.querySelector('main').textContent.includes('Did you mean')"),
    "nowhere": ("/explore/impact?of=zzqq", "document.querySelector('main').textContent.includes('Nothing has this name')"),
    "unknown": ("/explore/memories?text=zzqq", "document.querySelector('main ul.memories, main .lead')"),
    "unasked": ("/explore/ask", "document.querySelector('main input')"),
    "people": ("/explore/people?of=classes", "document.querySelector('main h1')"),
}


CHOOSE = "(() => { const one = document.querySelector('%s'); one.value = '%s'; one.dispatchEvent(new Event('change')); })()"
