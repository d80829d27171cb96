"""What was found in a document, for a terminal: entities and relations with their evidence."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from factloom.document import Document, Relation
from factloom.explanations import explanations

HEAD, TAIL, RELATION, TITLE, QUIET = "bold cyan", "bold green", "yellow", "bold", "dim"

# Piped output is not broken into lines: it is the same whatever the size of a window.
_UNBROKEN = 1_000_000
_GAP = "  "
_NARROWEST = 8
_COLUMNS = ("head", "relation", "tail", "score")


def make_console(file: TextIO | None = None) -> Console:
    """A console with colours and line breaks on a terminal, plain and unbroken elsewhere."""
    console = Console(file=file, highlight=False)
    if not console.is_terminal:
        console = Console(file=file, highlight=False, width=_UNBROKEN)
    return console


def show(documents: Iterable[Document], names: Mapping[str, str], console: Console) -> None:
    """Print every document as it comes; `names` are the relations in words."""
    for document in documents:
        name = _line(document.id) or "document"
        if console.is_terminal:
            console.print(Rule(Text(name, TITLE)))
        else:
            console.print(Text(f"== {name}"))
        for part in parts(document, names, console.width):
            console.print(part)
        console.print()


def parts(document: Document, names: Mapping[str, str], width: int) -> Iterator[RenderableType]:
    """The tables of a document, for a console of some width."""
    if document.entities:
        yield entity_table(document)
    elif document.mentions:
        yield mention_table(document)
    else:
        yield Text("no names found", QUIET)
        return
    if document.relations:
        yield from relation_rows(document, names, width)
    elif document.entities:
        yield Text("no relations found", QUIET)


def entity_table(document: Document) -> Table:
    """Name, type, number of mentions and other names of every entity, by its first mention."""
    table = _table("entity", "type", "mentions", "other names")
    table.columns[2].justify = "right"
    for index in _by_first_mention(document):
        entity, name = document.entities[index], _line(document.name(index))
        spellings = dict.fromkeys(_line(other) for other in document.names(index))
        others = ", ".join(other for other in spellings if other != name)
        table.add_row(Text(name), Text(entity.type), str(len(entity.mentions)), Text(others, QUIET))
    return table


def mention_table(document: Document) -> Table:
    """The names of a document whose mentions nobody has joined: each spelling and its count."""
    table = _table("name", "type", "mentions")
    table.columns[2].justify = "right"
    counts = Counter(
        (_line(document.mention_text(index)), mention.type)
        for index, mention in enumerate(document.mentions)
    )
    for (name, kind), count in counts.items():
        table.add_row(Text(name), Text(kind), str(count))
    return table


def _table(*columns: str) -> Table:
    return Table(
        *columns, box=None, header_style=TITLE, pad_edge=False, padding=(0, len(_GAP), 0, 0)
    )


# --- relations -----------------------------------------------------------------------------------


def relation_rows(
    document: Document, names: Mapping[str, str], width: int
) -> Iterator[RenderableType]:
    """A row a relation, as in a table, and below it its evidence and what it follows from."""
    order = {entity: place for place, entity in enumerate(_by_first_mention(document))}
    relations = sorted(document.relations, key=lambda r: (order[r.head], -_score(r)))
    rows = [_cells(document, relation, names) for relation in relations]
    widths = _widths([[Text(column) for column in _COLUMNS], *rows], width)
    yield Text()
    yield _row([Text(column, TITLE) for column in _COLUMNS], widths)
    for relation, row in zip(relations, rows, strict=True):
        yield _row(row, widths)
        for line in (*evidence(document, relation), *reasons(document, relation, names)):
            yield Padding(line, (0, 0, 0, 4), expand=False)


def _score(relation: Relation) -> float:
    return 1.0 if relation.score is None else relation.score


def _cells(document: Document, relation: Relation, names: Mapping[str, str]) -> list[Text]:
    score = "" if relation.score is None else f"{relation.score:.2f}"
    return [
        Text(_line(document.name(relation.head)), HEAD),
        Text(names.get(relation.type, relation.type), RELATION),
        Text(_line(document.name(relation.tail)), TAIL),
        Text(score),
    ]


def _widths(rows: Iterable[list[Text]], width: int) -> list[int]:
    """As wide as the widest cell; where the console is too narrow, wide columns give way."""
    columns = zip(*rows, strict=True)
    natural = [max(cell_len(cell.plain) for cell in column) for column in columns]
    room = width - len(_GAP) * len(natural)
    most = max(natural)
    while sum(min(most, column) for column in natural) > room and most > _NARROWEST:
        most -= 1
    return [min(most, column) for column in natural]


def _row(cells: Iterable[Text], widths: Iterable[int]) -> Table:
    # Rows are tables of their own, because no cell of a table can span its columns.
    row = Table.grid(padding=(0, len(_GAP), 0, 0))
    for width in widths:
        row.add_column(width=width)
    row.add_row(*cells)
    return row


def evidence(document: Document, relation: Relation) -> Iterator[Text]:
    """The sentences that prove the relation, with their number; head and tail are marked."""
    for index in relation.evidence:
        sentence = document.sentences[index]
        line = Text(_line(document.sentence_text(index)))
        for entity, style in ((relation.head, HEAD), (relation.tail, TAIL)):
            for mention in (document.mentions[m] for m in document.entities[entity].mentions):
                if sentence.start <= mention.start and mention.end <= sentence.end:
                    # the x keeps white space in front of the name from being stripped
                    start = len(_line(document.text[sentence.start : mention.start] + "x")) - 1
                    name = _line(document.text[mention.start : mention.end])
                    line.stylize(style, start, start + len(name))
        yield Text.assemble((f"[{index + 1}] ", QUIET), line)  # people count from 1


def reasons(document: Document, relation: Relation, names: Mapping[str, str]) -> Iterator[Text]:
    """The other relations that support it, where the model has reasoned."""
    for explanation in explanations(document, relation, names):
        yield Text(_line(explanation), QUIET)


def _by_first_mention(document: Document) -> list[int]:
    """The entities in the order in which a reader meets them."""

    def first(entity: int) -> int:
        return min(document.mentions[m].start for m in document.entities[entity].mentions)

    return sorted(range(len(document.entities)), key=first)


def _line(text: str) -> str:
    """The text on one line, without characters that would steer the terminal."""
    return re.sub(r"[\s\x00-\x1f\x7f-\x9f]+", " ", text).strip()
