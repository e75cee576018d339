"""Projects that a server receives by pushes, and their branches."""
