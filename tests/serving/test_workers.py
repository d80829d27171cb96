"""Threads, turns and locks: what waits is bounded, and nobody sees half a change."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from factloom.errors import RequestError
from factloom.serving.workers import SharedLock, Turns, Workers


def test_work_beyond_the_bound_is_refused_and_there_is_room_again() -> None:
    async def run() -> None:
        workers, may_end = Workers("the store", 1, 1), threading.Event()
        begun = [asyncio.create_task(workers.run(lambda: may_end.wait(10))) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(RequestError, match="too much waits for the store"):
            await workers.run(lambda: True)
        may_end.set()
        assert await asyncio.gather(*begun) == [True, True]
        assert await workers.run(lambda: 7) == 7
        workers.close()

    asyncio.run(run())


def test_work_that_nobody_waits_for_is_not_begun() -> None:
    async def run() -> None:
        workers, may_end, done = Workers("the store", 1, 9), threading.Event(), []
        first = asyncio.create_task(workers.run(lambda: may_end.wait(10)))
        second = asyncio.create_task(workers.run(lambda: done.append(True)))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        may_end.set()
        await first
        workers.close()
        assert done == []

    asyncio.run(run())


def test_turns_are_taken_and_refused_beyond_the_bound() -> None:
    async def run() -> None:
        turns, may_end = Turns("files", 1, 1), asyncio.Event()
        inside = []

        async def visit(name: str) -> None:
            async with turns.turn():
                inside.append(name)
                await may_end.wait()

        visits = [asyncio.create_task(visit(name)) for name in "ab"]
        await asyncio.sleep(0.01)
        assert inside == ["a"]
        with pytest.raises(RequestError, match="files"):
            await visit("c")
        may_end.set()
        await asyncio.gather(*visits)
        assert inside == ["a", "b"]
        await visit("d")

    asyncio.run(run())


def test_readers_share_and_a_writer_is_alone() -> None:
    lock, seen = SharedLock(), []
    value = [0, 0]

    def read() -> None:
        for _ in range(200):
            with lock.shared():
                seen.append(value[0] == value[1])

    def write() -> None:
        for number in range(200):
            with lock.alone():
                value[0] = number
                value[1] = number

    with ThreadPoolExecutor(4) as pool:
        for work in (read, write, read, write):
            pool.submit(work)
    assert len(seen) == 400
    assert all(seen)


def test_two_readers_are_inside_together() -> None:
    lock, both = SharedLock(), threading.Barrier(2, timeout=10)

    def read() -> int:
        with lock.shared():
            return both.wait()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(lambda _: read(), range(2))) == [0, 1]


def test_a_writer_comes_before_readers_that_come_later() -> None:
    lock, order = SharedLock(), []
    inside, may_leave = threading.Event(), threading.Event()

    def first() -> None:
        with lock.shared():
            inside.set()
            may_leave.wait(10)

    def write() -> None:
        with lock.alone():
            order.append("write")

    def read() -> None:
        with lock.shared():
            order.append("read")

    with ThreadPoolExecutor(3) as pool:
        pool.submit(first)
        inside.wait(10)
        pool.submit(write)
        while not lock._want_alone:
            pass
        pool.submit(read)
        may_leave.set()
    assert order == ["write", "read"]
