"""The process and its system: limits, memory, processors, faults."""
