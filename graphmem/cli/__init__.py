"""The command line: parse arguments, call an operation, print its answer."""
