"""Find contracts between programs in code: routes, remote calls, topics.

A contract is an offer of one program that others use, such as an HTTP route. An end is a place in code that offers or uses a contract.
`ends.ends_of` finds the ends in the facts and the text of one file, with the table `grammars/contracts.toml`.
"""
