"""The rules of Rust."""
