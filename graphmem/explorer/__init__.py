"""The explorer: layout of its pictures, and its static pages."""
