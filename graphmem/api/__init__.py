"""The GraphQL interface and its HTTP server.

A request is parsed, calls one operation for each root field, and its answer is rendered. `app.build_app` makes the ASGI application and
`serve.run` serves it. This package does not import the database.
"""
