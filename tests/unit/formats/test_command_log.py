"""A log of S3 that is written of a session's events: a query, its refinements and what became of each."""

import pytest

from workbench.domain import events as e
from workbench.domain.rows import Session
from workbench.domain.values import Actor
from workbench.formats.command_log import command_log

MODEL, HUMAN = Actor(kind="agent"), Actor(kind="user")
SESSION = Session(id="s", kind="ask", status="completed", workspace="/w", created_at=1, updated_at=9)


def event(number, body, actor=MODEL):
    return e.Event(
        id=f"e{number}", session_id="s", at=number * 1_000_000, actor=actor, body=body, position=number,
        sequence_number=number,
    )  # fmt: skip


def tries(*words):
    """Return the events of a query, then of each refinement of it, with a command for each."""
    numbers = iter(range(1, 100))
    for count, text in enumerate(words, 1):
        yield event(next(numbers), e.PromptSubmitted(text=text), HUMAN)
        yield event(next(numbers), e.ReplyCompleted(text=f"raw {count}"))
        yield event(next(numbers), e.CommandSuggested(command=f"ls {count}", explanation=f"why {count}"))


@pytest.mark.spec(168, 169)
def test_a_refinement_adds_an_iteration_with_its_feedback_and_leaves_the_earlier_ones():
    one = command_log(SESSION, list(tries("list files")))["iterations"]
    two = command_log(SESSION, list(tries("list files", "hidden too")))["iterations"]
    three = command_log(SESSION, list(tries("list files", "hidden too", "by size")))["iterations"]
    assert [iteration["feedback"] for iteration in three] == ["", "hidden too", "by size"]
    assert [iteration["model_output"] for iteration in three] == [
        {"raw_response": f"raw {count}", "command": f"ls {count}", "explanation": f"why {count}"}
        for count in (1, 2, 3)
    ]
    assert [iteration["model_input"]["user_prompt"] for iteration in three] == [
        "list files", "hidden too", "by size",
    ]  # fmt: skip
    assert (three[:2], two[:1]) == (two, one)


@pytest.mark.spec(167, 172)
def test_a_log_without_context_has_its_three_texts_empty_and_is_in_no_tmux():
    log = command_log(SESSION, list(tries("list files")))
    assert log["context_sources"] == {
        "claude_md_content": "", "terminal_context": "", "documentation_context": "",
    }  # fmt: skip
    assert log["metadata"]["tmux_info"] == {"in_tmux": False}
    seen = event(
        50,
        e.ContextCollected(preferences="p", terminal="t", documentation="d", tmux={"in_tmux": True}),
        HUMAN,
    )
    log = command_log(SESSION, [seen, *tries("list files")])
    assert log["context_sources"] == {
        "claude_md_content": "p", "terminal_context": "t", "documentation_context": "d",
    }  # fmt: skip
    assert log["metadata"]["tmux_info"] == {"in_tmux": True}


@pytest.mark.spec(170)
@pytest.mark.parametrize("words", [[], ["a"], ["a", "b", "c"]])
def test_a_log_counts_its_iterations(words):
    log = command_log(SESSION, list(tries(*words)))
    assert log["metadata"]["iteration_count"] == len(log["iterations"]) == len(words)
