"""A small hand-written file in every format that factloom reads."""

import json

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

SAMPLES = {
    "docred": DOCRED,
    "jsonl": JSONL,
    "cdr": CDR,
    "pubtator": PUBTATOR,
    "text": TEXT,
}
