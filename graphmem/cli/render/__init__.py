"""Print the answers of operations as text for people."""
