"""Extraction: the turns of one snapshot become typed items."""
