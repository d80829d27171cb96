"""Texts of many requests are read together, in turn, within bounds."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from factloom.document import Document
from factloom.errors import RequestError
from factloom.serving.batching import Batcher, Outcome
from factloom.serving.metrics import Metrics
from factloom.serving.settings import ServiceSettings


class Reader:
    """Gives documents back; waits before the first batch until it may read."""

    def __init__(self) -> None:
        self.may_read = threading.Event()
        self.batches: list[list[str]] = []

    def __call__(self, documents: list[Document]) -> list[Outcome]:
        self.may_read.wait(10)
        self.batches.append([document.text for document in documents])
        if any(document.text == "fail" for document in documents):
            raise ValueError("the model is broken")
        return list(documents)


def documents(*texts: str) -> list[Document]:
    return [Document(text) for text in texts]


def texts_of(outcomes: list[Outcome]) -> list[str]:
    return [outcome.text for outcome in outcomes if isinstance(outcome, Document)]


def batching(
    work: Callable[[Batcher, Reader], Awaitable[Any]], *, waits: bool = False, **settings: Any
) -> Reader:
    """Do some work with a batcher that is started, and ended behind it."""
    reader = Reader()
    if not waits:
        reader.may_read.set()

    async def run() -> None:
        batcher = Batcher(reader, ServiceSettings(**settings), Metrics())
        batcher.start()
        await work(batcher, reader)
        reader.may_read.set()
        await batcher.close()

    asyncio.run(run())
    return reader


async def later() -> None:
    """Let others come to their turn."""
    for _ in range(5):
        await asyncio.sleep(0.01)


def test_requests_of_the_same_moment_are_one_batch() -> None:
    async def work(batcher: Batcher, _: Reader) -> None:
        found = await asyncio.gather(*(batcher.read(documents(f"{n}")) for n in range(20)))
        assert [texts_of(each) for each in found] == [[f"{n}"] for n in range(20)]

    reader = batching(work, batch_milliseconds=50)
    assert [len(batch) for batch in reader.batches] == [20]


def test_a_request_of_many_texts_does_not_hold_up_those_of_one() -> None:
    async def work(batcher: Batcher, _: Reader) -> None:
        many = batcher.read(documents("a1", "a2", "a3", "a4"))
        found = await asyncio.gather(many, batcher.read(documents("b1", "b2")))
        assert [texts_of(each) for each in found] == [["a1", "a2", "a3", "a4"], ["b1", "b2"]]

    reader = batching(work, batch_characters=6)
    assert reader.batches == [["a1", "b1", "a2"], ["b2", "a3", "a4"]]


def test_a_text_beyond_the_budget_is_read_alone() -> None:
    async def work(batcher: Batcher, _: Reader) -> None:
        await batcher.read(documents("x" * 100, "y"))

    assert batching(work, batch_characters=10).batches == [["x" * 100], ["y"]]


def test_beyond_the_bound_requests_are_refused_with_the_time_to_come_again() -> None:
    async def work(batcher: Batcher, reader: Reader) -> None:
        first = asyncio.create_task(batcher.read(documents("taken at once")))
        await later()
        second = asyncio.create_task(batcher.read(documents("x" * 9)))
        await later()
        with pytest.raises(RequestError) as refused:
            await batcher.read(documents("yy"))
        assert refused.value.code == "service-busy"
        assert refused.value.retry_after >= 1
        reader.may_read.set()
        assert [texts_of(await each) for each in (first, second)] == [["taken at once"], ["x" * 9]]

    batching(work, waits=True, waiting_characters=10)


def test_one_request_larger_than_the_bound_is_read_where_nothing_waits() -> None:
    async def work(batcher: Batcher, _: Reader) -> None:
        assert texts_of(await batcher.read(documents("x" * 50))) == ["x" * 50]

    batching(work, waiting_characters=10)


def test_who_stops_to_wait_takes_texts_back_that_are_not_read_yet() -> None:
    async def work(batcher: Batcher, reader: Reader) -> None:
        first = asyncio.create_task(batcher.read(documents("first")))
        await later()
        given_up = asyncio.create_task(batcher.read(documents("given up")))
        await later()
        assert batcher.waiting == len("given up")
        given_up.cancel()
        await later()
        assert batcher.waiting == 0
        reader.may_read.set()
        await first

    assert batching(work, waits=True).batches == [["first"]]


def test_a_failure_is_that_of_the_requests_of_its_batch_alone() -> None:
    async def work(batcher: Batcher, _: Reader) -> None:
        with pytest.raises(ValueError, match="broken"):
            await batcher.read(documents("fail"))
        assert texts_of(await batcher.read(documents("fine"))) == ["fine"]

    batching(work)


def test_what_was_accepted_is_read_before_the_end_and_nothing_more_is_taken() -> None:
    async def work(batcher: Batcher, reader: Reader) -> None:
        accepted = [asyncio.create_task(batcher.read(documents(f"{n}"))) for n in range(3)]
        await later()
        ending = asyncio.create_task(batcher.close())
        await later()
        with pytest.raises(RequestError) as refused:
            await batcher.read(documents("too late"))
        assert refused.value.code == "service-ending"
        reader.may_read.set()
        await ending
        assert [texts_of(await each) for each in accepted] == [["0"], ["1"], ["2"]]

    batching(work, waits=True)
