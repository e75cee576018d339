"""Ends of contracts: routes, remote calls, topics, schemas.

`ends.ends_of` finds them in the facts and the text of one file, with the table `grammars/contracts.toml`.
"""
