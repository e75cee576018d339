"""What outside tools saw of the code, as edges: type-checking indexers, running tests, measured coverage."""
