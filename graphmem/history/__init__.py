"""What git's history teaches: files that change together, who knows them, lessons of commits."""
