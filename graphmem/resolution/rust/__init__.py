"""Rules that resolve names and calls in Rust code to definitions."""
