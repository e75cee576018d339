"""Resolution rules for languages that are described by a table.

One class, `rules.ScopedRules`, serves all these languages. Their differences are in `[resolution]` of `language.toml`, see
`grammars/README.md`.
"""
