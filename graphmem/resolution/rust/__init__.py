"""Resolution rules for Rust."""
