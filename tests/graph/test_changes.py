"""Changes that are gathered and then written at once."""

import pyoxigraph
from pyoxigraph import Literal, NamedNode, Quad

from factloom.errors import Place
from factloom.graph.changes import Changes
from factloom.graph.disk import Disk

GRAPH, NODE, NAME = (NamedNode(f"urn:test:{part}") for part in ("graph", "node", "name"))
STORED, NEW = (Quad(NODE, NAME, Literal(value), GRAPH) for value in ("stored", "new"))


def test_what_is_added_removed_and_added_again_is_there() -> None:
    disk = Disk(pyoxigraph.Store(), Place())
    disk.write((), (), [STORED])
    changes = Changes(disk)
    for quad in (NEW, STORED):
        changes.remove([quad])
        changes.add(quad)
        changes.remove([quad])
        changes.add(quad)
    assert set(changes.match(NODE, NAME, None, GRAPH)) == {STORED, NEW}
    changes.write()
    assert set(disk) == {STORED, NEW}


def test_what_is_added_and_removed_is_not_there() -> None:
    disk = Disk(pyoxigraph.Store(), Place())
    disk.write((), (), [STORED])
    changes = Changes(disk)
    changes.add(NEW)
    changes.remove([NEW, STORED])
    assert list(changes.match(NODE, NAME, None, GRAPH)) == []
    changes.write()
    assert set(disk) == set()
