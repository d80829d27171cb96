"""KnowBERT's linker: documents with entities in, identifiers out."""

import json
from pathlib import Path

import pytest
import torch
from model_checks import check_model

from factloom.document import Document, Entity, Mention, Sentence
from factloom.encoders.encoder import Encoder
from factloom.evaluation.tasks import TASKS
from factloom.graph.knowledge_base import KnownEntity
from factloom.graph.store import Store
from factloom.knowledge.annotated import Annotated
from factloom.knowledge.linking import Linker
from factloom.knowledge.tables import Tables
from factloom.models.knowbert import Knowbert, KnowbertSettings
from factloom.modules.knowledge_attention import linking_loss

# what is only used where states go on through the encoder
READING = {"null", "reading.", "mixing.", "up."}


@pytest.fixture(scope="module")
def linked_profiles(profiles: list[Document]) -> list[Document]:
    """Every entity has its name as identifier, but each third one has none."""
    found = []
    for document in profiles[:3]:
        ids = [f"id:{document.mention_name(e.mentions[0])}" for e in document.entities]
        entities = tuple(
            Entity(entity.mentions, entity.type, id if number % 3 else None)
            for number, (entity, id) in enumerate(zip(document.entities, ids, strict=True))
        )
        found.append(document.replace(entities=entities, relations=()))
    return found


def settings_for(base: Path, describer: Path, **others: object) -> KnowbertSettings:
    return KnowbertSettings(
        knowledge=str(base), describer=str(describer), heads=2, hidden=16, dropout=0.0, **others
    )


def ambiguous(documents: list[Document]) -> Tables:
    """Every second entity shares its name with another one, and with nothing at all."""
    annotated = Annotated.of(documents)
    known = list(annotated.entities())
    twins = [KnownEntity(f"{e.id}'", e.names, e.type, "someone else") for e in known[::2]]
    return Tables.build([*known, *twins], (), annotated.unknown)


@pytest.mark.parametrize("loss", ["likelihood", "margin"])
def test_the_linker_passes_the_checks_of_every_model(
    tiny_encoder_path: Path, linked_profiles: list[Document], tmp_path: Path, loss: str
) -> None:
    ambiguous(linked_profiles).save(tmp_path / "base")
    torch.manual_seed(0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    settings = settings_for(tmp_path / "base", tiny_encoder_path, loss=loss)
    model = Knowbert.from_documents(encoder, linked_profiles, settings)
    unused = {
        name
        for name, _ in model.knowledge.named_parameters()
        if any(name.startswith(part) for part in READING)
    }
    check_model(
        model, linked_profiles, tmp_path, {f"knowledge.{name}" for name in unused}, steps=80
    )
    task = TASKS["linking"]
    found = task.measure(linked_profiles, task.ask(model, linked_profiles), samples=0).numbers
    assert found["ambiguous_accuracy"] > 0.9  # of what it was trained on


def test_words_are_hidden_when_the_linker_has_learned(
    tiny_encoder_path: Path, linked_profiles: list[Document], tmp_path: Path
) -> None:
    ambiguous(linked_profiles).save(tmp_path / "base")
    torch.manual_seed(0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    settings = settings_for(
        tmp_path / "base", tiny_encoder_path, masked=0.3, linker_batches=2, after=1
    )
    model = Knowbert(encoder, settings).train()
    examples = model.prepare(linked_profiles)
    for step in range(3):
        model.zero_grad()
        batch = model.collate(examples)
        hidden = batch.mentions.windows.token_ids != batch.tokens
        assert bool(hidden.any()) == (step == 2)
        model(batch).loss.backward()
        told = model.knowledge.up.weight.grad is not None
        assert told == (step == 2)  # what is known goes on through the layers above
    assert (batch.mentions.windows.token_ids[hidden] == encoder.mask_token).all()
    names = {n for n, w in model.named_parameters() if w.grad is None or not w.grad.abs().sum()}
    assert names <= {"knowledge.null"}

    loss = model.eval()(batch).loss
    scores, top = model._read(batch, enhance=True)
    (table,) = (
        m.weight
        for m in encoder.backbone.modules()
        if isinstance(m, torch.nn.Embedding) and m.num_embeddings == len(encoder.tokenizer)
    )
    total = linking_loss(scores, batch.mentions.gold[batch.mentions.mention], 0.0).sum()
    for number, count in enumerate(batch.mentions.counts):
        losses = []
        for window in (batch.mentions.windows.document == number).nonzero()[:, 0].tolist():
            for place in hidden[window].nonzero()[:, 0].tolist():
                logits = model.top(top[window, place]) @ table.T
                losses.append(-logits.log_softmax(-1)[batch.tokens[window, place]])
        total = total + count * torch.stack(losses).mean()
    torch.testing.assert_close(loss, total / batch.weight)

    model.save_pretrained(tmp_path / "model")
    again = Knowbert.from_pretrained(tmp_path / "model")
    assert again.predict(linked_profiles) == model.predict(linked_profiles)
    assert int(again.batches) == 3


def test_halved_precision_learns_as_well(
    tiny_encoder_path: Path, linked_profiles: list[Document], tmp_path: Path
) -> None:
    ambiguous(linked_profiles).save(tmp_path / "base")
    torch.manual_seed(0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    settings = settings_for(tmp_path / "base", tiny_encoder_path, masked=0.3, after=1)
    model = Knowbert(encoder, settings).train()
    batch = model.collate(model.prepare(linked_profiles))
    model.eval()
    whole = model(batch).loss.detach()
    with torch.autocast("cpu", torch.bfloat16):
        loss = model(batch).loss
    loss.backward()
    assert float(loss.detach()) == pytest.approx(float(whole), rel=0.05)
    assert model.knowledge.up.weight.grad.isfinite().all()


def test_links_begin_as_those_of_name_and_prior(
    tiny_encoder_path: Path, linked_profiles: list[Document], tmp_path: Path
) -> None:
    base = ambiguous(linked_profiles)
    base.save(tmp_path / "base")
    torch.manual_seed(0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    model = Knowbert(encoder, settings_for(tmp_path / "base", tiny_encoder_path)).eval()
    bare = [document.without_links() for document in linked_profiles]
    by_rules = Linker(base).predict(bare)
    seen = 0
    for one, other in zip(model.predict(bare), by_rules, strict=True):
        for found, expected in zip(one.entities, other.entities, strict=True):
            scores = {each["id"]: each["score"] for each in found.link_candidates}
            wanted = {each["id"]: each["score"] for each in expected.link_candidates}
            assert scores == pytest.approx(wanted, abs=0.02)
            seen += len(scores)
    assert seen > 10


TEXT = "Mara Velden was born in Torvik."
SPANS = {"Mara Velden": (0, 11), "Torvik": (24, 30)}


def document(*names: str) -> Document:
    mentions = tuple(Mention(*SPANS[name], "X") for name in names)
    entities = tuple(Entity((n,), "X") for n in range(len(names)))
    return Document(TEXT, "d", (Sentence(0, len(TEXT)),), mentions, entities)


@pytest.fixture
def model(tiny_encoder_path: Path, tmp_path: Path) -> Knowbert:
    torch.manual_seed(0)
    (tmp_path / "base.jsonl").write_text(json.dumps({"id": "Q1", "name": "Torvik"}))
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    settings = settings_for(tmp_path / "base.jsonl", tiny_encoder_path, least_score=0.0)
    return Knowbert(encoder, settings).eval()


def offered(model: Knowbert, given: Document) -> list[list[str]]:
    (found,) = model.predict([given])
    return [[each["id"] for each in entity.link_candidates] for entity in found.entities]


def test_a_mention_without_candidates_has_no_link(model: Knowbert) -> None:
    (found,) = model.predict([document("Mara Velden", "Torvik")])
    assert [entity.id for entity in found.entities] == [None, "Q1"]
    assert offered(model, document("Mara Velden")) == [[]]
    assert model.predict([Document("Nobody is here.")])[0].entities == ()


def test_bases_of_no_entity_and_of_two_of_one_name(model: Knowbert) -> None:
    with model.source.replaced(Tables.build([])):
        assert offered(model, document("Torvik")) == [[]]
    both = [KnownEntity("Q1", {"Torvik": 1}, "X", "a town"), KnownEntity("Q2", {"Torvik": 1})]
    with model.source.replaced(Tables.build(both)):
        assert sorted(offered(model, document("Torvik"))[0]) == ["Q1", "Q2"]


def test_a_layer_within_the_encoder_is_linked_too(model: Knowbert) -> None:
    scores = {}
    for after in (0, 1, 2):
        model.settings = model.settings.model_copy(update={"after": after})
        batch = model.collate(model.prepare([document("Torvik")]))
        scores[after] = float(model.score(batch).detach())
    assert scores[0] == scores[2] != scores[1]


def test_a_store_that_grows_while_it_is_read_offers_more(
    model: Knowbert, tmp_path: Path, tiny_encoder_path: Path
) -> None:
    first = document("Torvik")
    with Store.open(tmp_path / "graph") as store:
        store.ingest([first], relation_names={}, model="m")
    settings = settings_for(tmp_path / "graph", tiny_encoder_path)
    reader = Knowbert(model.encoder, settings).eval()
    assert offered(reader, document("Mara Velden", "Torvik"))[0] == []
    with Store.open(tmp_path / "graph") as store:
        other = document("Mara Velden").replace(id="e")
        store.ingest([other], relation_names={}, model="m")
    assert len(offered(reader, document("Mara Velden", "Torvik"))[0]) == 1


def test_long_documents_are_linked_in_every_window(model: Knowbert) -> None:
    text = " ".join([TEXT] * 40)
    places = [text.index("Torvik", start) for start in range(0, len(text) - 32, 32)]
    mentions = tuple(Mention(place, place + 6, "X") for place in sorted(set(places)))
    entity = Entity(tuple(range(len(mentions))), "X")
    whole = Document(text, "long", (Sentence(0, len(text)),), mentions, (entity,))
    model.encoder.window = 64
    assert len(model.collate(model.prepare([whole])).mentions.windows.token_ids) > 3
    assert offered(model, whole) == [["Q1"]]
