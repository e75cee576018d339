"""Convert parsed facts to graph edges, each with the rule that found it."""
