"""Sessions of agents, and learning from them."""
