"""Opening the store at an endpoint, with an error that helps where that is not possible."""

from factloom.errors import InputError
from factloom.graph.changes import text_of
from factloom.graph.endpoint.address import read_addresses, read_login
from factloom.graph.endpoint.calling import Caller
from factloom.graph.endpoint.endpoint import Endpoint
from factloom.graph.opening import HAS_VERSION, STORE, check_known, version_quad
from factloom.graph.vocabulary import CATALOGUE


def open_endpoint(given: str, must_exist: bool) -> Endpoint:
    """The store at an address, to read and write; one is made unless it must be there."""
    endpoint = _endpoint(given)
    endpoint.mark = endpoint.read_mark()
    if endpoint.mark is None:
        if must_exist:
            raise InputError("endpoint-empty", endpoint.place)
        endpoint.make_store([version_quad()])
        endpoint.mark = endpoint.read_mark()
        if endpoint.mark is None:
            raise InputError("endpoint-unchanged", endpoint.addresses.update.place)
    _check_version(endpoint)
    endpoint.remove_left_over()
    return endpoint


def read_endpoint(given: str) -> Endpoint:
    """The store at an address, to be read."""
    endpoint = _endpoint(given)
    _check_version(endpoint)
    return endpoint


def _endpoint(given: str) -> Endpoint:
    return Endpoint(read_addresses(given), Caller(read_login()))


def _check_version(endpoint: Endpoint) -> None:
    found = next(endpoint.quads_for_pattern(STORE, HAS_VERSION, None, CATALOGUE), None)
    if found is None:
        raise InputError("endpoint-empty", endpoint.place)
    check_known(text_of(found.object), endpoint.place)
