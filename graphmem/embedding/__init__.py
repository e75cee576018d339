"""Convert texts to vectors, so that similar texts can be found."""
