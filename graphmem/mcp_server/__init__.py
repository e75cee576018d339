"""The door for coding agents: the Model Context Protocol over stdio, and over HTTP in the server's own application."""
