"""What agents do, seen: events to signals, signals to findings, findings of a session as one record."""
