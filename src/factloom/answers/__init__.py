"""Answers to questions in plain words, from the graph and from the text, with what proves them."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from factloom.answers.answer import Answer
    from factloom.answers.asking import Ask, load

__all__ = ["Answer", "Ask", "load"]


def __getattr__(name: str) -> Any:
    """What needs the graph only when it is asked for: the models of this room do without."""
    if name == "Answer":
        from factloom.answers.answer import Answer

        return Answer
    if name in ("Ask", "load"):
        from factloom.answers import asking

        return getattr(asking, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
