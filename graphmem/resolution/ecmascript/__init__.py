"""Rules that resolve JavaScript and TypeScript names to definitions."""
