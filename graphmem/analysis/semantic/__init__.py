"""The semantic layer: modules, layers, cycles, flows, hot spots, dead code and duplicates, all derived from the graph view."""
