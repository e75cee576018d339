"""Convert the references of one file to edges."""
