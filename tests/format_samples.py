"""A small hand-written file in every format of data that factloom reads; pages are elsewhere."""

import json
from pathlib import Path

DOCRED_RECORD = {
    "title": "Mara Velden",
    "sents": [
        ["Mara", "Velden", "was", "born", "in", "Torvik", "."],
        ["Velden", "founded", "", "Quillmark", "Ltd", "\u00a0", "."],
    ],
    "vertexSet": [
        [
            {"name": "Mara Velden", "pos": [0, 2], "sent_id": 0, "type": "PER", "index": "0_0"},
            {"name": "Velden", "pos": [0, 1], "sent_id": 1, "type": "PER", "index": "0_1"},
        ],
        [{"name": "Torvik", "pos": [5, 6], "sent_id": 0, "type": "LOC", "fine_type": ["city"]}],
        [{"name": "Quillmark, Ltd.", "pos": [3, 5], "sent_id": 1, "type": "ORG"}],
    ],
    "labels": [
        {"h": 0, "t": 1, "r": "P19", "evidence": [0]},
        {"h": 2, "t": 0, "r": "P112", "evidence": [1, 0], "annotator": 7},
        {"h": 2, "t": 1, "r": "P159"},
    ],
    "links": [None, "Torvik", None],
}
UNLABELLED_RECORD = {
    "title": "无标签",
    "sents": [["马云", "出生", "于", "杭州", "。"], []],
    "vertexSet": [
        [{"name": "马云", "pos": [0, 1], "sent_id": 0, "type": "PER"}],
        [{"name": "杭州", "pos": [3, 4], "sent_id": 0, "type": "LOC"}],
    ],
}
DOCRED = json.dumps([DOCRED_RECORD, UNLABELLED_RECORD])

JSONL = "\n".join(
    [
        '{"factloom": 1, "text": "Ada was born in London.", "id": "ada", '
        '"sentences": [{"start": 0, "end": 23, "tokens": [[0, 3], [4, 7]]}], '
        '"mentions": [{"start": 0, "end": 3, "type": "PER"}, '
        '{"start": 16, "end": 22, "type": "LOC", "score": 0.9, "name": "LONDON"}], '
        '"entities": [{"mentions": [0], "type": "PER", "id": "Q7259"}, '
        '{"mentions": [1], "type": "LOC"}], '
        '"relations": [{"head": 0, "tail": 1, "type": "P19", "score": 0.75, "evidence": [0], '
        '"provenance": {"model": "atlop"}}], "candidates": [[0, 1]], "attributes": {"year": 1815}}',
        '{"factloom": 1, "text": "马云出生于杭州。"}',
        "",
    ]
)

# The direction of the second pair is R2L: the head is the first entity all the same.
_CHEMICAL = "D008094\tlithium|Lithium\tChemical\t0:6\t1:7\t0:1"
_TOXICITY = "D064420\ttoxicity\tDisease\t1\t2\t0"
_TREMOR = "D014202\ttremor\tDisease\t4\t5\t1"
CDR = (
    "6794356\tlithium toxicity .|A tremor after Lithium .\t"
    f"1:CID:2\tL2R\tNON-CROSS\t0-1\t1-2\t{_CHEMICAL}\t{_TOXICITY}\t"
    f"1:CID:2\tR2L\tNON-CROSS\t6-7\t4-5\t{_CHEMICAL}\t{_TREMOR}\t"
    f"1:NR:2\tR2L\tCROSS\t4-5\t1-2\t{_TREMOR}\t{_TOXICITY}\t"
    f"not_include\tL2R\tCROSS\t1-2\t4-5\t{_TOXICITY}\t{_TREMOR}\n"
    "227508\tNothing to see .\n"
)

PUBTATOR = """\
123|t|Aspirin and HNF genes.
123|a|Aspirin (p|SUB|V|9|M) may cause asthma. Asthma is bad.
123\t0\t7\tAspirin\tChemical\tD001241
123\t12\t21\tHNF genes\tGene\t3172,6927
123\t23\t30\tAspirin\tChemical\tD001241
123\t32\t43\tp|SUB|V|9|M\tVariant\tp|SUB|V|9|M
123\t55\t61\tasthma\tDisease\tD001249
123\t63\t69\tAsthma\tDisease\tD001249
123\t70\t72\tis\tOther\t-
123\tCID\tD001241\tD001249
123\tAssociation\t3172\tD001241\tNovel

124|t|Only a title.
124|a|

"""

TEXT = """\
Mara Velden was born in Torvik. She founded Quillmark Ltd. in 1956.

马云出生于杭州。他很好。
"""

# Comments, a word that looks like one, two levels of names, a column that is neither.
CONLL = """\
# source: http://example.org/1
Max B-ORG B-PER 0
Planck I-ORG I-PER 1
Institute I-ORG O 0
# O O 0
in O O 0
Torvik B-LOC O 1

# source: http://example.org/2
# a second remark
She O O 0
left O O 0
. O O 0

"""

MRC_RECORDS = [
    {
        "context": "Max Planck Institute in Torvik",
        "qas_id": "0.1",
        "entity_label": "ORG",
        "query": "organizations such as companies",
        "impossible": False,
        "start_position": [0],
        "end_position": [2],
        "span_position": ["0;2"],
    },
    {
        "context": "Max Planck Institute in Torvik",
        "qas_id": "0.2",
        "entity_label": "PER",
        "query": "persons",
        "impossible": False,
        "start_position": [0],
        "end_position": [1],
        "span_position": ["0;1"],
        "annotator": 3,
    },
    {
        "context": "Max Planck Institute in Torvik",
        "qas_id": "0.3",
        "entity_label": "GPE",
        "query": "countries",
        "impossible": True,
        "start_position": [],
        "end_position": [],
        "span_position": [],
    },
    {
        "context": "She left",
        "qas_id": "1.1",
        "entity_label": "PER",
        "query": "persons",
        "impossible": True,
        "start_position": [],
        "end_position": [],
        "span_position": [],
    },
]
MRC = json.dumps(MRC_RECORDS)

GENIA_RECORDS = [
    {
        "doc_id": "m1",
        "sent_id": "m1-0",
        "tokens": ["jun", "B", "mRNAs", "fell", "."],
        "entity_mentions": [
            {"start": 0, "end": 2, "entity_type": "DNA", "text": "jun B"},
            {"start": 0, "end": 3, "entity_type": "RNA", "text": "jun B mRNAs", "sure": True},
        ],
    },
    {"doc_id": "m1", "sent_id": "m1-1", "tokens": ["They", "rose", "."], "entity_mentions": []},
    {
        "doc_id": "m2",
        "tokens": ["PHA"],
        "entity_mentions": [{"start": 0, "end": 1, "entity_type": "protein"}],
        "year": 1993,
    },
]
GENIA = "".join(json.dumps(record) + "\n" for record in GENIA_RECORDS)

CLUENER_RECORDS = [
    {
        "text": "浙商银行叶老桂，叶老桂",
        "label": {"name": {"叶老桂": [[4, 6], [8, 10]]}, "company": {"浙商银行": [[0, 3]]}},
    },
    {"id": 7, "text": "没有名字", "label": {}},
    {"id": "8", "text": "没有标签"},
]
CLUENER = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in CLUENER_RECORDS)

CMEEE_RECORDS = [
    {
        "text": "肺内病变吸收较快。",
        "entities": [
            {"start_idx": 0, "end_idx": 0, "type": "bod", "entity": "肺"},
            {"start_idx": 0, "end_idx": 3, "type": "sym", "entity": "肺内病变"},
        ],
    },
    {"text": "没有。", "entities": []},
]
CMEEE = json.dumps(CMEEE_RECORDS, ensure_ascii=False, indent=2)

OFFSETS_RECORDS = [
    {
        "id": "12",
        "text": "马云出生于杭州，他爱杭州。",
        "entities": [["Person", 0, 2], ["Location", 5, 7], ["Person", 8, 9], ["Location", 10, 12]],
        "relations": [["Born", 0, 1], ["Coreference", 0, 2], ["Likes", 2, 3], ["Born", 0, 1]],
    },
    {"id": 13, "text": "没有。", "entities": [], "relations": []},
]
OFFSETS = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in OFFSETS_RECORDS)

BRAT_TEXT = """\
Ada Lovelace was born in London.
She and her left and right hand
wrote notes.
"""
BRAT = """\
T1\tPER 0 12\tAda Lovelace
T2\tLOC 25 31\tLondon
R1\tborn_in Person:T1 Place:T2
T3\tPER 33 36\tShe
*\tEquiv T1 T3
T4\tBODY 45 49;60 64\tleft hand
T5\tWrite 65 70\twrote
E1\tWrite:T5 Author:T3
A1\tPast E1
A2\tConfidence T4 low
N1\tReference T1 Wikidata:Q7259\tAda Lovelace
#1\tAnnotatorNotes T4\ttwo parts
"""

DOCCANO_RECORDS = [
    {
        "id": 1,
        "text": "Ada was born in London. She left.",
        "entities": [
            {"id": 71, "label": "PER", "start_offset": 0, "end_offset": 3},
            {"id": 72, "label": "LOC", "start_offset": 16, "end_offset": 22},
            {"id": 75, "label": "PER", "start_offset": 24, "end_offset": 27},
        ],
        "relations": [
            {"id": 5, "from_id": 71, "to_id": 72, "type": "born_in"},
            {"id": 6, "from_id": 75, "to_id": 71, "type": "coreference"},
            {"id": 7, "from_id": 75, "to_id": 72, "type": "left"},
        ],
        "Comments": [],
    },
    {"id": 2, "text": "Ada", "label": [[0, 3, "PER"]], "Comments": []},
    {"id": 3, "data": "Nothing", "labels": []},
]
DOCCANO = "".join(json.dumps(record) + "\n" for record in DOCCANO_RECORDS)


def _region(identifier: str, start: int, end: int, text: str, *labels: str) -> dict[str, object]:
    return {
        "id": identifier,
        "from_name": "entity",
        "to_name": "content",
        "type": "labels",
        "origin": "manual",
        "value": {"start": start, "end": end, "text": text, "labels": list(labels)},
    }


LABEL_STUDIO_TASKS = [
    {
        "id": 31,
        "data": {"text": "Ada was born in London. She left.", "source": "wiki"},
        "annotations": [
            {"id": 8, "result": [], "was_cancelled": True},
            {
                "id": 9,
                "completed_by": 1,
                "was_cancelled": False,
                "result": [
                    _region("a", 0, 3, "Ada", "PER", "WRITER"),
                    {
                        "from_id": "a",
                        "to_id": "b",
                        "type": "relation",
                        "direction": "right",
                        "labels": ["born_in"],
                    },
                    _region("b", 16, 22, "London", "LOC"),
                    _region("c", 24, 27, "She", "PER"),
                    {"from_id": "a", "to_id": "c", "type": "relation", "labels": ["Coreference"]},
                    {"from_id": "b", "to_id": "c", "type": "relation", "direction": "left"},
                    {"type": "choices", "value": {"choices": ["good"]}, "id": "d"},
                ],
            },
        ],
        "predictions": [],
    },
    {
        "id": 32,
        "data": {"content": "No text of that name"},
        "predictions": [{"result": [_region("p", 0, 2, "No", "X") | {"score": 0.75}]}],
    },
]
LABEL_STUDIO = json.dumps(LABEL_STUDIO_TASKS)

LOOM = (
    "# written by hand\n"
    "=== letter-001\n"
    "Dear [Ms Velden|PER mara], thank you for showing {me|ada} round "
    "[Quillmark Ltd|ORG quillmark] on [Monday|TIME monday].\n"
    "{You|mara} run {the firm|quillmark} well, but {it|quillmark} is not yours; it belongs to "
    "[Torvik Mills|ORG mills] \\[of [Torvik|LOC torvik]\\].\n"
    "//Yours, [Ada Brook|PER ada]\n"
    "/[Brook|-] & Sons\n"
    "--\n"
    "quillmark | chief executive officer | mara | 1 2\n"
    "quillmark | owned by | mills | 2\n"
    "mills | P159 | torvik | 2\n"
    "not quillmark | owned by | mara | 1 2 | negation\n"
    "\n"
    "=== xinwen-001\n"
    "[马云|PER ma]出生于[中国|LOC china][杭州|LOC hangzhou]，{他|ma}在[杭州师范学院|ORG normal]"
    "读书，后来回到{这座城市|hangzhou}，创办了{自己|ma}的公司。\n"
    "{该校|normal}也在[杭州|hangzhou]。\n"
    "--\n"
    "ma | place of birth | hangzhou | 1\n"
    "ma | educated at | normal | 1\n"
    "hangzhou | country | china | 1\n"
    "normal | located in the administrative territorial entity | hangzhou | 1 2\n"
)

SQUAD_RECORD = {
    "version": "1.1",
    "data": [
        {
            "title": "Torvik",
            "paragraphs": [
                {
                    "context": "Torvik lies on the Ouse. Mara founded it in 1956.",
                    "qas": [
                        {
                            "id": "q1",
                            "question": "When was Torvik founded?",
                            "answers": [
                                {"text": "1956", "answer_start": 44},
                                {"text": "in 1956", "answer_start": 41, "id": "2"},
                            ],
                        },
                        {
                            "id": "q2",
                            "question": "Who lives there?",
                            "answers": [],
                            "is_impossible": True,
                            "plausible_answers": [{"text": "Mara", "answer_start": 25}],
                        },
                    ],
                },
                {"context": "Nothing.", "qas": [{"id": "q3", "question": "Why?"}]},
            ],
        },
        {
            "id": "DEV_1",
            "title": "杭州",
            "paragraphs": [{"id": "DEV_1_0", "context": "马云出生于杭州。", "qas": []}],
        },
    ],
}
SQUAD = json.dumps(SQUAD_RECORD, ensure_ascii=False, indent=1)

HOTPOTQA_RECORDS = [
    {
        "_id": "q1",
        "question": "In which country lies Torvik?",
        "answer": "Norvania",
        "type": "bridge",
        "context": [
            ["Torvik", ["Torvik lies on the Ouse.", " It is old.", ""]],
            ["Ouse", ["The Ouse is in Norvania."]],
            ["Ouse", ["A song.", "By Mara."]],
        ],
        "supporting_facts": [["Torvik", 0], ["Ouse", 0], ["Ouse", 1]],
    },
    {"_id": "q2", "question": "Is it old?", "context": [], "supporting_facts": []},
]
HOTPOTQA = json.dumps(HOTPOTQA_RECORDS)

MUSIQUE_RECORDS = [
    {
        "id": "2hop",
        "paragraphs": [
            {
                "idx": 0,
                "title": "Mara",
                "paragraph_text": "Mara was born in Torvik. She left.",
                "is_supporting": True,
            },
            {"idx": 1, "title": "Ada", "paragraph_text": "Ada stayed.", "is_supporting": False},
            {"idx": 2, "title": "Torvik", "paragraph_text": "It is old.", "is_supporting": True},
        ],
        "question": "How is the town where Mara was born?",
        "question_decomposition": [{"id": 1, "question": "Mara >> born", "answer": "Torvik"}],
        "answer": "old",
        "answer_aliases": ["very old", "old"],
        "answerable": True,
    },
    {"id": "no", "question": "Why?", "paragraphs": [], "answer": "so", "answerable": False},
]
MUSIQUE = "".join(json.dumps(record) + "\n" for record in MUSIQUE_RECORDS)

NQ_OPEN_RECORDS = [
    {"question": "when was torvik founded", "answer": ["1956", "in 1956"]},
    {"question": "who sang it", "answer": ["Mara"], "source": "nq"},
]
NQ_OPEN = "".join(json.dumps(record) + "\n" for record in NQ_OPEN_RECORDS)

KNOWLEDGENET_RECORDS = [
    {
        "fold": 2,
        "doc": 7,
        "start": 14,
        "end": 85,
        "text": "Ada Brook, born in Torvik, Norvania, is the CEO of Halden. She left it.",
        "facts": [
            {
                "relation": "CEO",
                "subject": "Halden",
                "subject_start": 51,
                "object": "Ada Brook",
                "object_start": 0,
                "object_wikidata": "Q1",
            },
            {
                "relation": "PLACE_OF_BIRTH",
                "subject": "Ada Brook",
                "subject_start": 0,
                "subject_wikidata": "Q1",
                "object": "Torvik",
                "object_start": 19,
            },
            {
                "relation": "PLACE_OF_BIRTH",
                "subject": "Ada Brook",
                "subject_start": 0,
                "subject_wikidata": "Q1",
                "object": "Norvania",
                "object_start": 27,
            },
            {
                "relation": "CEO",
                "subject": "Halden",
                "subject_start": 51,
                "object": "She",
                "object_start": 59,
                "object_wikidata": "Q1",
            },
        ],
    },
    {"doc": "8", "start": 0, "end": 8, "text": "Nothing.", "facts": []},
    {
        "fold": 1,
        "documentId": "9",
        "source": "DBpedia Abstract",
        "documentText": "Torvik\n\nTom Quill is the son of Ada. He left.",
        "passages": [
            {
                "passageId": "9:8:36",
                "passageStart": 8,
                "passageEnd": 36,
                "passageText": "Tom Quill is the son of Ada.",
                "exhaustivelyAnnotatedProperties": [
                    {"propertyId": "34", "propertyName": "CHILD_OF"},
                    {"propertyId": "45", "propertyName": "SPOUSE"},
                ],
                "facts": [
                    {
                        "propertyId": "34",
                        "subjectStart": 8,
                        "subjectEnd": 17,
                        "subjectUri": "http://www.wikidata.org/entity/Q5",
                        "objectStart": 32,
                        "objectEnd": 35,
                        "objectUri": "",
                    }
                ],
            },
            {
                "passageStart": 37,
                "passageEnd": 45,
                "exhaustivelyAnnotatedProperties": [],
                "facts": [],
            },
        ],
    },
]
KNOWLEDGENET = "".join(json.dumps(record) + "\n" for record in KNOWLEDGENET_RECORDS)

FEWREL_RECORDS = {
    "P25": [
        {
            "tokens": ["Tom", "Quill", "is", "the", "son", "of", "Ada", ";", "Ada", "left", "."],
            "h": ["tom quill", "Q1", [[0, 1]]],
            "t": ["ada", "Q2", [[6], [8]]],
        }
    ],
    "P9": [{"tokens": ["It", "is", "."], "h": ["it", "", [[0]]], "t": ["is", "", [[1]]]}],
    "P26": [],
}
FEWREL = json.dumps(FEWREL_RECORDS)

TEKGEN_RECORDS: list[dict[str, object]] = [
    {
        "id": "1",
        "sent": "Torvik: The End is a film by Ada Br\u00c3\u00b8k (1998). Torvik : The End!.",
        "triples": [
            {"sub": "Torvik: The End", "rel": "director", "obj": "Ada Br\u00f8k"},
            {"sub": "Torvik: The End", "rel": "publication date", "obj": "01 January 1998"},
        ],
    },
    {
        "id": "2",
        "sent": "Halden was released on May 2, 1998 by Quill.",
        "sub_label": "Halden (film)",
        "sub": "Q1",
        "rel_label": "publication date",
        "rel": "P577",
        "obj_label": "02 May 1998",
    },
    {"id": "3", "sent": "Nothing is said.", "triples": []},
]
TEKGEN = "".join(json.dumps(record) + "\n" for record in TEKGEN_RECORDS)

SAMPLES = {
    "docred": DOCRED,
    "jsonl": JSONL,
    "cdr": CDR,
    "pubtator": PUBTATOR,
    "conll": CONLL,
    "mrc": MRC,
    "genia": GENIA,
    "cluener": CLUENER,
    "cmeee": CMEEE,
    "offsets": OFFSETS,
    "brat": BRAT,
    "doccano": DOCCANO,
    "label-studio": LABEL_STUDIO,
    "loom": LOOM,
    "squad": SQUAD,
    "hotpotqa": HOTPOTQA,
    "musique": MUSIQUE,
    "nq-open": NQ_OPEN,
    "knowledgenet": KNOWLEDGENET,
    "fewrel": FEWREL,
    "tekgen": TEKGEN,
    "text": TEXT,
}

# Read but not written, and with tests of their own.
PAGES = ("markdown", "html", "pdf")


def write_sample(path: Path, format: str, content: bytes | None = None) -> Path:
    """The sample, or another content in its place, with the text that brat has beside it."""
    path.write_bytes(SAMPLES[format].encode("utf-8") if content is None else content)
    if format == "brat":
        name = path.name.removesuffix(".ann")
        path.with_name(f"{name}.txt").write_text(BRAT_TEXT, encoding="utf-8")
    return path
