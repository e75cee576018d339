"""Texts: lines, references, packed names, safe and private parts."""
