"""Observe coding agents' sessions and find knowledge worth remembering.

An agent reports events, such as a tool call. They become acts (a call with its result), then findings (such as "an error was fixed by this
change"), and at the end of the session its record.
"""
