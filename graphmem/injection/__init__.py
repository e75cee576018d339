"""Choose what an agent is shown without asking: its injected context.

Memories, rules and code are chosen, packed into a number of tokens and formatted within a deadline.
"""
