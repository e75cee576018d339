"""The Model Context Protocol for coding agents, over stdio and HTTP."""
