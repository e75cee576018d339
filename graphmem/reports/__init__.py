"""Answers written as documents: HTML, SVG, diagrams, exports."""
