"""Write answers as documents: HTML pages, SVG, diagrams, exports."""
