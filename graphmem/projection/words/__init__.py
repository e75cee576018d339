"""The word index: its tables, its readers and the scores of words."""
