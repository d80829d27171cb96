"""Which model has found the facts of which document."""

from collections.abc import Mapping


class Models:
    """Names and versions of models: one for all documents, or one for each document's key.

    >>> models = Models({"a.txt": "one 1", "b.txt": "two 2"})
    >>> models.of("b.txt"), str(models)
    ('two 2', 'one 1, two 2')
    """

    def __init__(self, given: str | Mapping[str, str]) -> None:
        self._of_all, self._by_document = (given, {}) if isinstance(given, str) else ("", given)

    def of(self, document: str) -> str:
        """The model that has read a document; empty where that is not known."""
        return self._by_document.get(document, self._of_all)

    def __str__(self) -> str:
        return ", ".join(sorted({*self._by_document.values()})) or self._of_all
