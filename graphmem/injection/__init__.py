"""What is put in front of an agent: chosen, packed to a budget, written in its format, by a deadline."""
