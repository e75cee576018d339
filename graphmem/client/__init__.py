"""Client of a running server; opens the index in process when none runs."""
