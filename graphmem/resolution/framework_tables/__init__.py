"""Tables that say how frameworks use functions and routes."""
