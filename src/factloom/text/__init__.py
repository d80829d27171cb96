"""Sentences and tokens of plain text."""
