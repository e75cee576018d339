"""Server of the Model Context Protocol for coding agents.

It works over stdio and HTTP.
"""
