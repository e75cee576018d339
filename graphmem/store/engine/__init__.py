"""The database engines, kuzu and ladybug, behind one interface."""
