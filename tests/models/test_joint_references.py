"""Pronouns and nominals in the joint model: what they stand for, and what comes of it."""

import json
from pathlib import Path

import pytest
import torch
from model_checks import check_model, check_same_predictions

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.layouts import sections
from factloom.layouts.reference_documents import make_example
from factloom.models import reference_decisions
from factloom.models.joint import Joint, JointSettings
from factloom.text.references import ReferenceWords, has_references
from referring_documents import CHINESE, learned, referring_documents


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> list[Document]:
    return referring_documents(tmp_path_factory.mktemp("letters"))


def new_model(path: Path, documents: list[Document], **settings: object) -> Joint:
    chosen = {"block_size": 8, "hidden": 16, "dropout": 0.0, "evidence_weight": 1.0, **settings}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        encoder = Encoder.load(str(path), overlap=16)
        return Joint.from_documents(encoder, documents, JointSettings.model_validate(chosen))


@pytest.fixture(scope="module")
def model(tiny_encoder_path: Path, letters: list[Document]) -> Joint:
    """One that has learned the letters by heart."""
    return learned(new_model(tiny_encoder_path, letters), letters)


def references(document: Document) -> list[tuple[str, str]]:
    """Each with the name of what it stands for, in the order of the text."""
    owner = {index: n for n, entity in enumerate(document.entities) for index in entity.mentions}
    return [
        (document.mention_text(index), document.name(owner[index]))
        for index, mention in enumerate(document.mentions)
        if mention.kind != "name"
    ]


def test_a_model_with_references_passes_the_checks_of_every_model(
    tiny_encoder_path: Path, letters: list[Document], tmp_path: Path
) -> None:
    check_model(new_model(tiny_encoder_path, letters), letters, tmp_path, steps=150)


def test_a_chinese_model_with_references_does(tiny_encoder_path: Path, tmp_path: Path) -> None:
    documents = referring_documents(tmp_path, CHINESE)
    model = new_model(tiny_encoder_path, documents)
    assert model.layout.reference_words is not None
    assert model.layout.reference_words.nominals == ("该公司",)
    check_model(model, documents, tmp_path, steps=150)
    found = model.predict(documents)
    assert [references(document) for document in found] == [
        [("他", "马云")],
        [("该公司", "杭马公司"), ("其", "杭马公司"), ("该公司", "杭马公司")],
    ]


def test_what_was_learned_by_heart_is_found(model: Joint, letters: list[Document]) -> None:
    found = model.predict([Document(letter.text) for letter in letters])
    assert [references(document) for document in found] == [
        [("She", "Mara Velden"), ("The company", "Quillmark Ltd"), ("its", "Quillmark Ltd")],
        [("She", "Mara"), ("It", "Halden College"), ("its", "Halden College")],
        [("its", "Ashmere Company"), ("The company", "Ashmere Company"), ("he", "Velden")],
    ]
    for document in found:
        assert [m.start for m in document.mentions] == sorted(m.start for m in document.mentions)
        for entity in document.entities:
            kinds = {document.mentions[index].kind for index in entity.mentions}
            types = {document.mentions[index].type for index in entity.mentions}
            assert "name" in kinds
            assert types == {entity.type}
        for mention in document.mentions:
            assert mention.score is not None
            assert 0 < mention.score <= 1


def test_a_reference_is_never_the_name_of_an_entity(model: Joint, letters: list[Document]) -> None:
    (found,) = model.predict([letters[1]])  # the text begins with "She"
    (person,) = (n for n, e in enumerate(found.entities) if e.type == "PER")
    assert len(found.entities[person].mentions) == 2
    assert found.name(person) == "Mara"
    assert found.names(person) == ("Mara",)


def test_a_sentence_with_pronouns_alone_can_prove_a_fact(
    model: Joint, letters: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The least that is told where no sentence holds enough of what the model looks at."""
    asked = model.settings.model_copy(update={"evidence_threshold": 2.0})
    monkeypatch.setattr(model, "settings", asked)
    document = letters[0]
    found = model.relate([document, document.named()])
    for related in found:
        (founded,) = (r for r in related.relations if r.type == "P112")
        assert founded.evidence
    resolved = model.extraction().refer([document.named()], 4096)[0]
    quill = next(n for n, e in enumerate(resolved.entities) if resolved.name(n) == "Quillmark Ltd")
    assert resolved.entity_sentences(quill) == {1, 2}  # the third has "The company" alone
    assert document.named().entity_sentences(quill) == {1}


def test_a_threshold_of_one_leaves_names_alone(model: Joint, letters: list[Document]) -> None:
    chosen = model.settings
    try:
        model.settings = chosen.model_copy(update={"reference_threshold": 1.0})
        assert not any(map(has_references, model.predict(letters)))
    finally:
        model.settings = chosen


def test_no_candidate_touches_a_name(model: Joint, letters: list[Document]) -> None:
    words = ReferenceWords(["ltd", "mara", "the company", "college", "was"])
    seen = set()
    for document, tokens in zip(
        letters, model.encoder.tokenize([letter.text for letter in letters]), strict=True
    ):
        names = [(m.start, m.end) for m in document.mentions if m.kind == "name"]
        for start, end in make_example(document, tokens, words).spans:
            seen.add(document.text[start:end].lower())
            assert not any(first < end and start < last for first, last in names)
    assert {"the company", "college", "was", "she"} <= seen
    assert not {"ltd", "mara"} & seen


def test_unmarked_words_stand_for_nothing_and_parts_of_marked_ones_for_nobody_knows(
    model: Joint, letters: list[Document]
) -> None:
    (tokens,) = model.encoder.tokenize([letters[2].text])
    example = make_example(letters[2], tokens, ReferenceWords(["company"]))
    said = [letters[2].text[start:end] for start, end in example.spans]
    right = [bool(example.right[example.reference == n].any()) for n in range(len(said))]
    assert list(zip(said, right, example.known.tolist(), strict=True)) == [
        ("its", True, True),
        ("company", False, False),  # of "The company"
        ("he", True, True),
        ("It", False, True),
        ("company", False, True),
        ("company", False, True),
    ]


def test_references_are_pooled_with_the_names_of_their_entity(
    model: Joint, letters: list[Document]
) -> None:
    """Relations between given entities are those with the references that are found."""
    named = [letter.named().replace(relations=(), denied=()) for letter in letters]
    related = model.relate(named)
    assert [document.replace(relations=()) for document in related] == named
    resolved = model.extraction().refer(named, 4096)
    assert all(map(has_references, resolved))
    told = model.relate(resolved)  # they are the document's own now
    for one, other in zip(related, told, strict=True):
        assert one.relations == other.relations
    alone = model.extraction()._read_documents(4096, model.extraction()._given, 4096, named)
    scores = [[r.score for r in document.relations] for document in (*related, *alone)]
    assert scores[: len(named)] != scores[len(named) :]


def test_documents_that_mark_no_reference_teach_nothing_of_them(
    tiny_encoder_path: Path, letters: list[Document]
) -> None:
    model = new_model(tiny_encoder_path, letters)
    named = [letter.named() for letter in letters]
    assert model.collate(model.prepare(named)).references is None
    model(model.collate(model.prepare(named))).loss.backward()
    assert all(weights.grad is None for weights in model.references.parameters())
    example, beside = model.prepare([letters[0], named[1]])
    assert example.references is not None
    assert beside.references is None


def test_the_loss_of_references_has_a_weight(
    tiny_encoder_path: Path, letters: list[Document]
) -> None:
    def loss(weight: float) -> float:
        model = new_model(tiny_encoder_path, letters, reference_weight=weight).eval()
        batch = model.collate(model.prepare(letters))
        with torch.no_grad():
            return float(model(batch).loss)

    part = loss(1.0) - loss(0.0)
    assert part > 0
    assert loss(3.0) == pytest.approx(loss(0.0) + 3 * part, rel=1e-4)


def test_a_model_of_names_alone_knows_nothing_of_references(
    tiny_encoder_path: Path, letters: list[Document], tmp_path: Path
) -> None:
    model = new_model(tiny_encoder_path, [letter.named() for letter in letters])
    assert model.references is None
    assert not any(name.startswith("references") for name in model.state_dict())
    model.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert "nominals" not in config
    for setting in ("reference_weight", "reference_threshold"):  # older ones have no such settings
        del config["settings"][setting]
    (tmp_path / "config.json").write_text(json.dumps(config))
    loaded = Joint.from_pretrained(tmp_path)
    check_same_predictions(loaded.predict(letters), model.predict(letters))


def test_a_model_of_names_learns_references_when_it_goes_on(
    tiny_encoder_path: Path, letters: list[Document]
) -> None:
    named = [letter.named() for letter in letters]
    model = learned(new_model(tiny_encoder_path, named), named)
    known = {name: value.clone() for name, value in model.state_dict().items()}
    model.learn_parts(named)
    assert model.references is None
    model.learn_parts(letters)
    added = model.state_dict().keys() - known.keys()
    assert added
    assert all(name.startswith("references.") for name in added)
    assert all(torch.equal(model.state_dict()[name], value) for name, value in known.items())
    scorer = model.references
    model.learn_parts(letters)
    assert model.references is scorer
    found = learned(model, letters).predict(letters)
    assert references(found[0])[0] == ("She", "Mara Velden")


def test_sections_of_a_long_text_are_not_joined_by_their_pronouns(
    model: Joint, letters: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"{letters[0].text} {letters[2].text}"
    monkeypatch.setattr(sections, "SECTION", len(letters[0].text) + 5)
    (found,) = model.predict([Document(text)])
    assert sum(1 for said, _ in references(found) if said == "its") == 2
    assert len({name for said, name in references(found) if said == "its"}) == 2


def test_the_threshold_is_the_best_one_of_other_documents(
    model: Joint, letters: list[Document]
) -> None:
    fitted = model.fit_scores(letters)
    assert fitted["references_f1_of_gold_names"] == 1.0
    assert model.settings.reference_threshold == fitted["reference_threshold"]
    # two of three are found, and one that is wrong, whose score the threshold has to be above
    gold = letters[:1]
    said = [model.extraction().refer([gold[0].named()], 4096)[0]]
    marks = [index for index, m in enumerate(said[0].mentions) if m.kind != "name"]
    scores = dict(zip(marks, (0.9, 0.52, 0.9), strict=True))
    changed = tuple(
        type(m)(m.start + (index == marks[1]), m.end, m.type, scores.get(index), kind=m.kind)
        for index, m in enumerate(said[0].mentions)
    )
    found = [said[0].replace(mentions=changed)]
    threshold, told = reference_decisions.fit_threshold(gold, found)
    assert 0.52 < threshold <= 0.9
    assert told["references_f1_of_gold_names"] == pytest.approx(2 * 2 / (2 + 3))
