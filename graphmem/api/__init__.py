"""The GraphQL interface and its HTTP server.

A request is a GraphQL document. For each field at its top, such as `impact`, one operation of graphmem is called. The answers are returned
as JSON. `app.build_app` makes the ASGI application and `serve.run` serves it. This package does not import the database.
"""
