"""Operations: what one can ask of an open project, each declared once. Every interface is derived from these declarations."""
