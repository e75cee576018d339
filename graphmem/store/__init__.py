"""The graph database behind one narrow face; the only room that imports a driver."""
