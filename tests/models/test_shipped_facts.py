"""Plain sentences: what the model that ships has to find in them, and what it must not."""

import pytest

import factloom
from factloom.pipeline import Pipeline

FOUND = {
    "Lena Voss is the CEO of Halbrand Systems.": [
        ("Halbrand Systems", "chief executive officer", "Lena Voss"),
        ("Lena Voss", "employer", "Halbrand Systems"),
    ],
    "Halbrand Systems is headquartered in Tromsdal.": [
        ("Halbrand Systems", "headquarters location", "Tromsdal")
    ],
    "Ferrovia, founded by Pia Lund and Omar Saleh in Lyon in 1976, makes bicycles.": [
        ("Ferrovia", "founded by", "Pia Lund"),
        ("Ferrovia", "founded by", "Omar Saleh"),
        ("Ferrovia", "inception", "1976"),
    ],
    "Velmora was founded in 1988 by Greta Holm.": [
        ("Velmora", "inception", "1988"),
        ("Velmora", "founded by", "Greta Holm"),
    ],
    "Omar Saleh was born in Tunis.": [("Omar Saleh", "place of birth", "Tunis")],
    "Jonas Beck, who runs Cortella AG, lives in Basel.": [
        ("Jonas Beck", "employer", "Cortella AG"),
        ("Jonas Beck", "residence", "Basel"),
    ],
    "Ruta Kalnina is married to Janis Ozols.": [
        ("Ruta Kalnina", "spouse", "Janis Ozols"),
        ("Janis Ozols", "spouse", "Ruta Kalnina"),
    ],
    "Northgate Ltd is a subsidiary of Penrose Holdings.": [
        ("Penrose Holdings", "subsidiary", "Northgate Ltd"),
        ("Northgate Ltd", "parent organization", "Penrose Holdings"),
    ],
    "Mila Horvat studied at the University of Zagreb.": [
        ("Mila Horvat", "educated at", "University of Zagreb")
    ],
    "Mila Horvat works for Delmare Shipping.": [("Mila Horvat", "employer", "Delmare Shipping")],
    "Sten Mork died in Bergen on 3 May 1994.": [
        ("Sten Mork", "place of death", "Bergen"),
        ("Sten Mork", "date of death", "3 May 1994"),
    ],
    "The novel The Salt Road was written by Ines Carvalho.": [
        ("The Salt Road", "author", "Ines Carvalho")
    ],
    "The film Blue Harbour was directed by Tomas Ek.": [("Blue Harbour", "director", "Tomas Ek")],
    "Harald Lie is the father of Nora Lie.": [("Harald Lie", "child", "Nora Lie")],
    "Amara Osei was awarded the Nilsen Prize in 2008.": [
        ("Amara Osei", "award received", "Nilsen Prize")
    ],
    "Mont Verel lies in the canton of Valais, Switzerland.": [
        ("Mont Verel", "country", "Switzerland"),
        ("Valais", "country", "Switzerland"),
    ],
    "Rosa Klein is chair of the board of Altmark Energie.": [
        ("Altmark Energie", "chairperson", "Rosa Klein")
    ],
    "The Aurora X5 is manufactured by Koyo Motors.": [("Aurora X5", "manufacturer", "Koyo Motors")],
    "Tim Cook is the CEO of Apple. Apple was founded by Steve Jobs and Steve Wozniak in "
    "Cupertino, California, in 1976.": [
        ("Apple", "chief executive officer", "Tim Cook"),
        ("Apple", "founded by", "Steve Jobs"),
        ("Apple", "founded by", "Steve Wozniak"),
        ("Apple", "inception", "1976"),
    ],
    "Maria Sousa was not born in Lisbon; she was born in Porto.": [
        ("Maria Sousa", "place of birth", "Porto")
    ],
}
ABSENT = {
    "Maria Sousa was not born in Lisbon; she was born in Porto.": ["Lisbon"],
    "Tim Cook is the CEO of Apple. Apple was founded by Steve Jobs and Steve Wozniak in "
    "Cupertino, California, in 1976.": ["place of birth", "subsidiary"],
    "Altmark Energie's former chief executive, Uwe Brandt, now teaches in Kiel.": [
        "chief executive officer"
    ],
    "Lena Voss visited Halbrand Systems in Tromsdal.": ["chief executive officer", "founded by"],
    "Angela Merkel met leaders of Islam in Berlin.": ["religion or worldview", "religion"],
    "Karim Nasser was not born in Cairo; he was born in Aswan.": ["Cairo"],
    "Kestrel denied that Nordwind had bought it.": ["subsidiary", "owned by"],
    "Pia Lund will not become chief executive of Ferrovia.": ["chief executive officer"],
    "Jonas Beck hopes to study at ETH Zurich.": ["educated at"],
    "Nora Lie is not the daughter of Harald Lie.": ["child", "father"],
    "Penrose Holdings plans to buy Northgate Ltd.": ["subsidiary", "owned by"],
}
CHINESE = {
    "林秋实是青禾茶业有限公司的董事长。": ("青禾茶业有限公司", "chairperson", "林秋实"),
    "青禾茶业有限公司总部位于福建省南平市。": (
        "青禾茶业有限公司",
        "headquarters location",
        "南平市",
    ),
    "王晓明毕业于浙江大学。": ("王晓明", "educated at", "浙江大学"),
    "周明远现任利兹大学教授。": ("周明远", "employer", "利兹大学"),
    "南山公司是北海集团的子公司。": ("南山公司", "parent organization", "北海集团"),
}


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return factloom.load("factloom-en-small", runtime="light")


@pytest.mark.parametrize("text", FOUND)
def test_what_a_plain_sentence_says_is_found(pipeline: Pipeline, text: str) -> None:
    found = {(f.head, f.relation, f.tail) for f in pipeline.facts(pipeline(text))}
    assert set(FOUND[text]) <= found


@pytest.mark.parametrize("text", ABSENT)
def test_what_a_plain_sentence_does_not_say_is_not_stated(pipeline: Pipeline, text: str) -> None:
    facts = [(f.head, f.relation, f.tail) for f in pipeline.facts(pipeline(text))]
    assert not [fact for fact in facts if set(fact) & set(ABSENT[text])]


def test_each_text_is_read_in_its_language() -> None:
    both = factloom.load(runtime="light")
    assert {"en", "zh"} <= set(both.languages)
    for text, fact in CHINESE.items():
        assert fact in {(f.head, f.relation, f.tail) for f in both.facts(both(text))}
