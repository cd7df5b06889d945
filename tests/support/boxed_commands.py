"""Commands inside and outside the sandbox as a journal records them, without any sandbox on the machine."""

from workbench.domain import events as e
from workbench.domain.values import (
    OUTSIDE,
    PLACED_RULES,
    SANDBOX_SPEAKER,
    SYSTEM_SESSION,
    Actor,
    GateVerdict,
    SandboxRefusal,
    SandboxUse,
)
from workbench.host.old_rules import RULE_CHOICES

HOST = Actor(kind="host", pid=4000)
MINUTE = 60_000_000
INSIDE = SandboxUse(level="workspace", backend="bubblewrap")
NEEDS_NETWORK = "it needs the network (pypi.org); the sandbox refused to reach pypi.org:443"
REFUSED = (
    SandboxRefusal(kind="network", target="pypi.org:443"),
    SandboxRefusal(kind="write", target="/etc/hosts"),
)


def ran(
    journal,
    session,
    command,
    *,
    place="inside",
    refusals=(),
    by=SANDBOX_SPEAKER,
    rule=None,
    output="",
    failed=False,
):
    """Record a command that ran without a question."""
    verdict = GateVerdict(
        outcome="allowed", step="grants", by=by, rule=rule, place=place,
        reason="it runs inside the sandbox: it can write only in the workspace, and has no network",
    )  # fmt: skip
    use = INSIDE if place == "inside" else OUTSIDE
    bodies = [
        _proposed(command, verdict),
        e.CallExecuting(sandbox=use),
        *([e.SandboxRefused(refusals=refusals)] if refusals else []),
        e.CallFinished(
            state="failed" if failed else "succeeded", preview=output, output_bytes=len(output),
            exit_code=int(failed), duration_ms=410,
        ),
    ]  # fmt: skip
    _append(journal, session, bodies)


def asks(journal, session, command, *, place="inside", level="workspace", reason="", minutes=12):
    """Record a command that waits for an answer; return the id of its action."""
    now, call = journal.now(), _next_call(journal, session)
    action = f"action-{call}"
    verdict = GateVerdict(outcome="ask", step="ask", by="default", reason=reason, place=place)
    opened = e.ActionOpened(
        action_kind="tool", tool="run_in_terminal", target=command, digest=call.rjust(64, "0"), created_at=now,
        expires_at=now + minutes * MINUTE, verb="run", cwd="/workspace/shop", parameters={"command": command},
        place=place, level=level,
    )  # fmt: skip
    turn = journal.session(session).open_turn or "boxed"
    journal.append(
        [
            journal.event(_proposed(command, verdict), session, HOST, turn_id=turn, call_id=call),
            journal.event(opened, session, HOST, turn_id=turn, call_id=call, action_id=action),
        ],
        strict=False,
    )
    return action


def morning(journal, session):
    """Record what the pictures of the sandbox show: two commands that ran, three that ask."""
    ran(journal, session, "pytest -q tests/test_router.py", output="3 passed in 0.41s\n")
    ran(
        journal, session, "pip install -r requirements.txt", refusals=REFUSED, rule="R2", by="R2", failed=True,
        output="ERROR: Could not find a version that satisfies the requirement requests\n",
    )  # fmt: skip
    return (
        asks(journal, session, "make check", minutes=11),
        asks(journal, session, "pip install -r requirements.txt", place="outside", reason=NEEDS_NETWORK),
        asks(journal, session, "docker compose up -d", place="outside", level=None, minutes=13),
    )


def _proposed(command, verdict):
    return e.CallProposed(
        tool="run_in_terminal", verdict=verdict, target=command, parameters={"command": command},
        cwd="/workspace/shop",
    )  # fmt: skip


def _append(journal, session, bodies):
    call = _next_call(journal, session)
    turn = journal.session(session).open_turn or "boxed"
    journal.append(
        [journal.event(body, session, HOST, turn_id=turn, call_id=call) for body in bodies], strict=False
    )


def _next_call(journal, session):
    return f"boxed-{len(journal.calls(session)) + 1:02}"


def asks_about_rules(journal):
    """Record the question where the commands of rules run that were saved before there was a sandbox."""
    rules = (
        ("R1", "Bash(grep *)", "", "inside"), ("R3", "Bash(npm ci)", "needs the network", "outside"),
        ("R4", "Bash(git commit *)", "writes into .git", "outside"), ("R7", "Bash(pytest *)", "", "inside"),
    )  # fmt: skip
    listed = "\n".join(f"  {rule} {pattern}: {place}" for rule, pattern, _, place in rules)
    now, call = journal.now(), journal.clock.new_id()
    opened = e.ActionOpened(
        action_kind="question", tool=None, target="rules and the sandbox", digest="1" * 64, created_at=now,
        expires_at=None, verb="ask", cwd="/workspace/shop", choices=RULE_CHOICES,
        prompt=f"Commands that rules allow now run inside the sandbox. These rules were saved before.\n{listed}\n"
        "A rule that stays inside asks where its command cannot work there.",
        subject={
            PLACED_RULES: [
                {"rule": rule, "pattern": pattern, "needs": needs, "proposed": place}
                for rule, pattern, needs, place in rules
            ]
        },
    )  # fmt: skip
    event = journal.event(opened, SYSTEM_SESSION, Actor(kind="system", pid=4000), action_id=call)
    journal.append([event], strict=False)
    return call
