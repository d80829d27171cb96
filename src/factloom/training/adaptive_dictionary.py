"""AdaPU: train on what a dictionary marks, add what is predicted surely, and begin again.

Peng, Xing, Zhang, Fu, Huang: Distantly Supervised Named Entity Recognition using
Positive-Unlabeled Learning, ACL 2019, arXiv 1906.01378, section 3.5.

    OUTPUT/round-01/dictionary.tsv   the names that mark the training texts of this round
                    training/        the training: checkpoints, best, results.json
                    shares.json      part of all words that is predicted with each type
                    proposed.tsv     what the loop proposes to add, left alone
                    entries.tsv      the same, for a person to edit; written last
    OUTPUT/round-02/...
    OUTPUT/best, dictionary.tsv, results.json    of the last round, when all is done

Every round trains a new model. Its priors are those that the recipe gives; those that are to be
estimated are, from the second round on, the parts that the round before has predicted. The loop
ends when nothing is proposed or let pass, or after the last round. A file that is there is
whole, and what is there is not made again: killed at any moment, the loop goes on.
"""

import json
import os
import shutil
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factloom.document import Document
from factloom.errors import InputError, Place, RecipeError
from factloom.models.storage import load
from factloom.text.dictionary import (
    Dictionary,
    TypedName,
    TypedNames,
    mark,
    read_dictionary,
)
from factloom.text.tokens import tokenised_sentences
from factloom.training.checkpoint import CHECKPOINTS, recover_directory, write_directory, write_file
from factloom.training.corpus import read_corpus, recipe_dictionary
from factloom.training.dictionary_growth import (
    Decisions,
    propose,
    read_decisions,
    table_of,
    table_of_entries,
)
from factloom.training.failures import claimed, clear_failures, require_output
from factloom.training.recipe import DictionaryRecipe, Recipe
from factloom.training.run import RESULTS, ROUNDS, train_recipe

KIND = "positive_unlabelled"


@dataclass(frozen=True, slots=True)
class Round:
    """The files of one round."""

    path: Path

    @property
    def dictionary(self) -> Path:
        return self.path / "dictionary.tsv"

    @property
    def training(self) -> Path:
        return self.path / "training"

    @property
    def shares(self) -> Path:
        return self.path / "shares.json"

    @property
    def proposed(self) -> Path:
        return self.path / "proposed.tsv"

    @property
    def entries(self) -> Path:
        return self.path / "entries.tsv"

    @property
    def ended(self) -> bool:
        return self.entries.exists()

    def predicted_shares(self) -> dict[str, float]:
        found: dict[str, float] = json.loads(self.shares.read_text(encoding="utf-8"))
        return found


class AdaptiveDictionary:
    """The loop over a recipe with a dictionary.

    `pause` stops it behind every round, so that a person can edit the round's entries; running
    it again with `resume` goes on.
    """

    def __init__(
        self,
        recipe: Recipe,
        output: Path,
        *,
        resume: bool = False,
        pause: bool = False,
        recipe_name: str = "",
    ) -> None:
        place = Place(file=recipe_name or None)
        if recipe.dictionary is None or recipe.kind != KIND:
            raise RecipeError("cannot-adapt", place, kind=KIND)
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            raise RecipeError("adapts-alone", place)
        require_output(output)
        begun = any(output.glob(ROUNDS))
        if begun and not resume:
            raise InputError("training-exists", Place(file=str(output)))
        if not begun and any((output / name).exists() for name in (CHECKPOINTS, "best")):
            raise InputError("output-of-train", Place(file=str(output)))
        self.recipe = recipe
        self.settings: DictionaryRecipe = recipe.dictionary
        self.output = output
        self.pause = pause
        self.recipe_name = recipe_name
        self.base = recipe_dictionary(self.settings)
        self.rounds = [
            Round(output / f"round-{number:02d}") for number in range(1, self.settings.rounds + 1)
        ]

    def run(self) -> dict[str, Any]:
        """All rounds; what results.json holds. "paused" has the file to edit, if it is one."""
        with clear_failures(self.output), claimed(self.output):
            return self._run_rounds()

    def _run_rounds(self) -> dict[str, Any]:
        done: list[dict[str, Any]] = []
        for number, current in enumerate(self.rounds, 1):
            earlier = self.rounds[: number - 1]
            fresh = not current.ended
            done.append(self._run_round(number, current, earlier))
            if number == len(self.rounds) or not self._changes(current):
                return self._finish(current, done)
            if self.pause and fresh:
                return {"rounds": done, "paused": str(current.entries)}
        raise AssertionError("a recipe has at least one round")

    # --- a round -------------------------------------------------------------------------------

    def _run_round(self, number: int, current: Round, earlier: Sequence[Round]) -> dict[str, Any]:
        dictionary = self._begin(current, earlier)
        if current.ended:
            results = json.loads((current.training / RESULTS).read_text(encoding="utf-8"))
        else:
            recipe = self._recipe_of_round(current, dictionary, earlier)
            results = train_recipe(
                recipe, current.training, resume=True, recipe_name=self.recipe_name
            )
            self._propose(current, dictionary, earlier)
        return {
            "round": number,
            "names": len(dictionary.entries),
            "new": len(self._decisions(current).added),
            "development": results["development"],
            "report": results["report"],
        }

    def _begin(self, current: Round, earlier: Sequence[Round]) -> Dictionary:
        """The dictionary of the round, fixed when it begins: later edits are for the next one."""
        if not current.dictionary.exists():
            added = [entry for before in earlier for entry in self._decisions(before).added]
            vetoed = TypedNames(self._vetoed(earlier), self.settings.case)
            entries = [e for e in (*self.base.entries, *added) if (e.name, e.type) not in vetoed]
            if not entries:
                raise InputError("everything-vetoed", Place(file=str(earlier[-1].entries)))
            current.path.mkdir(parents=True, exist_ok=True)
            write_file(current.dictionary, table_of_entries(entries))
        return self._dictionary(current)

    def _dictionary(self, current: Round) -> Dictionary:
        """A veto may have left nothing of a type that the recipe says something about."""
        bare = read_dictionary([current.dictionary], self.settings.case)
        parts = {kind: part for kind, part in self.settings.parts.items() if kind in bare.types}
        return Dictionary(bare.entries, bare.case, parts)

    def _changes(self, current: Round) -> bool:
        """Whether a further round would have another dictionary than this one."""
        decisions = self._decisions(current)
        vetoed = TypedNames(decisions.vetoed, self.settings.case)
        known = self._dictionary(current).entries
        return bool(decisions.added) or any((e.name, e.type) in vetoed for e in known)

    def _recipe_of_round(
        self, current: Round, dictionary: Dictionary, earlier: Sequence[Round]
    ) -> Recipe:
        """With the dictionary of the round, so that the model tells what it was made from."""
        path = str(current.dictionary).replace("$", "$$")
        files = {"files": [path], "types": {}, "parts": dictionary.parts, "initials": []}
        own = self.recipe.model_copy(update={"dictionary": self.settings.model_copy(update=files)})
        if not earlier:
            return own
        texts = read_corpus(self.recipe).train
        marked = {mention.type for text in texts for mention in mark(text, dictionary).mentions}
        priors = self.recipe.model.get("priors", "estimated")
        if priors == "estimated":
            priors = earlier[-1].predicted_shares()
        known = {kind: share for kind, share in priors.items() if kind in marked}
        return own.model_copy(update={"model": {**self.recipe.model, "priors": known}})

    def _propose(self, current: Round, dictionary: Dictionary, earlier: Sequence[Round]) -> None:
        texts = read_corpus(self.recipe).train
        model = load(current.training / "best")
        predicted = model.predict_training(texts)
        shares = word_shares(predicted)
        labelled = word_shares([mark(text, dictionary) for text in texts])
        known = {kind: max(shares[kind], labelled[kind]) for kind in model.types}
        proposals = propose(
            predicted,
            dictionary,
            self.settings.minimum_count,
            self.settings.agreement,
            self._vetoed(earlier),
        )
        write_file(current.shares, json.dumps(known, indent=2) + "\n")
        write_file(current.proposed, table_of(proposals))
        write_file(current.entries, table_of(proposals))

    def _decisions(self, past: Round) -> Decisions:
        return read_decisions(past.entries, past.proposed, self.settings.case)

    def _vetoed(self, rounds: Sequence[Round]) -> frozenset[TypedName]:
        """All that was ever vetoed."""
        return frozenset().union(*(self._decisions(past).vetoed for past in rounds))

    # --- the end -------------------------------------------------------------------------------

    def _finish(self, last: Round, done: Sequence[dict[str, Any]]) -> dict[str, Any]:
        best, source = self.output / "best", last.training / "best"
        recover_directory(best)
        write_directory(best, lambda path: shutil.copytree(source, path, dirs_exist_ok=True))
        write_file(self.output / last.dictionary.name, last.dictionary.read_text(encoding="utf-8"))
        ending = {name: done[-1][name] for name in ("development", "report")}
        results = {"rounds": list(done), **ending}
        write_file(self.output / RESULTS, json.dumps(results, indent=2) + "\n")
        return results


def word_shares(documents: Sequence[Document]) -> Counter[str]:
    """The part of all words that lies in mentions of each type; 0 for types without mentions."""
    words = 0
    shares: Counter[str] = Counter()
    for document in documents:
        tokens = [token for sentence in tokenised_sentences(document) for token in sentence.tokens]
        words += len(tokens)
        for mention in document.mentions:
            first = bisect_left(tokens, mention.start, key=lambda token: token[0])
            end = bisect_right(tokens, mention.end, key=lambda token: token[1])
            shares[mention.type] += end - first
    return Counter({kind: count / words for kind, count in shares.items()})
