"""From the references of one file to its edges."""
