"""Parts of chunks that belong to one symbol, and facts about them."""
