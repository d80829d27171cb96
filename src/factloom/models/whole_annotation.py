"""For models that cannot pass over words of which nothing is known."""

from collections.abc import Iterable

from factloom.document import Document
from factloom.errors import ModelError
from factloom.text.tags import UNKNOWN_TYPE


def require_whole_annotation(documents: Iterable[Document], kind: str) -> None:
    """Refuse documents that have such words."""
    if any(mention.type == UNKNOWN_TYPE for document in documents for mention in document.mentions):
        raise ModelError("partly-annotated", kind=kind)
