"""Structure derived from the graph: modules, flows, pictures, rules."""
