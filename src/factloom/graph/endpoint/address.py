"""Where an endpoint is asked, where it takes updates, and what it wants to know of who calls.

    https://example.org/ds/query                              one address; the other follows from it
    "https://example.org/ask https://example.org/change"      both

Who calls is told by the environment alone, so that it stands in no list of processes and no shell's
history: FACTLOOM_STORE_LOGIN is "user:password" or a token, FACTLOOM_STORE_LOGIN_FILE a file of it.
"""

import os
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from factloom.errors import InputError, Place

LOGIN = "FACTLOOM_STORE_LOGIN"
LOGIN_FILE = "FACTLOOM_STORE_LOGIN_FILE"

_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_AS_PATH = re.compile(r"https?:[/\\]", re.IGNORECASE)  # a Path keeps one slash of two
_LOGIN_INSIDE = re.compile(r"https?:/+[^/?#]*@", re.IGNORECASE)
_PLAIN = re.compile(r"[\x21-\x7e]+")
_REPOSITORY = re.compile(r"/repositories/[^/]+$")  # of RDF4J and GraphDB


@dataclass(frozen=True, slots=True)
class Address:
    """One address of an endpoint."""

    secure: bool
    host: str
    port: int | None
    target: str  # path and query, as a request names them

    def __str__(self) -> str:
        """Without its query, in which a key may stand."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        path = self.target.partition("?")[0]
        return f"{'https' if self.secure else 'http'}://{host}{port}{path}"

    def with_option(self, option: str) -> "Address":
        """The address with a word more behind the question mark."""
        return replace(self, target=f"{self.target}{'&' if '?' in self.target else '?'}{option}")

    @property
    def place(self) -> Place:
        return Place(file=str(self))


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where an endpoint is asked, and where it takes updates."""

    query: Address
    update: Address


def is_address(place: str | Path) -> bool:
    """Whether a store is named by an address, and not by a directory."""
    return _ADDRESS.match(str(place)) is not None


def refuse_address(directory: Path) -> None:
    """An error where an address is given to what needs a directory."""
    if _AS_PATH.match(str(directory)):
        raise InputError("endpoint-without-files", Place(file=str(directory)))


def read_addresses(given: str) -> Addresses:
    """One address, or two with a space between them: queries, and updates."""
    found = given.split()
    if len(found) > 2:
        raise InputError("endpoint-addresses", count=len(found))
    query = _split(found[0])
    if len(found) == 2:
        return Addresses(_address(query), _address(_split(found[1])))
    query = query._replace(path=_query_path(query.path))
    return Addresses(_address(query), _address(query._replace(path=_update_path(query.path))))


def read_login(environment: Mapping[str, str] = os.environ) -> str | None:
    """The header that tells who calls; None if that is not told."""
    login, place = environment.get(LOGIN), Place(part=LOGIN)
    if login is None and LOGIN_FILE in environment:
        path = Path(environment[LOGIN_FILE])
        place = Place(file=str(path))
        try:
            login = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            detail = getattr(error, "strerror", None) or "it is not UTF-8"
            raise InputError("file-unreadable", place, detail=detail) from None
    if login is None:
        return None
    login = login.strip()
    if ":" in login:
        return f"Basic {b64encode(login.encode('utf-8', 'surrogateescape')).decode()}"
    if not _PLAIN.fullmatch(login):
        raise InputError("endpoint-login", place)  # which is not shown
    return f"Bearer {login}"


def _query_path(path: str) -> str:
    return "/query" if path in ("", "/") else path


def _update_path(path: str) -> str:
    if path.endswith("/query"):
        return path.removesuffix("query") + "update"
    return f"{path}/statements" if _REPOSITORY.search(path) else path


def _split(given: str) -> SplitResult:
    if _LOGIN_INSIDE.match(given):
        raise InputError("endpoint-login-in-address")  # which is not shown
    try:
        found = urlsplit(given)
        named = found.scheme in ("http", "https") and found.hostname and found.port != 0
    except ValueError:
        named = None
    if not named or found.fragment or not _PLAIN.fullmatch(given):
        raise InputError("endpoint-address", Place(file=given.partition("?")[0]))
    return found


def _address(found: SplitResult) -> Address:
    target = f"{found.path}?{found.query}" if found.query else found.path
    return Address(found.scheme == "https", found.hostname or "", found.port, target)
