"""The process that serves an index: who owns it, how it starts, what it does when idle."""
