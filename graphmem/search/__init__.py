"""The read path: candidates, fusion, explanation."""
