"""Any Hugging Face generator: log p(y_i | z, x, y_<i), for training and token by token.

An encoder and decoder (BART, T5) reads the prompt with the one and writes with the other; a causal
model (Llama, GPT) goes on behind the prompt. Prompts of one call may be of any lengths: those of a
causal model are padded in front, and positions are counted from their first token.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
)

from factloom.encoders.encoder import quiet
from factloom.encoders.pretrained import refuse_code, resolve
from factloom.errors import ModelError, Place
from factloom.files.data_path import data_path

Ids = Sequence[int]

_ASKED = "Answer in a few words, from the text alone.\n\n{passage}\n\nQuestion: {question}"


class Generator(nn.Module):
    """A network with its tokenizer."""

    def __init__(self, network: Any, tokenizer: Any) -> None:
        super().__init__()
        self.network, self.tokenizer = network, tokenizer
        self.writes_apart = bool(network.config.is_encoder_decoder)

    @classmethod
    def load(cls, name: str) -> Self:
        """By hub name or folder; a folder may hold a single file of llama.cpp (.gguf)."""
        path = resolve(data_path(name))
        files = sorted(Path(path).glob("*.gguf")) if Path(path).is_dir() else []
        options: dict[str, Any] = {"gguf_file": files[0].name} if files else {}
        weights = {} if files else {"use_safetensors": True}  # never a pickle
        try:
            with quiet():
                if not files:
                    refuse_code(path, name)
                config = AutoConfig.from_pretrained(path, trust_remote_code=False, **options)
                tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=False, **options)
                network = _family(config).from_pretrained(
                    path, dtype=torch.float32, trust_remote_code=False, **options, **weights
                )
        except ModelError:
            raise
        except Exception as error:  # several libraries read the files, each with its own errors
            detail = " ".join(str(error).split())[:200].rstrip(".")
            raise ModelError("generator-not-found", Place(file=name), detail=detail) from error
        return cls(network, tokenizer)

    @classmethod
    def from_directory(cls, path: Path) -> Self:
        """One of `save`, without its weights."""
        with quiet():
            config = AutoConfig.from_pretrained(path, trust_remote_code=False)
            tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=False)
            network = _family(config).from_config(config, trust_remote_code=False)
        return cls(network, tokenizer)

    def save(self, path: Path) -> None:
        """Configuration and tokenizer; the weights are among the model's."""
        self.network.config.save_pretrained(path)
        self.tokenizer.save_pretrained(path)

    # --- what is read and written ------------------------------------------------------------

    def prompt(self, question: str, passage: str) -> list[int]:
        """What is read for a question: the passage and it, as the generator was trained to read."""
        if self.writes_apart:
            found = self.tokenizer(f"{passage} // {question}")["input_ids"]
        elif self.tokenizer.chat_template:
            said = [{"role": "user", "content": _ASKED.format(passage=passage, question=question)}]
            found = self.tokenizer.apply_chat_template(
                said, add_generation_prompt=True, return_dict=False
            )
        else:
            text = f"{passage}\nQuestion: {question}\nAnswer:"
            found = self.tokenizer(text)["input_ids"]
        return list(found)

    def target(self, answer: str) -> list[int]:
        """What has to be written, and the end."""
        if self.writes_apart:  # with whatever its family begins with
            return list(self.tokenizer(text_target=answer)["input_ids"])
        between = "" if self.tokenizer.chat_template else " "
        ids = self.tokenizer(between + answer, add_special_tokens=False)["input_ids"]
        return [*ids, self.ends[0]]

    @property
    def ends(self) -> list[int]:
        """The tokens that end what is written."""
        given = self.network.generation_config.eos_token_id
        found = self.tokenizer.eos_token_id if given is None else given
        return list(found) if isinstance(found, list) else [int(found)]

    def text(self, tokens: Ids) -> str:
        return str(self.tokenizer.decode(list(tokens), skip_special_tokens=True)).strip()

    # --- probabilities -----------------------------------------------------------------------

    def forward(self, prompts: Sequence[Ids], targets: Sequence[Ids]) -> Tensor:
        """(texts, longest target) log p(y_i | prompt, y_<i); 0 for padding."""
        read = self._written if self.writes_apart else self._on
        logits = read(prompts, targets)
        wanted, inside = self._padded(targets)
        said = logits.log_softmax(-1).gather(2, wanted[..., None])[..., 0]
        return said.masked_fill(~inside.bool(), 0.0)

    def _written(self, prompts: Sequence[Ids], targets: Sequence[Ids]) -> Tensor:
        """(texts, longest target, tokens) of a decoder"""
        ids, mask = self._padded(prompts)
        seen, _ = self._padded([[self._start, *target[:-1]] for target in targets])
        output = self.network(input_ids=ids, attention_mask=mask, decoder_input_ids=seen)
        logits: Tensor = output.logits
        return logits

    def _on(self, prompts: Sequence[Ids], targets: Sequence[Ids]) -> Tensor:
        """(texts, longest target, tokens) of a causal model, behind the prompts"""
        front, seen = self._padded(prompts, in_front=True)
        behind, written = self._padded(targets)
        mask = torch.cat([seen, written], 1)
        output = self.network(
            input_ids=torch.cat([front, behind], 1),
            attention_mask=mask,
            position_ids=_positions(mask),
        )
        logits: Tensor = output.logits[:, front.shape[1] - 1 : -1]
        return logits

    def begin(self, prompts: Sequence[Ids]) -> "Writing":
        """What writes behind some prompts, token by token."""
        return Writing(self, prompts)

    @property
    def _start(self) -> int:
        """What a decoder begins with."""
        config = self.network.config
        found = config.decoder_start_token_id
        return int(config.bos_token_id if found is None else found)

    def _padded(self, texts: Sequence[Ids], *, in_front: bool = False) -> tuple[Tensor, Tensor]:
        """(texts, longest) ids and mask"""
        longest = max(map(len, texts))
        padding = self.tokenizer.pad_token_id
        padding = self.ends[0] if padding is None else padding
        device = next(self.network.parameters()).device
        ids = torch.full((len(texts), longest), padding, device=device)
        mask = torch.zeros_like(ids)
        for row, text in enumerate(texts):
            place = slice(longest - len(text), None) if in_front else slice(len(text))
            ids[row, place] = torch.tensor(list(text), device=device)
            mask[row, place] = 1
        return ids, mask


class Writing:
    """Sequences that are being written; what was read is kept, and read once."""

    def __init__(self, generator: Generator, prompts: Sequence[Ids]) -> None:
        self.generator = generator
        apart = generator.writes_apart
        ids, self.mask = generator._padded(prompts, in_front=not apart)
        if apart:
            self.read = generator.network.get_encoder()(input_ids=ids, attention_mask=self.mask)[0]
            ids = torch.full((len(prompts), 1), generator._start, device=ids.device)
        self.cache: Any = None
        self.first = self._next(ids)  # (prompts, tokens) log p of the first token

    def advance(self, parents: Tensor, tokens: Tensor) -> Tensor:
        """(rows, tokens) log p of what follows, where row r goes on with row parents[r]."""
        self.cache.reorder_cache(parents)
        self.mask = self.mask[parents]
        if self.generator.writes_apart:
            self.read = self.read[parents]
        else:
            self.mask = torch.cat([self.mask, torch.ones_like(self.mask[:, :1])], 1)
        return self._next(tokens[:, None])

    def _next(self, ids: Tensor) -> Tensor:
        """(rows, tokens) behind these ids, which the cache lacks."""
        network = self.generator.network
        if self.generator.writes_apart:
            output = network(
                encoder_outputs=(self.read,),
                attention_mask=self.mask,
                decoder_input_ids=ids,
                past_key_values=self.cache,
                use_cache=True,
            )
        else:
            output = network(
                input_ids=ids,
                attention_mask=self.mask,
                position_ids=_positions(self.mask)[:, -ids.shape[1] :],
                past_key_values=self.cache,
                use_cache=True,
                logits_to_keep=1,
            )
        self.cache = output.past_key_values
        following: Tensor = output.logits[:, -1].log_softmax(-1)
        return following


def _family(config: Any) -> Any:
    return AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM


def _positions(mask: Tensor) -> Tensor:
    """From the first token that is no padding."""
    return (mask.cumsum(1) - 1).clamp(min=0)
