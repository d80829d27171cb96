"""A client of the service: what it answers as typed objects, what it refuses as errors.

    client = Client("http://127.0.0.1:8765")
    for found in client.extract("Ada Lovelace was born in London.").documents:
        print(found.facts[0].head, found.facts[0].relation, found.facts[0].tail)

It needs nothing but factloom's core. Where the service is busy, a call comes again when it is told
to, as long as `patience` allows. One client may be used by several threads.
"""

import http.client
import json
import re
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from pydantic import TypeAdapter, ValidationError

from factloom.errors import FactloomError, Flaw, Place, RequestError
from factloom.serving import schemas

Told = TypeVar("Told", bound=schemas.Answered)
FactLike = str | tuple[str, str, str]  # an address, or head, relation and tail
Given = str | tuple[str, str]  # a text, or its id and the text

_BUSY = (429, 503)
_JSON = "application/json"


class ServiceError(FactloomError):
    """What the service refuses, in its own words: what is wrong, where, and how to mend it."""

    status: int = 0

    @classmethod
    def told(cls, problem: schemas.Problem) -> "ServiceError":
        known = {name: problem.where.get(name) for name in ("file", "line", "document", "part")}
        error = cls(Flaw(problem.code, Place(**known), problem.title, problem.mend))
        error.status = problem.status
        return error


class Client:
    """Calls a service at an address, with its token if it has one."""

    def __init__(
        self,
        address: str = "http://127.0.0.1:8765",
        *,
        token: str | None = None,
        timeout: float = 300.0,
        patience: float = 60.0,
    ) -> None:
        self.address = address
        self.timeout = timeout  # seconds of waiting for an answer
        self.patience = patience  # seconds of coming again
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    # --- texts -------------------------------------------------------------------------------

    def extract(self, texts: Given | Iterable[Given]) -> schemas.ReadTexts:
        """What is found in one text or in several; nothing is kept."""
        return self._tell("POST", "/v1/extract", {"documents": _texts(texts)}, schemas.ReadTexts)

    def add(self, texts: Given | Iterable[Given], *, replace: bool = False) -> schemas.StoredTexts:
        """Take texts into the store; they are there when this returns."""
        sent = {"documents": _texts(texts), "replace": replace}
        return self._tell("POST", "/v1/documents", sent, schemas.StoredTexts)

    def add_files(self, paths: Iterable[Path], *, replace: bool = False) -> schemas.StoredTexts:
        """Take files into the store."""
        body, kind = _form(paths, replace)
        answer = self._call("POST", "/v1/documents/files", body, kind)
        return _read(answer, schemas.StoredTexts)

    def document_ids(self, offset: int = 0, limit: int = 100) -> schemas.DocumentIds:
        paging = {"offset": offset, "limit": limit}
        return self._ask("/v1/documents", paging, schemas.DocumentIds)

    def document(self, id: str) -> dict[str, Any]:
        """A document as JSON; `factloom.Document.from_json` reads it."""
        found: dict[str, Any] = json.loads(self._call("GET", f"/v1/documents/{quote(id)}"))
        return found

    def delete(self, id: str) -> None:
        self._call("DELETE", f"/v1/documents/{quote(id)}")

    # --- graph -------------------------------------------------------------------------------

    def neighbours(self, name: str, **chosen: Any) -> schemas.Facts:
        """The facts about a thing: `type`, `relation`, `minimum_score`, `offset`, `limit`."""
        return self._ask("/v1/graph", {"name": name, **chosen}, schemas.Facts)

    def path(self, start: str, goal: str, **chosen: Any) -> schemas.Facts:
        """A shortest chain of facts between two things: `type`, `to_type`, `longest`."""
        return self._ask("/v1/graph", {"name": start, "to": goal, **chosen}, schemas.Facts)

    def things(self, part: str = "", **chosen: Any) -> schemas.Things:
        """The things with a name that has this part: `type`, `offset`, `limit`."""
        return self._ask("/v1/things", {"part": part, **chosen}, schemas.Things)

    # --- questions ---------------------------------------------------------------------------

    def query(self, sparql: str, limit: int | None = None) -> Any:
        """The answer to a SELECT or ASK query, as SPARQL 1.1 results in JSON have it."""
        sent = {"query": sparql, "limit": limit}
        return json.loads(self._call("POST", "/v1/query", json.dumps(sent).encode(), _JSON))

    def ask(self, question: str, top: int = 1) -> schemas.Answers:
        """The surest answers to a question in plain words."""
        return self._tell("POST", "/v1/ask", {"question": question, "top": top}, schemas.Answers)

    # --- corrections -------------------------------------------------------------------------

    def reject(self, fact: FactLike, *, by: str = "", why: str = "") -> schemas.Correction:
        return self._say(action="reject", fact=_fact(fact), by=by, why=why)

    def accept(self, fact: FactLike, *, by: str = "", why: str = "") -> schemas.Correction:
        return self._say(action="accept", fact=_fact(fact), by=by, why=why)

    def correct(
        self,
        fact: FactLike,
        *,
        head: str | None = None,
        relation: str | None = None,
        tail: str | None = None,
        by: str = "",
        why: str = "",
    ) -> schemas.Correction:
        right = {"head": head, "relation": relation, "tail": tail}
        return self._say(action="correct", fact=_fact(fact), **right, by=by, why=why)

    def merge(self, names: Sequence[str], *, by: str = "", why: str = "") -> schemas.Correction:
        things = [{"name": name} for name in names]
        return self._say(action="merge", things=things, by=by, why=why)

    def rename(self, name: str, new: str, *, by: str = "", why: str = "") -> schemas.Correction:
        return self._say(action="rename", thing={"name": name}, name=new, by=by, why=why)

    def retype(self, name: str, new: str, *, by: str = "", why: str = "") -> schemas.Correction:
        return self._say(action="retype", thing={"name": name}, type=new, by=by, why=why)

    def undo(self, number: int | None = None) -> schemas.Correction:
        """Take a correction back, the last that stands unless its number is given."""
        return self._tell("POST", "/v1/corrections/undo", {"number": number}, schemas.Correction)

    def corrections(self, *, everything: bool = False, **paging: int) -> schemas.Corrections:
        asked = {"everything": str(everything).lower(), **paging}
        return self._ask("/v1/corrections", asked, schemas.Corrections)

    def health(self) -> schemas.Health:
        return self._ask("/health", {}, schemas.Health)

    # --- inside ------------------------------------------------------------------------------

    def _say(self, **said: Any) -> schemas.Correction:
        return self._tell("POST", "/v1/corrections", said, schemas.Correction)

    def _ask(self, path: str, asked: Mapping[str, Any], kind: type[Told]) -> Told:
        query = urlencode({name: value for name, value in asked.items() if value is not None})
        return _read(self._call("GET", f"{path}?{query}" if query else path), kind)

    def _tell(self, method: str, path: str, sent: Mapping[str, Any], kind: type[Told]) -> Told:
        return _read(self._call(method, path, json.dumps(sent).encode(), _JSON), kind)

    def _call(
        self, method: str, path: str, body: bytes | None = None, kind: str | None = None
    ) -> bytes:
        """The body of the answer; where the service is busy, it is asked again."""
        until = time.monotonic() + self.patience
        headers = {**self._headers, **({} if kind is None else {"Content-Type": kind})}
        while True:
            status, content, wait = self._once(method, path, body, headers)
            if status < 400:
                return content
            if status not in _BUSY or time.monotonic() + wait > until:
                raise _error(status, content)
            time.sleep(wait)

    def _once(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes, float]:
        """Status, body, and the seconds after which to come again."""
        parts = urlsplit(self.address)
        secure = parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=self.timeout)
        try:
            connection.request(method, f"{parts.path.rstrip('/')}{path}", body, dict(headers))
            answer = connection.getresponse()
            wait = answer.getheader("Retry-After", "1")
            return answer.status, answer.read(), float(wait) if wait.isdecimal() else 1.0
        except (OSError, http.client.HTTPException) as error:
            place = Place(file=self.address)
            detail = str(error) or type(error).__name__
            raise RequestError("service-unreachable", place, detail=detail) from error
        finally:
            connection.close()


def _texts(given: Given | Iterable[Given]) -> list[dict[str, str]]:
    # One text with its id is a tuple; several texts come as anything else.
    several: list[Given] = [given] if isinstance(given, str | tuple) else list(given)
    pairs = [("", each) if isinstance(each, str) else each for each in several]
    return [{"text": text, **({"id": id} if id else {})} for id, text in pairs]


def _fact(given: FactLike) -> str | dict[str, str]:
    if isinstance(given, str):
        return given
    head, relation, tail = given
    return {"head": head, "relation": relation, "tail": tail}


def _form(paths: Iterable[Path], replace: bool) -> tuple[bytes, str]:
    """Files as a form that is sent, and its kind."""
    boundary = uuid.uuid4().hex
    parts = [
        b'--%s\r\nContent-Disposition: form-data; name="replace"\r\n\r\n%s\r\n'
        % (boundary.encode(), str(replace).lower().encode())
    ]
    for path in paths:
        name = re.sub(r'["\r\n]', "_", path.name)
        head = f'form-data; name="files"; filename="{name}"'
        start = f"--{boundary}\r\nContent-Disposition: {head}\r\n\r\n"
        parts.append(start.encode() + path.read_bytes() + b"\r\n")
    body = b"".join([*parts, f"--{boundary}--\r\n".encode()])
    return body, f"multipart/form-data; boundary={boundary}"


def _read(content: bytes, kind: type[Told]) -> Told:
    try:
        return TypeAdapter(kind).validate_json(content)
    except ValidationError:
        raise RequestError("not-the-service", status=200) from None


def _error(status: int, content: bytes) -> FactloomError:
    try:
        return ServiceError.told(schemas.Problem.model_validate_json(content))
    except ValidationError:
        return RequestError("not-the-service", status=status)
