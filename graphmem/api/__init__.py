"""The GraphQL interface and its HTTP server.

A request is parsed and calls one operation (such as `impact`) for each root field; the answer is rendered as JSON. `app.build_app` makes
the ASGI application and `serve.run` serves it. This package does not import the database.
"""
