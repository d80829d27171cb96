"""Answers from texts and from the graph: passages, their index, and what is found in them."""
