"""Values of type inference: symbols, terms, types, operators."""
