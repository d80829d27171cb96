"""What pretraining costs here, and with the collators and the `Trainer` of transformers.

    python benchmarks/pretrain.py                        # tokens a second, one JSON line
    python benchmarks/pretrain.py --memory 10,100        # MB of text: peaks of fresh processes

The same small network from nothing, the same texts, batch, optimizer and one thread, in turn within
each round. Counted are tokens of the text, without special ones, padding and queries; seconds are
those that the process has computed, so that other work on the machine weighs less. Ratios are
medians of those within a round: `speed` factloom over transformers, `cost` a step of factloom's
trainer over a plain loop around the same network on batches that are there already.

    masked        15 % of the tokens          DataCollatorForLanguageModeling, BertForMaskedLM
    span          SpanBERT                    the same with whole_word_mask: the nearest it has
    replaced      ELECTRA                     the first collator, ElectraForMaskedLM and
                                              ElectraForPreTraining joined by hand
    permutation   XLNet, two streams as rows  DataCollatorForPermutationLanguageModeling and
                                              XLNetLMHeadModel, a network with other attention
    short         masked, lines as documents  DataCollatorForLanguageModeling, a line a row, padded

With --memory a text of that size is made of the plain text again and again, tokenised, and windows
of it are drawn; the peak of a process that does nothing else is told in MB. `--tokens` writes the
tokens of such a text straight to the disk instead, to measure the drawing of windows alone.
"""

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import (
    AutoModelForMaskedLM,
    DataCollatorForLanguageModeling,
    DataCollatorForPermutationLanguageModeling,
    ElectraConfig,
    ElectraForMaskedLM,
    ElectraForPreTraining,
    TrainerCallback,
    TrainingArguments,
    XLNetConfig,
    XLNetLMHeadModel,
)
from transformers import Trainer as TheirTrainer

from factloom.encoders.new_encoder import new_encoder
from factloom.files.data_path import data_path
from factloom.objectives import Stretch, objective_settings
from factloom.objectives.corpus import (
    ABOUT,
    DOCUMENTS,
    MARKS,
    TOKENS,
    VERSION,
    WORD,
    Corpus,
    TextReading,
)
from factloom.objectives.electra import Electra
from factloom.objectives.network import Network
from factloom.objectives.packing import Examples, Part, TextExample, Windows
from factloom.objectives.pretraining import Pretraining
from factloom.training.optimization import adamw
from factloom.training.plugin import Plugin
from factloom.training.settings import TrainingSettings
from factloom.training.sources import PassesOfStream
from factloom.training.step import Step
from factloom.training.trainer import Trainer

KINDS = {
    "masked": "masked",
    "span": "spanbert",
    "replaced": "electra",
    "permutation": "xlnet",
    "short": "masked",
}
TEXT = "$FACTLOOM_DATA/plain_text/wikitext2.valid.txt.gz"
WARM = 2  # steps before the clock starts


@dataclass
class Clock:
    """Computing seconds of each step, from the end of one to that of the next."""

    ends: list[float] = field(default_factory=list)

    def tick(self) -> None:
        self.ends.append(time.process_time())

    def seconds(self) -> float:
        return (self.ends[-1] - self.ends[WARM - 1]) / (len(self.ends) - WARM)


class OurClock(Plugin):
    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def after_step(self, trainer: Trainer, step: Step) -> None:  # noqa: ARG002
        self.clock.tick()


class TheirClock(TrainerCallback):
    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.clock.tick()


class Bench:
    """One objective: a model, its examples, and the same texts for the others."""

    def __init__(self, name: str, arguments: argparse.Namespace, folder: Path) -> None:
        self.name, self.arguments, self.folder = name, arguments, folder
        self.model = self.pretraining()
        network = self.model.network
        reading = TextReading(division="line" if name == "short" else "file")
        text = folder / reading.division
        corpus = Corpus.build([data_path(arguments.text)], network.encoder, text, reading, print)
        window, slots = arguments.window, self.model.objective.slots
        self.ours = self.examples(Windows(corpus, slots, window, packed=True))
        # as many tokens as a window has room for; what is short stays alone and is padded
        theirs = self.examples(Windows(corpus, lambda tokens: tokens + 2, window, packed=False))
        count = arguments.batch * (arguments.steps + WARM)
        stretches = [theirs.make(number).stretches[0] for number in range(count)]
        self.theirs = [self.row(stretch) for stretch in stretches]

    def row(self, stretch: Stretch) -> dict[str, Any]:
        """A text as their collators take it."""
        ids = self.model.vocabulary.around(stretch.ids)
        if self.name == "permutation":  # its collator takes even lengths alone
            ids = ids[: len(ids) // 2 * 2]
        if self.name != "span":
            return {"input_ids": ids}
        # words are told by a gap in front of them
        ends = np.cumsum(1 + (stretch.marks & WORD > 0))
        inner = np.stack([ends - 1, ends], axis=1)
        return {"input_ids": ids, "offset_mapping": np.pad(inner, ((1, 1), (0, 0)))}

    def pretraining(self) -> Pretraining:
        arguments = self.arguments
        torch.manual_seed(42)
        encoder = new_encoder(
            arguments.encoder,
            layers=arguments.layers,
            width=arguments.width,
            heads=arguments.heads,
            window=arguments.window,
            positions=arguments.window,
            overlap=0,
        )
        kind = KINDS[self.name]
        return Pretraining(Network(encoder), kind, objective_settings(kind)())

    def examples(self, windows: Windows) -> Examples:
        return Examples([Part.whole(windows)], [1.0], pairs=False, seed=42)

    def settings(self) -> TrainingSettings:
        steps, batch = self.arguments.steps + WARM, self.arguments.batch
        return TrainingSettings(
            steps=steps,
            batch_size=batch,
            learning_rates={"": 1e-4},
            validate_every_steps=2**30,
            log_every=2**30,
        )

    # --- what is measured: tokens of the text, and seconds, of a step --------------------------

    def by_factloom(self) -> tuple[float, float]:
        clock, model = Clock(), self.pretraining()
        source = PassesOfStream(self.ours.make, len(self.ours), "benchmark")
        with tempfile.TemporaryDirectory() as output:
            Timed(model, source, self.settings(), output, plugins=[OurClock(clock)]).train()
        (steps,) = [list(source.steps(0, self.arguments.batch, 42))[WARM:]]
        taken = steps[: self.arguments.steps]
        tokens = [sum(text_tokens(self.ours.make(n)) for n in step) for step in taken]
        return statistics.mean(tokens), clock.seconds()

    def by_plain_loop(self) -> float:
        """The same network on batches that are there already."""
        clock, model, settings = Clock(), self.pretraining().train(), self.settings()
        size, count = self.arguments.batch, self.arguments.steps + WARM
        batches = [
            model.collate([self.ours.make(n) for n in range(step * size, (step + 1) * size)])
            for step in range(count)
        ]
        optimizer = adamw(model, settings, torch.device("cpu"))
        for batch in batches:
            model(batch).loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            clock.tick()
        return clock.seconds()

    def by_transformers(self) -> tuple[float, float]:
        clock, batch, steps = Clock(), self.arguments.batch, self.arguments.steps + WARM
        with tempfile.TemporaryDirectory() as output:
            settings = TrainingArguments(
                output,
                per_device_train_batch_size=batch,
                max_steps=steps,
                learning_rate=1e-4,
                use_cpu=True,
                save_strategy="no",
                logging_strategy="no",
                report_to=[],
                disable_tqdm=True,
                remove_unused_columns=False,
            )
            TheirTrainer(
                model=self.their_network(),
                args=settings,
                train_dataset=self.theirs,
                data_collator=self.their_collator(),
                callbacks=[TheirClock(clock)],
            ).train()
        tokens = sum(len(row["input_ids"]) - 2 for row in self.theirs)
        return tokens / steps, clock.seconds()

    def their_collator(self) -> Callable[[Any], Any]:
        tokenizer = self.model.network.encoder.tokenizer
        if self.name == "permutation":
            return DataCollatorForPermutationLanguageModeling(tokenizer)
        if self.name == "replaced":
            return DataCollatorForLanguageModeling(
                tokenizer, mask_replace_prob=1.0, random_replace_prob=0.0
            )
        return DataCollatorForLanguageModeling(tokenizer, whole_word_mask=self.name == "span")

    def their_network(self) -> nn.Module:
        ours: Any = self.model.network.encoder.backbone
        sizes = ours.config
        if self.name == "permutation":
            return XLNetLMHeadModel(
                XLNetConfig(
                    vocab_size=sizes.vocab_size,
                    d_model=sizes.hidden_size,
                    n_layer=sizes.num_hidden_layers,
                    n_head=sizes.num_attention_heads,
                    d_inner=sizes.intermediate_size,
                )
            )
        if self.name == "replaced":
            return JoinedElectra(self.model)
        saved = self.folder / "network"
        self.model.network.save(saved)
        network: nn.Module = AutoModelForMaskedLM.from_pretrained(saved)
        return network

    def measured(self) -> dict[str, float]:
        rounds = [self.round() for _ in range(self.arguments.rounds)]
        return {key: round(statistics.median(r[key] for r in rounds), 3) for key in rounds[0]}

    def round(self) -> dict[str, float]:
        tokens, seconds = self.by_factloom()
        their_tokens, their_seconds = self.by_transformers()
        return {
            "tokens_per_second": tokens / seconds,
            "transformers": their_tokens / their_seconds,
            "speed": tokens / seconds / (their_tokens / their_seconds),
            "cost": seconds / self.by_plain_loop(),
        }


class Timed(Trainer):
    """Keeps nothing: only steps are measured."""

    def _save_checkpoint(self) -> None:
        pass

    def _save_best(self) -> None:
        pass


class JoinedElectra(nn.Module):
    """ELECTRA's two networks, of the sizes of ours, as one model for their trainer."""

    def __init__(self, ours: Pretraining) -> None:
        super().__init__()
        assert isinstance(ours.objective, Electra)
        reader: Any = ours.network.encoder.backbone
        sizes, small = reader.config, ours.objective.generator.encoder.backbone
        self.generator = ElectraForMaskedLM(small.config)
        self.discriminator = ElectraForPreTraining(
            ElectraConfig(
                vocab_size=sizes.vocab_size,
                embedding_size=sizes.hidden_size,
                hidden_size=sizes.hidden_size,
                num_hidden_layers=sizes.num_hidden_layers,
                num_attention_heads=sizes.num_attention_heads,
                intermediate_size=sizes.intermediate_size,
                attention_probs_dropout_prob=0.0,
            )
        )
        self.generator.electra.embeddings = self.discriminator.electra.embeddings

    def forward(self, input_ids: Tensor, labels: Tensor, attention_mask: Tensor) -> dict[str, Any]:
        said = self.generator(input_ids, attention_mask=attention_mask, labels=labels)
        asked = labels != -100
        drawn = torch.multinomial(said.logits[asked].detach().softmax(-1), 1)[:, 0]
        shown = input_ids.masked_scatter(asked, drawn)
        replaced = torch.zeros_like(input_ids).masked_scatter(asked, (drawn != labels[asked]) * 1)
        found = self.discriminator(shown, attention_mask=attention_mask, labels=replaced)
        return {"loss": said.loss + 50 * found.loss}


def text_tokens(example: TextExample) -> int:
    return sum(len(stretch.ids) for stretch in example.stretches)


# --- memory --------------------------------------------------------------------------------------


def peaks(sizes: Sequence[int], arguments: argparse.Namespace, mode: str) -> dict[str, Any]:
    """Of a process for each size."""
    found = {}
    for size in sizes:
        command = [sys.executable, __file__, "--peak", f"{mode},{size}"]
        command += ["--window", str(arguments.window), "--encoder", arguments.encoder]
        answer = subprocess.run(command, check=True, capture_output=True, text=True)
        found[str(size)] = json.loads(answer.stdout.splitlines()[-1])
    return found


def peak(mode: str, size: int, arguments: argparse.Namespace) -> dict[str, float]:
    """MB at most, of a process that makes tokens of a text and draws windows of them."""
    arguments.layers, arguments.width, arguments.heads = 1, 16, 1
    model = Bench.pretraining(_named("masked", arguments))
    started, most = time.process_time(), MostMemory()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = most.so_far()
        if mode == "text":
            make_text(folder / "text.txt", size)
            paths = [str(folder / "text.txt")]
            reading = TextReading(division="line")
            corpus = Corpus.build(paths, model.network.encoder, folder / "t", reading, print)
        else:
            corpus = make_tokens(folder / "t", size)
        tokenised = most.so_far()
        windows = Windows(corpus, model.objective.slots, arguments.window, packed=True)
        examples = Examples([Part.whole(windows)], [1.0], pairs=False, seed=42)
        for first in range(0, 2000, 8):
            model.collate([examples.make(number) for number in range(first, first + 8)])
        return {
            "tokens": len(corpus.ids),
            "windows": len(windows),
            "before": round(before, 1),
            "tokenised": round(tokenised, 1),
            "drawn": round(most.so_far(), 1),
            "seconds": round(time.process_time() - started, 1),
        }


def _named(name: str, arguments: argparse.Namespace) -> Any:
    """A bench without its texts."""
    bench = object.__new__(Bench)
    bench.name, bench.arguments = name, arguments
    return bench


class MostMemory:
    """The most memory of this process, looked at a hundred times a second, without the pages of
    files that are mapped, which the system takes back when it needs them."""

    def __init__(self) -> None:
        self.most = 0.0
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while True:
            self.so_far()
            time.sleep(0.01)

    def so_far(self) -> float:
        """In MB."""
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        kept = next(line for line in status.splitlines() if line.startswith("RssAnon"))
        self.most = max(self.most, int(kept.split()[1]) / 1024)
        return self.most


def make_text(path: Path, megabytes: int) -> None:
    """The plain text again and again."""
    text = gzip.decompress(Path(data_path(TEXT)).read_bytes())
    with path.open("wb") as out:
        while out.tell() < megabytes * 10**6:
            out.write(text)


def make_tokens(folder: Path, megabytes: int) -> Corpus:
    """Tokens as of a text of that size, 4.4 bytes a token and 80 tokens a document."""
    folder.mkdir()
    count, at_once = round(megabytes * 10**6 / 4.4), 2**20
    chance = np.random.default_rng(0)
    with (folder / TOKENS).open("wb") as tokens, (folder / MARKS).open("wb") as marks:
        for start in range(0, count, at_once):
            length = min(at_once, count - start)
            tokens.write(chance.integers(1000, 30000, length).astype(np.uint16).tobytes())
            marks.write(np.ones(length, np.uint8).tobytes())
    with (folder / DOCUMENTS).open("wb") as documents:
        for start in range(0, count, 80 * at_once):
            stop = min(start + 80 * at_once, count)
            documents.write(np.arange(start, stop, 80, dtype=np.int64).tobytes())
        documents.write(np.asarray([count], np.int64).tobytes())
    about = {"version": VERSION, "numbers": "uint16", "fingerprint": ""}
    (folder / ABOUT).write_text(json.dumps(about), encoding="utf-8")
    return Corpus.open(folder)


def main() -> None:
    arguments = parse_arguments()
    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if arguments.peak:
        mode, size = arguments.peak.split(",")
        print(json.dumps(peak(mode, int(size), arguments)))
        return
    result: dict[str, Any] = {}
    for mode, sizes in (("text", arguments.memory), ("tokens", arguments.tokens)):
        if sizes:
            result[mode] = peaks([int(size) for size in sizes.split(",")], arguments, mode)
    if not result:
        names = ("layers", "width", "window", "batch", "steps", "rounds")
        result = {name: getattr(arguments, name) for name in names}
        with tempfile.TemporaryDirectory() as folder:
            for name in arguments.only or KINDS:
                result[name] = Bench(name, arguments, Path(folder)).measured()
                print(name, result[name], file=sys.stderr, flush=True)
    print(json.dumps(result))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=KINDS)
    parser.add_argument("--text", default=TEXT)
    parser.add_argument("--encoder", default="all-MiniLM-L6-v2", help="whose tokenizer is taken")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--window", type=int, default=128)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", help="MB of texts, such as 10,100")
    parser.add_argument("--tokens", help="MB of texts whose tokens are made up")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
