"""Choose, pack and format context for an agent within a deadline."""
