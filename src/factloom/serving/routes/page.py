"""/ and /page: the page of the service, for people."""

from fastapi import APIRouter, Request, Response

from factloom.errors import RequestError
from factloom.serving.page import ADDRESSES, CONTENT_POLICY, page_file

router = APIRouter(include_in_schema=False)


@router.get("/")
@router.get("/page/{name}")
async def page(request: Request) -> Response:
    """The page, or a file of it. Needs no token: there is nothing of anybody's in them."""
    address = request.scope["path"]
    if address not in ADDRESSES:
        raise RequestError("no-such-address", method=request.method)
    kind, content = page_file(address)
    return Response(
        content, headers={"Content-Type": kind, "Content-Security-Policy": CONTENT_POLICY}
    )
