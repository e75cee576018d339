"""Knowledge from Git's history: co-changes, authors, lessons."""
