"""Impact, paths, symbol references and diffs over the graph projection."""
