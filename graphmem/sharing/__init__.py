"""Share memories between the machines of a team, through PostgreSQL."""
