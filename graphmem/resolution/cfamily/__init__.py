"""Rules of C and C++."""
