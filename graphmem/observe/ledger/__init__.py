"""The ledger: statistics across sessions."""
