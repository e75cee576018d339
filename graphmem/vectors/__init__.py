"""Make vectors of texts in the background, and switch embedding models."""
