"""Resolution rules for JavaScript and TypeScript."""
