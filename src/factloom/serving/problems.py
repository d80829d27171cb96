"""Errors as problem+json (RFC 9457): what is wrong, where, and how to mend it.

    {"type": "urn:factloom:error:unknown-name", "status": 404, "title": "no thing is called 'Adda'",
     "where": {}, "mend": "Similar names: \"Ada\".", "code": "unknown-name"}

Where the service's own files are is nobody's business: places name documents, uploaded files and
parts of the request alone.
"""

import dataclasses
import json
from collections.abc import Collection
from typing import Any

from starlette.responses import Response

from factloom.errors import FactloomError, ModelError, RequestError, printable

MEDIA_TYPE = "application/problem+json"
_URN = "urn:factloom:error:"

# The status of errors that are not simply about what was sent (422).
_STATUS = {
    "token-wrong": 401,
    "foreign-origin": 403,
    "no-such-address": 404,
    "no-store-served": 404,
    "unknown-document": 404,
    "unknown-name": 404,
    "unknown-fact": 404,
    "no-such-fact": 404,
    "no-such-relation": 404,
    "no-such-correction": 404,
    "nothing-to-undo": 404,
    "body-too-slow": 408,
    "id-taken": 409,
    "ambiguous-name": 409,
    "ambiguous-name-of-one-type": 409,
    "ambiguous-fact": 409,
    "already-one": 409,
    "store-without-documents": 409,
    "body-too-large": 413,
    "text-too-long": 413,
    "too-many-texts": 413,
    "record-too-long": 413,
    "upload-kind": 415,
    "unknown-host": 421,
    "service-busy": 429,
    "service-failed": 500,
    "store-not-written": 500,
    "store-damaged": 500,
    "store-unreadable": 500,
    "service-ending": 503,
    "store-in-use": 503,
    "out-of-time": 504,
}
_TEXTS = ("other-script", "foreign-text")  # of models, about what was sent
_UNFIT = 422


def status_of(error: FactloomError) -> int:
    """The status with which an error is told."""
    usual = 500 if isinstance(error, ModelError) and error.code not in _TEXTS else _UNFIT
    return _STATUS.get(error.code, usual)


def problem(error: FactloomError, own: Collection[str] = ()) -> dict[str, Any]:
    """An error as an object for JSON; `own` are paths of the service, which are not told."""
    found = error.flaw
    place = found.place
    if place.file in own:
        place = dataclasses.replace(place, file=None)
    where = {name: value for name, value in dataclasses.asdict(place).items() if value is not None}
    return {
        "type": f"{_URN}{found.code}",
        "status": status_of(error),
        "title": _without(found.what, own),
        "where": {key: printable(v) if isinstance(v, str) else v for key, v in where.items()},
        "mend": _without(found.fix, own),
        "code": found.code,
    }


def _without(text: str, own: Collection[str]) -> str:
    for path in own:
        text = text.replace(path, "...")
    return printable(text)


def problem_response(error: FactloomError, own: Collection[str] = (), **more: object) -> Response:
    """The answer that tells an error; `more` stands beside what is always told."""
    content = {**problem(error, own), **more}
    headers: dict[str, str] = {}
    if isinstance(error, RequestError) and content["status"] in (429, 503):
        headers["Retry-After"] = str(error.retry_after)
    if content["status"] == 401:
        headers["WWW-Authenticate"] = "Bearer"
    # In ASCII: what was sent may hold halves of characters, and comes back in places.
    return Response(json.dumps(content), content["status"], headers, MEDIA_TYPE)
