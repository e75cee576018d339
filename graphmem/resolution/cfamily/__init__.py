"""Resolution rules for C and C++."""
