"""The GraphQL door and its HTTP server: parse a request, call one verb, render the answer.

`app.build_app` makes the ASGI application, `serve.run` serves it; nothing here knows a database.
"""
