"""Choose context to show to an agent that did not request it.

This is called injection. Memories, rules and code are chosen, packed into a limited number of tokens, and formatted within a deadline.
"""
