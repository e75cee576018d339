"""Structure derived from the graph, pictures of it, and rules about it.

The structure has modules (groups of files) and flows (paths of calls from entry points).
"""
