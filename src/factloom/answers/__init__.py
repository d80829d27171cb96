"""Answers to questions in plain words, from the graph and from the text, with what proves them."""

from factloom.answers.answer import Answer
from factloom.answers.asking import Ask, load

__all__ = ["Answer", "Ask", "load"]
