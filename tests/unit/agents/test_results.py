"""The words a model reads about each end of a call."""

import pytest

from tests.support.tables import each_row
from tests.unit.agents.turn_script import (
    CALLING,
    approved,
    asked,
    executing,
    expired,
    finished,
    proposed,
    rejected,
    reply,
    state_of,
    taken,
)
from workbench.agents.prompt import call_result

ASKED = [*CALLING, reply("c1"), *asked("c1")]
RUNNING = [*ASKED, approved("c1"), executing("c1")]


def ran(state, **facts):
    return [*RUNNING, finished("c1", state, **facts)]


def chosen(*, reason=None, selection=None, edited=None, **facts):
    said = approved("c1", selection, edited, reason)
    return [*ASKED, said, executing("c1"), finished("c1", **facts)]


LOOK = "Look at the present state before you do it again."

ROWS = [
    ("succeeded", ran("succeeded"), "42 lines", ("42 lines", "succeeded")),
    ("said nothing", ran("succeeded", summary="wrote app.py"), "", ("wrote app.py", "succeeded")),
    ("said nothing at all", ran("succeeded"), "", ("Done; there was no output.", "succeeded")),
    (
        "found done after a crash",
        ran("succeeded", detail="recovered"),
        "ok",
        ("The program had stopped; the files show that it was done.\nok", "succeeded"),
    ),
    (
        "hunks left",
        chosen(reason="too wide", hunks_taken=(1, 3), hunks_left=(2,)),
        "",
        ("Partly applied: hunks 1 and 3 applied, 2 refused: too wide.", "partial"),
    ),
    (
        "hunks left without a reason",
        chosen(hunks_taken=(4,), hunks_left=(1, 2, 3)),
        "wrote app.py",
        ("Partly applied: hunk 4 applied, 1, 2 and 3 refused.\nwrote app.py", "partial"),
    ),
    (
        "nothing taken",
        chosen(hunks_left=(1,)),
        "",
        ("Partly applied: hunk 1 refused.", "partial"),
    ),
    (
        "lines of a hunk",
        chosen(selection=(taken(1), taken(2, 1, 4)), hunks_taken=(1, 2), hunks_left=(3,)),
        "",
        (
            "Partly applied: hunks 1 and 2 applied, 3 refused, of hunk 2 only changed lines 1 and 4 applied.",
            "partial",
        ),
    ),
    (
        "edited",
        chosen(edited={"app.py": "sealed:1"}, reason="shorter"),
        "",
        (
            "Applied in part: the human changed the proposal before approving it: shorter. "
            "Read what is there before you build on it.",
            "partial",
        ),
    ),
    ("every hunk chosen", chosen(selection=(taken(1),), hunks_taken=(1,)), "ok", ("ok", "succeeded")),
    ("failed", ran("failed", exit_code=2), "no such file", ("Failed (exit code 2).\nno such file", "failed")),
    ("timed out", ran("failed", detail="timeout", error="ran for 60 s"), "", ("Failed (timeout): ran for 60 s.", "failed")),
    ("rejected", [*ASKED, rejected("c1", "use tabs")], "", ("Rejected by the human: use tabs. Nothing was done.", "rejected")),
    (
        "rejected without a reason",
        [*ASKED, rejected("c1")],
        "",
        ("Rejected by the human, without a reason. Nothing was done.", "rejected"),
    ),
    ("expired", [*ASKED, expired("c1")], "", ("Expired: nobody answered in time; nothing was done.", "expired")),
    (
        "denied",
        [*CALLING, reply("c1"), proposed("c1", "denied", by="config.json:12", reason="Bash(rm *)")],
        "",
        ("Denied by config.json:12: Bash(rm *). Nothing was done.", "denied"),
    ),
    (
        "refused",
        [*CALLING, reply("c1"), proposed("c1", "refused", by="paths", reason="it leaves the workspace.")],
        "",
        ("Refused by paths: it leaves the workspace. Nothing was done.", "refused"),
    ),
    (
        "stale",
        [*ASKED, approved("c1"), finished("c1", "cancelled", detail="stale", error="app.py")],
        "",
        (
            "Cancelled: what it was computed from changed in the meantime (stale). Nothing was done.\napp.py.",
            "cancelled",
        ),
    ),
    (
        "lapsed",
        [*ASKED, approved("c1"), finished("c1", "cancelled", detail="lapsed")],
        "",
        ("Cancelled: it was approved but could not begin in time (lapsed). Nothing was done.", "cancelled"),
    ),
    (
        "a stricter verdict at execution",
        [*ASKED, approved("c1"), finished("c1", "cancelled", error="denied by R3")],
        "",
        ("Cancelled: denied by R3. Nothing was done.", "cancelled"),
    ),
    (
        "stopped while it ran",
        ran("cancelled", detail="interrupted by the user"),
        "half",
        (f"Stopped while it ran (interrupted by the user): what it did until then stays. {LOOK}\nhalf", "cancelled"),
    ),
    (
        "nothing written",
        ran("interrupted", detail="nothing written"),
        "",
        ("Interrupted: the program stopped before anything was written.", "interrupted"),
    ),
    (
        "rolled back",
        ran("interrupted", detail="rolled back", error="left alone: b.py"),
        "",
        (
            "Interrupted: the program stopped midway; what it had written was put back (rolled back).\n"
            "left alone: b.py.",
            "interrupted",
        ),
    ),
    (
        "outcome unknown",
        ran("interrupted", detail="outcome unknown"),
        "",
        (f"Interrupted: the program stopped while it ran, and its outcome is unknown. {LOOK}", "interrupted"),
    ),
    (
        "outcome unknown, with what it had printed",
        ran("interrupted", detail="outcome unknown", error="look first", preview="line 17\n"),
        "line 17\n",
        (
            f"Interrupted: the program stopped while it ran, and its outcome is unknown. {LOOK}\n"
            "look first.\nIts output so far:\nline 17\n",
            "interrupted",
        ),
    ),
    (
        "its turn ended while it ran",
        RUNNING,
        "",
        (f"Interrupted: the program stopped while it ran, and its outcome is unknown. {LOOK}", "interrupted"),
    ),
    ("its turn ended before", ASKED, "", ("Cancelled: the turn ended before it began. Nothing was done.", "cancelled")),
]  # fmt: skip


@each_row(("script", "output", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_what_the_model_is_told(script, output, expected):
    assert call_result(state_of(script).calls[0], output) == expected


@pytest.mark.spec(28)
def test_a_rejection_is_returned_to_the_model_with_the_humans_reason():
    text, outcome = call_result(state_of(ASKED, rejected("c1", "no network here")).calls[0])
    assert outcome == "rejected"
    assert "no network here" in text
    assert "Nothing was done" in text


@pytest.mark.parametrize("state", ["cancelled", "interrupted", "failed"])
def test_what_may_have_happened_is_never_called_nothing(state):
    for detail in ("", "stale", "lapsed", "outcome unknown"):
        text, _ = call_result(state_of(ran(state, detail=detail)).calls[0])
        assert "nothing was done" not in text.lower()
