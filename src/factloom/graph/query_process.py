"""The process that answers one query: it may be ended at any moment, and takes nobody with it.

Standard input has the request as JSON. Standard output gets a letter for the kind of the answer,
then the answer as it comes. Where that fails, the last line of standard error says why, as JSON.
Little is imported, so that it starts at once.
"""

import json
import signal
import sys
from typing import Any

from pyoxigraph import (
    QueryBoolean,
    QueryResultsFormat,
    QuerySolutions,
    QueryTriples,
    RdfFormat,
    Store,
    serialize,
)

from factloom.process_limits import bound

FAILED = 3  # the exit status with a reason


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # at once, also where no Python runs
    request = json.loads(sys.stdin.buffer.read())
    bound(request["seconds"], request["bytes"])
    try:
        disk = Store.read_only(request["directory"])
        answer = disk.query(
            request["sparql"],
            prefixes=request["prefixes"],
            use_default_graph_as_union=request["all_graphs"],
        )
        _send(answer, request)
    except BrokenPipeError:
        pass  # nobody listens any more
    except (SyntaxError, MemoryError, OSError, RuntimeError, ValueError) as error:
        _fail(error)


def _send(answer: QueryBoolean | QuerySolutions | QueryTriples, request: dict[str, Any]) -> None:
    stream = sys.stdout.buffer
    stream.write({QuerySolutions: b"s", QueryTriples: b"t", QueryBoolean: b"b"}[type(answer)])
    stream.flush()  # the one that asked may have to wait for the first row
    if isinstance(answer, QueryTriples):
        format = RdfFormat.from_extension(request["triples_as"])
        serialize(answer, stream, format, prefixes=request["prefixes"])
    elif isinstance(answer, QueryBoolean):
        answer.serialize(stream, QueryResultsFormat.JSON)
    else:
        answer.serialize(stream, QueryResultsFormat.from_extension(request["solutions_as"]))
    stream.flush()


def _fail(error: Exception) -> None:
    reason = {"kind": type(error).__name__, "detail": str(error)}
    sys.stderr.write("\n" + json.dumps(reason) + "\n")
    sys.stderr.flush()
    sys.exit(FAILED)


if __name__ == "__main__":
    main()
