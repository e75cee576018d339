"""Acts of a session, and the bounded counts of them."""
