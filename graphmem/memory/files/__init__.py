"""People's files: MEMORY.md, rules, exports and imports."""
