"""The same memories on several machines, through a database of the team."""
