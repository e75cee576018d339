"""Choose context to show to an agent that did not request it.

Showing such context is called injection. Memories, rules and code are chosen, packed into a limited number of tokens, and formatted within
a deadline.
"""
