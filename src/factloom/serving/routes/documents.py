"""/v1/documents: texts and files into the store, and out of it."""

from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Query, Response, UploadFile

from factloom.document import Document
from factloom.errors import FactloomError, InputError, Place, RequestError
from factloom.graph.store import Store
from factloom.pipeline import Pipeline
from factloom.serving.problems import problem
from factloom.serving.reading import checked, with_sentences
from factloom.serving.schemas import DocumentIds, NewTexts, Problem, Stored, StoredTexts
from factloom.serving.service import NEEDS_STORE, Served, Service
from factloom.serving.uploads import Upload, file_name, texts_of

router = APIRouter(tags=["documents"], dependencies=[NEEDS_STORE])


@router.post("/v1/documents")
async def add_texts(texts: NewTexts, service: Served) -> StoredTexts:
    """Take texts into the store, each as a whole. What is answered is on disk.

    A text that is there already, read by the same model, is not read again.
    """
    documents = checked(texts.all(), service.settings)
    return await _add(documents, [], service, replace=texts.replace)


@router.post("/v1/documents/files")
async def add_files(
    files: Annotated[list[UploadFile], File(description="Texts, Markdown, HTML, PDF, JSONL.")],
    service: Served,
    replace: Annotated[bool, Form()] = False,
) -> StoredTexts:
    """Take files into the store: a text is called as its file, those of a JSONL file by ids."""
    settings = service.settings
    if len(files) > settings.documents:
        raise RequestError("too-many-texts", count=len(files), limit=settings.documents)
    uploads = [
        Upload(file_name(file.filename, number), await file.read())
        for number, file in enumerate(files)
    ]
    async with service.uploads.turn():
        found = await texts_of(uploads, settings)
    return await _add(found.documents, found.problems, service, replace=replace)


@router.get("/v1/documents")
async def list_documents(
    service: Served,
    offset: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, lt=2**31)] = 100,
) -> DocumentIds:
    """The ids of the documents in the store."""
    most = min(limit, service.settings.page)

    def ids(store: Store) -> list[str]:
        return list(islice(store.document_ids(), offset, offset + most + 1))

    found = await service.store.read(ids)
    following = offset + most if len(found) > most else None
    return DocumentIds(ids=tuple(found[:most]), next=following)


@router.get("/v1/documents/{id:path}")
async def get_document(id: str, service: Served) -> dict[str, Any]:
    """A document as it was taken in, as JSON (docs/formats.md)."""
    document = await service.store.read(lambda store: store.document(id))
    return document.to_json()


@router.delete("/v1/documents/{id:path}", status_code=204)
async def delete_document(id: str, service: Served) -> Response:
    """Remove a document, its facts, and its part in merges."""
    await service.store.write(lambda store: store.delete(id))
    return Response(status_code=204)


# --- into the store ------------------------------------------------------------------------------


async def _add(
    documents: Sequence[Document],
    problems: Sequence[FactloomError],
    service: Service,
    *,
    replace: bool,
) -> StoredTexts:
    """Those that are new are read, and written one by one."""
    pipeline, errors = service.pipeline, list(problems)
    stored: list[Stored] = []
    new: list[Document] = []
    looks = await service.store.read(partial(_look, documents, pipeline, replace))
    for document, look in zip(documents, looks, strict=True):
        if isinstance(look, FactloomError):
            errors.append(look)
        elif look is not None:
            stored.append(look)
        else:
            new.append(document)
    for outcome in await service.batcher.read(new):
        if isinstance(outcome, FactloomError):
            errors.append(outcome)
            continue
        try:
            stored.append(await service.store.write(partial(_put, outcome, pipeline, replace)))
            service.metrics.count("documents_stored")
        except InputError as error:
            errors.append(error)
    if errors and not stored:
        raise errors[0]
    told = tuple(Problem(**problem(error, service.own_paths)) for error in errors)
    return StoredTexts(documents=tuple(stored), problems=told)


def _look(
    documents: Sequence[Document], pipeline: Pipeline, replace: bool, store: Store
) -> list[Stored | FactloomError | None]:
    """What is known before a document is read: it is there, it may not come, or nothing."""
    found: list[Stored | FactloomError | None] = []
    for document in documents:
        given = pipeline.given(with_sentences(document))
        if store.has_read(given, model=pipeline.version):
            there = store.document(document.id)
            counts = {"entities": len(there.entities), "facts": len(there.relations)}
            found.append(Stored(id=document.id, status="unchanged", **counts))
        else:
            found.append(_taken(document, store, replace))
    return found


def _taken(document: Document, store: Store, replace: bool) -> RequestError | None:
    """The error that another text has the id, if that is not to be replaced."""
    try:
        other = store.document(document.id)
    except InputError:  # there is none
        return None
    if replace or other.text == document.text:  # the latter by another model
        return None
    return RequestError("id-taken", Place(document=document.id))


def _put(document: Document, pipeline: Pipeline, replace: bool, store: Store) -> Stored:
    """Write a document; somebody else may have taken its id meanwhile."""
    error = _taken(document, store, replace)
    if error is not None:
        raise error
    names, version = pipeline.relation_names, pipeline.version
    report = store.ingest([document], relation_names=names, model=version)
    status = "added" if report.added else "replaced" if report.replaced else "unchanged"
    counts = {"entities": len(document.entities), "facts": len(document.relations)}
    return Stored(id=document.id, status=status, **counts)
