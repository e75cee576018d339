"""Running sessions: their events, their log, their records."""
