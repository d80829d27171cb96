"""The fact memory against a plain loop, its null fact, and edits."""

import pytest
import torch

from factloom.modules.fact_memory import NULL_FACT, FactGroups, FactMemory

WIDTH, ENTITY = 6, 4


def facts(*groups: tuple[int, int, tuple[int, ...]]) -> FactGroups:
    most = max((len(objects) for _, _, objects in groups), default=1)
    objects = torch.zeros(len(groups), most, dtype=torch.long)
    mask = torch.zeros(len(groups), most, dtype=torch.bool)
    for row, (_, _, told) in enumerate(groups):
        objects[row, : len(told)], mask[row, : len(told)] = torch.tensor(told), True
    parts = [torch.tensor([group[n] for group in groups], dtype=torch.long) for n in (0, 1)]
    return FactGroups(parts[0], parts[1], objects, mask)


@pytest.fixture
def memory() -> FactMemory:
    torch.manual_seed(0)
    return FactMemory(WIDTH, ENTITY)


def tensors() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(1)
    return torch.randn(3, 2 * WIDTH), torch.randn(6, ENTITY), torch.randn(2, ENTITY)


@pytest.mark.parametrize("most", [None, 1, 2, 9])
def test_the_memory_is_the_loop(memory: FactMemory, most: int | None) -> None:
    ends, entities, relations = tensors()
    told = ((0, 0, (1, 2)), (0, 1, (3,)), (4, 0, (5, 0, 1)))
    found = memory(ends, facts(*told), entities, relations, most)
    for row, end in enumerate(ends):
        query, choice, context = memory.query(end), memory.choice(end), memory.context(end)
        scored = []
        for subject, relation, objects in told:
            key = memory.key(torch.cat([entities[subject], relations[relation]]))
            weights = torch.softmax(torch.stack([entities[o] @ choice for o in objects]), 0)
            value = sum(w * entities[o] for w, o in zip(weights, objects, strict=True))
            scored.append((key @ query, value))
        kept = sorted(scored, key=lambda pair: -float(pair[0].detach()))[:most]
        null = memory.null_key @ query
        beta = torch.softmax(torch.stack([null, *(score for score, _ in kept)]), 0)
        fact = sum(b * v for b, (_, v) in zip(beta[1:], kept, strict=True)) / (1 - beta[0])
        torch.testing.assert_close(found.null[row], beta[0])
        mixed = beta[0] * context + (1 - beta[0]) * fact
        torch.testing.assert_close(found.answer[row], mixed)
    assert (found.groups[:, 0] == NULL_FACT).all()


def test_without_facts_the_text_alone_answers(memory: FactMemory) -> None:
    ends, entities, relations = tensors()
    found = memory(ends, facts(), entities, relations)
    assert torch.equal(found.null, torch.ones(3))
    torch.testing.assert_close(found.answer, found.context)


def test_every_weight_gets_a_gradient(memory: FactMemory) -> None:
    ends, entities, relations = tensors()
    memory(ends, facts((0, 0, (1, 2)), (1, 1, (3,))), entities, relations).answer.sum().backward()
    assert all(weights.grad.abs().sum() > 0 for weights in memory.parameters())


def test_another_object_of_a_group_is_another_answer(memory: FactMemory) -> None:
    ends, entities, relations = tensors()
    with torch.no_grad():
        memory.null_key -= 100 * memory.query(ends[0])  # the facts are asked
        for told in (1, 5):
            found = memory(ends[:1], facts((0, 0, (told,))), entities, relations)
            torch.testing.assert_close(found.answer[0], entities[told])


def test_what_speaks_of_a_subject_and_a_relation_finds_their_facts_untrained() -> None:
    torch.manual_seed(0)
    memory = FactMemory(ENTITY, ENTITY)
    entities, relations = torch.eye(ENTITY)[:3], torch.eye(ENTITY)[3:]
    told = facts((0, 0, (1,)), (1, 0, (2,)), (2, 0, (0,)))
    of_the_second = (entities[1] + relations[0]).repeat(2)[None]  # (1, 2 width)
    found = memory(of_the_second, told, entities, relations)
    assert int(found.groups[0, 1]) == 1  # the best
