"""A SPARQL endpoint in a thread of the test, over a database in memory, which fails on request."""

import io
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pyoxigraph
from pyoxigraph import QueryBoolean, QueryResultsFormat, QuerySolutions, RdfFormat

Fault = Callable[["Handler"], bool]  # whether it has dealt with the request


class Server(ThreadingHTTPServer):
    """`faults` deal with the requests to come, one each, and `watch` with all of them.

    What they leave is answered as usual.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.database = pyoxigraph.Store()
        self.all_graphs = False  # whether the default graph is all of them
        self.faults: list[Fault] = []
        self.watch: Fault | None = None
        self.targets: list[str] = []  # of all requests, paths and their queries
        self.logins: list[str | None] = []
        self.longest = 0  # bytes of an update

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def updates(self) -> int:
        """How many requests there have been to change something."""
        return sum(target.startswith("/update") for target in self.targets)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer goes out as a whole, else it waits for what was confirmed
    server: Server

    def do_POST(self) -> None:
        self.body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.targets.append(self.path)
        self.server.logins.append(self.headers.get("Authorization"))
        if self.headers["Content-Type"] == "application/sparql-update":
            self.server.longest = max(self.server.longest, len(self.body))
        fault = self.server.faults.pop(0) if self.server.faults else self.server.watch
        if fault is None or not fault(self):
            self.work()

    def work(self) -> None:
        """Answer, or change, as a server does."""
        try:
            if self.headers["Content-Type"] == "application/sparql-update":
                self.server.database.update(self.body.decode())
                self.tell(204)
            else:
                self.tell(200, *self.found())
        except SyntaxError as error:
            self.tell(400, str(error).encode(), "text/plain")

    def found(self) -> tuple[bytes, str]:
        options = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        everything = self.server.all_graphs or "union-default-graph" in options
        found = self.server.database.query(
            self.body.decode(), use_default_graph_as_union=everything
        )
        stream = io.BytesIO()
        if isinstance(found, QuerySolutions | QueryBoolean):
            found.serialize(stream, QueryResultsFormat.JSON)
            return stream.getvalue(), "application/sparql-results+json"
        found.serialize(stream, RdfFormat.N_TRIPLES)
        return stream.getvalue(), "application/n-triples"

    def tell(self, status: int, content: bytes = b"", kind: str = "", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        if kind:
            self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing."""


def telling(status: int, content: bytes = b"", kind: str = "", **headers: str) -> Fault:
    """A request is answered so, and nothing is done."""

    def fault(handler: Handler) -> bool:
        handler.tell(status, content, kind, **headers)
        return True

    return fault


def cut(handler: Handler) -> bool:
    """The connection breaks, and nothing is done."""
    handler.close_connection = True
    handler.connection.close()
    return True


def cut_after_work(handler: Handler) -> bool:
    """What is asked is done, and the connection breaks before the answer."""
    handler.server.database.update(handler.body.decode())
    return cut(handler)


def half(handler: Handler) -> bool:
    """The answer breaks off in its middle."""
    content, kind = handler.found()
    handler.send_response(200)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[: len(content) // 2])
    handler.wfile.flush()
    return cut(handler)


def half_but_whole_to_http(handler: Handler) -> bool:
    """The server thinks that it has said all."""
    content, kind = handler.found()
    handler.tell(200, content[: len(content) // 2], kind)
    return True


@contextmanager
def serving(context: ssl.SSLContext | None = None) -> Iterator[Server]:
    """An endpoint, as long as the context lasts."""
    with Server() as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
