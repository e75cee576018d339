"""What every room may use of the process and the machine: limits, files, names, texts that are safe to print."""
