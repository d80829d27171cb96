"""A tiny random encoder of every family, with a tokenizer trained the way its family's is."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    AlbertConfig,
    AlbertTokenizer,
    AutoModel,
    BertConfig,
    BertTokenizerFast,
    DebertaV2Config,
    DebertaV2Tokenizer,
    ElectraConfig,
    ModernBertConfig,
    MPNetConfig,
    MPNetTokenizer,
    PreTrainedConfig,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaTokenizerFast,
    XLNetConfig,
    XLNetTokenizer,
)

SENTENCES = (  # the vocabularies are learned from these
    "Mara Velden was born in Torvik on 3 May 1931 and studied at Halden College.",
    "She founded Quillmark Ltd in 1956; the company has its headquarters in Ashmere.",
    'The * marker * stands (before, and after) a mention: it\'s "one" token.',
    "马云出生于杭州。",
)
SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
}
POSITIONS = 64


@dataclass(frozen=True)
class Family:
    """How to make an encoder of one family, and what ours should know about it."""

    config: type[PreTrainedConfig]
    tokenizer: Callable[[], PreTrainedTokenizerFast]
    options: dict[str, Any] = field(default_factory=lambda: {"max_position_embeddings": POSITIONS})
    before: tuple[str, ...] = ("[CLS]",)
    after: tuple[str, ...] = ("[SEP]",)
    records_attention: bool = True
    learned_positions: bool = True


def trained(tokenizer: PreTrainedTokenizerFast) -> PreTrainedTokenizerFast:
    return tokenizer.train_new_from_iterator(SENTENCES, vocab_size=300, show_progress=False)


def word_pieces() -> PreTrainedTokenizerFast:
    return trained(BertTokenizerFast())


def roberta_tokenizer() -> PreTrainedTokenizerFast:
    names = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    return trained(RobertaTokenizerFast(vocab={name: index for index, name in enumerate(names)}))


def mpnet_tokenizer() -> PreTrainedTokenizerFast:
    names = ("<s>", "<pad>", "</s>", "[UNK]", "<mask>")
    pieces = word_pieces().get_vocab()
    words = [word for word in sorted(pieces, key=lambda word: pieces[word]) if word[0] != "["]
    return MPNetTokenizer(vocab={word: index for index, word in enumerate([*names, *words])})


def modern_bert_tokenizer() -> PreTrainedTokenizerFast:
    """The family has no class of its own: a byte-level BPE with BERT's special tokens."""
    names = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=names, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        mask_token="[MASK]",
    )


FAMILIES = {
    "BERT": Family(BertConfig, word_pieces),
    # RoBERTa and MPNet count positions from behind the padding index
    "RoBERTa": Family(
        RobertaConfig,
        roberta_tokenizer,
        {"max_position_embeddings": POSITIONS + 2},
        before=("<s>",),
        after=("</s>",),
    ),
    "ALBERT": Family(
        AlbertConfig,
        lambda: trained(AlbertTokenizer()),
        {"max_position_embeddings": POSITIONS, "embedding_size": 16},
    ),
    "ELECTRA": Family(
        ElectraConfig, word_pieces, {"max_position_embeddings": POSITIONS, "embedding_size": 16}
    ),
    "MPNet": Family(
        MPNetConfig,
        mpnet_tokenizer,
        {"max_position_embeddings": POSITIONS + 2},
        before=("<s>",),
        after=("</s>",),
        records_attention=False,
    ),
    "DeBERTa-v2": Family(
        DebertaV2Config,
        lambda: trained(DebertaV2Tokenizer()),
        {
            "relative_attention": True,
            "position_buckets": 8,
            "pos_att_type": ["p2c", "c2p"],
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
            "position_biased_input": False,
            "type_vocab_size": 0,
        },
        records_attention=False,
        learned_positions=False,
    ),
    "XLNet": Family(
        XLNetConfig,
        lambda: trained(XLNetTokenizer()),
        {"d_model": 32, "n_layer": 3, "n_head": 4, "d_inner": 48},
        before=(),
        after=("<sep>", "<cls>"),
        records_attention=False,
        learned_positions=False,
    ),
    "ModernBERT": Family(
        ModernBertConfig,
        modern_bert_tokenizer,
        {"local_attention": 8, "bos_token_id": 1, "eos_token_id": 2}
        | {"cls_token_id": 1, "sep_token_id": 2},
        learned_positions=False,
    ),
}


def save_family(name: str, path: Path, **options: Any) -> None:
    """Write weights and tokenizer, as a download from the hub would."""
    family = FAMILIES[name]
    tokenizer = family.tokenizer()
    sizes = {} if name == "XLNet" else SIZES
    numbers = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    config = family.config(**{**sizes, **numbers, **family.options, **options})
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = AutoModel.from_config(config)
        for weights in model.parameters():
            if weights.dim() > 1:  # so large that attention is far from uniform
                torch.nn.init.normal_(weights, std=0.3)
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
