"""How full the context is: the provider's count where it can be relied on, else the estimate (C-5, D-5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bibgenie_desktop.compaction.counted import Counted
from bibgenie_desktop.compaction.occupancy import Occupancy, occupancy
from bibgenie_desktop.compaction.projection import project
from bibgenie_desktop.sessions.nodes import Node
from tests.compaction.chats import answer, checkpoint, dialogue, mark, real_usage, user


def tokens_of(node: Node) -> int:
    return Counted().tokens(node)


def measured(path: list[Node], *, draft: str = "", factor: float = 1.0, **checkpoints: Any) -> Occupancy:
    projection = project("system", [], path, checkpoints, draft=draft, counted=Counted())
    return occupancy(path, checkpoints, projection, model="scripted", counted=Counted(), factor=factor)


def estimated(path: list[Node], *, draft: str = "", **checkpoints: Any) -> int:
    return project("system", [], path, checkpoints, draft=draft, counted=Counted()).tokens


@pytest.mark.req("C-5")
def test_the_newest_counted_answer_is_the_base_and_only_what_came_later_is_estimated() -> None:
    later = [user("u3", "word " * 200)]
    path = [*dialogue(1), user("u2"), answer("a2", usage=real_usage(50_000, 300)), *later]
    found = measured(path, draft="a question")
    assert found.anchor_id == "a2"
    assert not found.is_estimate
    draft = project("", [], [], draft="a question").sizes.draft
    assert found.tokens == 50_300 + tokens_of(later[0]) + draft


@pytest.mark.req("C-5")
def test_thinking_that_is_not_sent_again_does_not_count() -> None:
    path = [user("u1"), answer("a1", usage=real_usage(1_000, 900, reasoning_tokens=800))]
    assert measured(path).tokens == 1_100


@pytest.mark.req("C-5", "D-5")
@pytest.mark.parametrize(
    ("usage", "changes"),
    [
        (real_usage(9_000, real=False), {}),
        (real_usage(0), {}),
        (real_usage(9_000), {"stop_reason": "cancelled"}),
        (real_usage(9_000), {"stop_reason": "error"}),
        (real_usage(9_000), {"stop_reason": "interrupted"}),
        (real_usage(9_000), {"stop_reason": "context_full"}),
        (real_usage(9_000), {"model": "another"}),
        (real_usage(9_000, checkpoint_id="c0"), {}),
        (None, {}),
    ],
)
def test_usage_that_cannot_be_relied_on_is_no_base(usage: Any, changes: Any) -> None:
    path = [user("u1"), replace(answer("a1", usage=usage), **changes)]
    found = measured(path)
    assert found.is_estimate
    assert found.tokens == estimated(path)


@pytest.mark.req("C-5")
def test_an_older_answer_is_the_base_where_the_newest_failed() -> None:
    failed = replace(answer("a2", usage=real_usage(99_000)), stop_reason="error")
    path = [user("u1"), answer("a1", usage=real_usage(5_000)), user("u2"), failed]
    found = measured(path)
    assert found.anchor_id == "a1"
    assert found.tokens == 5_010 + tokens_of(path[2]) + tokens_of(failed)


@pytest.mark.req("C-5", "D-5")
def test_after_a_compaction_the_kept_answers_still_carry_the_old_size_and_count_for_nothing() -> None:
    path = [*dialogue(2), user("u3"), answer("a3", usage=real_usage(190_000)), mark("c1")]
    found = measured(path, c1=checkpoint("c1", "u3"))
    assert found.is_estimate
    assert found.tokens == estimated(path, c1=checkpoint("c1", "u3")) < 5_000


@pytest.mark.req("C-5", "D-5")
def test_an_answer_on_the_current_checkpoint_is_a_base_again() -> None:
    usage = real_usage(700, 20, checkpoint_id="c1")
    path = [*dialogue(3), mark("c1"), user("u4"), answer("a4", usage=usage)]
    assert measured(path, c1=checkpoint("c1", "u3")).tokens == 720


@pytest.mark.req("C-5")
def test_a_server_that_cuts_the_request_silently_is_not_believed() -> None:
    path = [*dialogue(10, size=4_000), user("u11"), answer("a11", usage=real_usage(2_048))]
    found = measured(path)
    assert found.is_estimate
    assert found.tokens == estimated(path)


@pytest.mark.req("C-5")
def test_what_was_learned_of_a_model_scales_estimates_and_not_the_base() -> None:
    plain = [user("u1", "word " * 300)]
    assert measured(plain, factor=1.5).tokens == pytest.approx(1.5 * estimated(plain), abs=1)
    path = [user("u1"), answer("a1", usage=real_usage(5_000, 0)), user("u2", "word " * 300)]
    assert measured(path, factor=1.5).tokens - 5_000 == pytest.approx(1.5 * tokens_of(path[2]), abs=1)


@pytest.mark.req("C-5")
def test_a_part_of_the_branch_is_measured_by_the_same_measure_as_the_whole() -> None:
    path = [*dialogue(4, size=2_000), user("u5"), answer("a5", usage=real_usage(3_000, 0))]
    found = measured(path)
    assert found.scaled(estimated(path)) == pytest.approx(3_000, abs=2)
    assert measured(path[:-1]).scaled(100) == 100
