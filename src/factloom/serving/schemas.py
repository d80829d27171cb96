"""What goes over the wire: requests are checked by it, and the client reads answers by it."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from factloom.document import Document as FoundDocument

Name = Annotated[str, Field(min_length=1, max_length=1000)]
Reason = Annotated[str, Field(max_length=2000)]
Id = Annotated[str, Field(min_length=1, max_length=500, pattern=r"\S")]


class Message(BaseModel):
    """Anything that goes over the wire."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Answered(BaseModel):
    """An answer; a client passes over what it does not know, such as a later service may tell."""

    model_config = ConfigDict(frozen=True, extra="ignore")


# --- problems ------------------------------------------------------------------------------------


class Problem(Answered):
    """An error: what is wrong, where, and how to mend it (RFC 9457)."""

    type: str
    status: int
    title: str
    where: dict[str, Any] = {}
    mend: str
    code: str


# --- texts ---------------------------------------------------------------------------------------


class Text(Message):
    """A text to be read."""

    text: str = Field(min_length=1)
    id: Id | None = Field(None, description="By which it is known; else its content names it.")


class Texts(Message):
    """One text, or several."""

    text: str | None = Field(None, min_length=1)
    documents: tuple[Text, ...] | None = Field(None, min_length=1)

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"text": "Ada Lovelace was born in London."},
                {"documents": [{"id": "ada", "text": "Ada Lovelace was born in London."}]},
            ]
        }
    )

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.text is None) == (self.documents is None):
            raise ValueError("give either text or documents")
        return self

    def all(self) -> tuple[Text, ...]:
        return self.documents or (Text(text=self.text or ""),)


class FactInWords(Answered):
    """A relation of a document in words."""

    head: str
    relation: str
    tail: str
    score: float | None
    evidence: tuple[str, ...]


class ReadText(Answered):
    """What was found in a text: a Document as JSON, and its relations in words."""

    id: str
    document: dict[str, Any] = Field(description="As docs/formats.md describes it (jsonl).")
    facts: tuple[FactInWords, ...]

    def as_document(self) -> FoundDocument:
        return FoundDocument.from_json(self.document)


class ReadTexts(Answered):
    """What was found in all texts, in their order, and those that could not be read."""

    documents: tuple[ReadText, ...]
    problems: tuple[Problem, ...] = ()


# --- documents -----------------------------------------------------------------------------------


class NewTexts(Texts):
    """Texts for the store."""

    replace: bool = Field(False, description="Take the place of other texts of the same ids.")


class Stored(Answered):
    """What became of a document: it is in the store when this is told."""

    id: str
    status: Literal["added", "replaced", "unchanged"]
    entities: int
    facts: int


class StoredTexts(Answered):
    """What became of all documents, and those that did not come into the store."""

    documents: tuple[Stored, ...]
    problems: tuple[Problem, ...] = ()


class DocumentIds(Answered):
    """The ids of some documents; `next` is the offset of those behind."""

    ids: tuple[str, ...]
    next: int | None


# --- graph ---------------------------------------------------------------------------------------


class Thing(Answered):
    """What the entities of one or more documents stand for."""

    iri: str
    name: str
    type: str


class Things(Answered):
    things: tuple[Thing, ...]
    total: int
    next: int | None


class Evidence(Answered):
    """A document that states a fact, and the sentences that prove it."""

    document: str
    fact: str = Field(description="The address of the statement, by which it may be corrected.")
    score: float | None
    sentences: tuple[str, ...]
    decision: str | None = None


class Fact(Answered):
    """A fact between two things, as all documents together state it."""

    head: Thing
    relation: str
    name: str = Field(description="The relation in words.")
    tail: Thing
    score: float | None
    decision: str | None
    evidence: tuple[Evidence, ...]


class Facts(Answered):
    """Facts, the surest first, or in the order of a path; `next` is the offset of those behind."""

    facts: tuple[Fact, ...]
    total: int
    next: int | None


class StatedFacts(Answered):
    """Facts as documents state them; `next` is the offset of those behind."""

    facts: tuple[Fact, ...]
    next: int | None


class Relation(Answered):
    """A relation by its id, and in words."""

    id: str
    name: str


class Relations(Answered):
    relations: tuple[Relation, ...]


# --- questions -----------------------------------------------------------------------------------


class Query(Message):
    """A query in SPARQL, which reads."""

    query: str = Field(min_length=1)
    limit: int | None = Field(None, ge=1, lt=2**31, description="Rows at most.")

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"query": "SELECT ?name { ?person a type:PER ; rdfs:label ?name }"}]
        }
    )


class AskedQuestion(Message):
    """A question in plain words."""

    question: str = Field(min_length=1, max_length=2000)
    top: int = Field(1, ge=1, le=100, description="Answers at most.")

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"question": "Where was Ada Lovelace born?"}]}
    )


class Answers(Answered):
    """The surest answers with what proves them; of the kind "none" if the documents do not say."""

    question: str
    answers: tuple[dict[str, Any], ...] = Field(description="As `factloom ask --json` has them.")


# --- corrections ---------------------------------------------------------------------------------


class Said(Message):
    """What stands beside every correction."""

    by: str = Field("", max_length=200, description="Who says so.")
    why: Reason = ""


class FactNames(Message):
    """A fact by the names of its ends and of its relation."""

    head: Name
    relation: Name
    tail: Name


# One of them has no `#`, and is no number of a listing.
FactAddress = Annotated[str, Field(min_length=3, max_length=2000, pattern=r"^.+#fact=\d+$")]
FactNamed = FactAddress | FactNames


class ThingNamed(Message):
    """A thing by its name, or its address (urn:...); the type tells those of one name apart."""

    name: Name
    type: Name | None = None


class Reject(Said):
    """A fact does not hold, whichever document states it, now or later."""

    action: Literal["reject"]
    fact: FactNamed


class Accept(Said):
    """A fact holds."""

    action: Literal["accept"]
    fact: FactNamed


class Correct(Said):
    """Something else holds in the place of a fact."""

    action: Literal["correct"]
    fact: FactNamed
    head: Name | None = None
    relation: Name | None = None
    tail: Name | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.head is None and self.relation is None and self.tail is None:
            raise ValueError("give what is right: head, relation or tail")
        return self


class Merge(Said):
    """Things are one; it is called as the first of them."""

    action: Literal["merge"]
    things: tuple[ThingNamed, ...] = Field(min_length=2, max_length=100)


class Rename(Said):
    """What a thing is called."""

    action: Literal["rename"]
    thing: ThingNamed
    name: Name


class Retype(Said):
    """Of which type a thing is."""

    action: Literal["retype"]
    thing: ThingNamed
    type: Name


NewCorrection = Annotated[
    Reject | Accept | Correct | Merge | Rename | Retype, Field(discriminator="action")
]


class Undo(Message):
    """Which correction is taken back: the last that stands, unless its number is given."""

    number: int | None = Field(None, ge=1, lt=2**31)


class Correction(Answered):
    """What somebody has said, when, and why; `undone` is when it was taken back."""

    number: int
    action: str
    about: str
    by: str
    when: str
    why: str
    undone: str


class Corrections(Answered):
    corrections: tuple[Correction, ...]
    total: int
    next: int | None


# --- the service itself --------------------------------------------------------------------------


class Health(Answered):
    """The service answers; what it has loaded."""

    status: Literal["ok"]
    version: str
    model: str
    store: bool
