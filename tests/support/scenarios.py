"""Small sessions that crash tests play: what the model says, what is on disk, what the human does.

The human is a function of what the journal says, so that one who comes after a crash does the same as the
one before. Every scenario ends by itself when nobody dies.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.support.stage import USER, call, exchange, recording, text
from workbench.changes.diff import FileChange
from workbench.domain import events
from workbench.domain.values import ToolDescriptor, ToolExample
from workbench.host import driver_context, session_requests, undo, workspace_trust
from workbench.journal.decisions import expire_due_actions
from workbench.tools.execution import RunInTerminal
from workbench.tools.file_edit import CreateFile, ReplaceString
from workbench.tools.file_move import DeleteFile, MoveFile
from workbench.tools.file_read import ReadFile
from workbench.tools.registry import ToolRegistry

WINDOW = 15 * 60
RAN = "ran.log"
"""Where every command leaves a line, so that its executions can be counted from outside."""


class ChangeFiles:
    """A tool that writes, replaces and deletes several files at once; null deletes."""

    descriptor = ToolDescriptor(
        id="change_files",
        wire_name="change_files",
        description="Write these files; null deletes one.",
        capability="write",
        risk_level="dangerous",
        verb="write",
        input_schema={
            "type": "object",
            "properties": {"files": {"type": "object"}},
            "required": ["files"],
            "additionalProperties": False,
        },
        output_schema={"type": "object"},
        examples=(ToolExample(parameters={"files": {"a.txt": "A\n"}}, description="one file"),),
    )

    def propose(self, parameters, base):
        found = []
        for path, content in sorted(parameters["files"].items()):
            now = base(path)
            after = None if content is None else content.encode()
            found.append(FileChange(path=path, before=now and now.data, after=after, mode=0o644))
        return tuple(found)


TOOLS = ToolRegistry((
    CreateFile(), ReadFile(), ReplaceString(), RunInTerminal(), ChangeFiles(), MoveFile(), DeleteFile(),
))  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Scenario:
    name: str
    script: dict
    files: Mapping[str, str] = field(default_factory=dict)
    config: dict | None = None
    answers: Mapping[str, object] = field(default_factory=dict)
    """By provider call id: a word, or the arguments of `Stage.approve`; else approve."""
    prepare: Callable = lambda stage: None
    answer: Callable | None = None
    """Answers instead of the words above: (stage, progress)."""
    then: Callable = lambda stage: False
    """What the human does once the turn is over; True if there was something."""
    outside: Mapping[str, str] = field(default_factory=dict)
    """What somebody else writes into the workspace meanwhile."""
    tick: float = 1.0
    end: Mapping[str, str | None] = field(default_factory=dict)
    """Files at the end if nobody died; None = there is none."""
    commands: tuple[str, ...] = ()
    """Provider call ids of commands."""


def asked(*calls, rounds=1, **more):
    return recording(exchange(*calls, **more), *(exchange(text("on")) for _ in range(rounds)))


def ran(call_id, more=""):
    return call(call_id, "run_in_terminal", command=f"printf '{call_id}\\n' >> {RAN}{more}")


CREATE = call("c1", "create_file", path="n.txt", content="new\n")
LINES = "".join(f"line {n}\n" for n in range(30))
FAR = (
    LINES.replace("line 2\n", "LINE 2\n").replace("line 15\n", "LINE 15\n").replace("line 28\n", "LINE 28\n")
)


def edit(call_id, old, new, path="a.txt"):
    return call(call_id, "replace_string_in_file", path=path, old_string=old, new_string=new)


def _undo(stage):
    done = [row for row in stage.calls().values() if row.state == "succeeded" and row.tool != "undo"]
    if not done or stage.bodies(events.UndoRequested):
        return False
    session_requests.request_undo(stage.journal, done[0].action_id, USER)
    return True


def _undo_all(stage):
    """Undo everything that the session changed, in one step."""
    plan = undo.plan_undo(stage.journal, stage.session())
    if not plan.rows or stage.bodies(events.UndoRequested):
        return False
    undo.request_undo_of_files(stage.journal, plan, plan.ready, USER)
    return True


def _too_late(stage, progress):
    """Approve one in time and one too late: nobody has expired it yet, and it is refused all the same."""
    for action in progress.waiting:
        if stage.row_of(action).provider_call_id == "c2":
            stage.clock.advance(WINDOW)
        stage.approve(action)
    expire_due_actions(stage.journal)


def _refreshing(stage, progress):
    """Let the base move, see the approval refused as stale, ask anew, approve."""
    (action,) = progress.waiting
    if action.supersedes is not None:
        stage.approve(action)
    elif not action.stale_paths:
        stage.touch("a.txt")
    elif not stage.bodies(events.AnswerRefused):
        stage.approve(action)
    elif not stage.bodies(events.RefreshRequested):
        session_requests.request_refresh(stage.journal, action.id, USER)


def _behind_the_back(stage, progress):
    """Approve, with the file changed in between: seen when it is executed, or before by the next driver."""
    for action in progress.waiting:
        stage.touch("a.txt")
        if not stage.approve(action).ok and not stage.bodies(events.RefreshRequested):
            session_requests.request_refresh(stage.journal, action.id, USER)


def lets_read(stage, progress):
    """Let agents read in the workspace, once, and answer nothing."""
    if not workspace_trust.is_trusted(stage.journal, str(stage.workspace)):
        stage.trust(read=True)


RULE = {"id": "r1", "tool_name": "create_file", "param_pattern": "n\\.txt", "description": "notes"}


def _adopt(stage):
    context = stage.context()
    driver_context.sync_config_rules(
        stage.journal, context.read_settings().loaded, context.tools.descriptors(), str(stage.workspace)
    )


SCENARIOS = {
    found.name: found
    for found in (
        Scenario(name="one-file", script=asked(CREATE), end={"n.txt": "new\n"}),
        Scenario(name="rejected", script=asked(CREATE), answers={"c1": "reject"}, end={"n.txt": None}),
        Scenario(
            name="three-files",
            script=asked(
                call("c1", "change_files", files={"a.txt": "A\n", "b.txt": "B\n", "d/c.txt": "C\n"})
            ),
            files={"a.txt": "a\n", "b.txt": "b\n", "d/c.txt": "c\n"},
            end={"a.txt": "A\n", "b.txt": "B\n", "d/c.txt": "C\n"},
        ),
        Scenario(
            name="modify-create-delete",
            script=asked(call("c1", "change_files", files={"a.txt": "A\n", "b.txt": None, "e/n.txt": "N\n"})),
            files={"a.txt": "a\n", "b.txt": "b\n"},
            end={"a.txt": "A\n", "b.txt": None, "e/n.txt": "N\n"},
        ),
        Scenario(
            name="partial",
            script=asked(call("c1", "change_files", files={"a.txt": FAR, "b.txt": "B\n"})),
            files={"a.txt": LINES, "b.txt": "b\n"},
            answers={"c1": {"hunks": (1, 3)}},
            end={"a.txt": FAR.replace("LINE 15\n", "line 15\n"), "b.txt": "b\n"},
        ),
        Scenario(
            name="edited",
            script=asked(edit("c1", "b\n", "B\n")),
            files={"a.txt": "a\nb\n"},
            answers={"c1": {"edited": {"a.txt": b"a\nmine\n"}}},
            end={"a.txt": "a\nmine\n"},
        ),
        Scenario(
            name="stacked",
            script=asked(edit("c1", "a\n", "A\n"), edit("c2", "b\n", "B\n")),
            files={"a.txt": "a\nb\n"},
            end={"a.txt": "A\nB\n"},
        ),
        Scenario(
            name="restacked",
            script=asked(edit("c1", "a\n", "A\n"), edit("c2", "b\n", "B\n")),
            files={"a.txt": "a\nb\n"},
            answers={"c1": "reject"},
            end={"a.txt": "a\nB\n"},
        ),
        Scenario(name="command", script=asked(ran("c1")), commands=("c1",)),
        Scenario(
            name="read",
            script=asked(call("c1", "read_file", path="a.txt")),
            files={"a.txt": "a\n"},
            prepare=lambda stage: stage.trust(read=True),
        ),
        Scenario(
            name="released-read",
            script=asked(call("c1", "read_file", path="a.txt")),
            files={"a.txt": "a\n"},
            answer=lets_read,
            tick=0.01,
        ),
        Scenario(
            name="repeated-read",
            script=recording(
                *(exchange(call(f"c{n}", "read_file", path="a.txt")) for n in (1, 2, 3)),
                exchange(text("done")),
            ),
            files={"a.txt": "a\n"},
            config={"limits": {"repeats_noted": 2, "repeats_paused": 3}},
            prepare=lambda stage: stage.trust(read=True),
        ),
        Scenario(
            name="several",
            script=recording(
                exchange(CREATE, call("c2", "read_file", path="a.txt"), ran("c3"), text("look")),
                exchange(text("and "), edit("c4", "a\n", "A\n")),
                exchange(text("done")),
            ),
            files={"a.txt": "a\n"},
            commands=("c3",),
            end={"n.txt": "new\n", "a.txt": "A\n"},
        ),
        Scenario(
            name="undo",
            script=asked(edit("c1", "b\n", "B\n")),
            files={"a.txt": "a\nb\n"},
            then=_undo,
            end={"a.txt": "a\nb\n"},
        ),
        Scenario(
            name="undo-several",
            script=asked(
                edit("c1", "b\n", "B\n"),
                edit("c2", "B\n", "BB\n"),
                CREATE | {"tool_call": {**CREATE["tool_call"], "id": "c3"}},
            ),
            files={"a.txt": "a\nb\n"},
            then=_undo_all,
            end={"a.txt": "a\nb\n", "n.txt": None},
        ),
        Scenario(
            name="expiry",
            script=asked(CREATE, edit("c2", "b\n", "B\n")),
            files={"a.txt": "a\nb\n"},
            answer=_too_late,
            end={"a.txt": "a\nb\n"},
        ),
        Scenario(
            name="refresh",
            script=asked(edit("c1", "b\n", "B\n")),
            files={"a.txt": "a\nb\n"},
            answer=_refreshing,
            outside={"a.txt": "x\na\nb\n"},
            tick=0.01,
            end={"a.txt": "x\na\nB\n"},
        ),
        Scenario(
            name="moved",
            script=asked(edit("c1", "b\n", "B\n")),
            files={"a.txt": "a\nb\n"},
            answer=_behind_the_back,
            outside={"a.txt": "x\na\nb\n"},
            end={"a.txt": "x\na\nB\n"},
        ),
        Scenario(
            name="grant",
            script=asked(CREATE),
            config={"auto_approval_rules": [RULE]},
            prepare=_adopt,
            end={"n.txt": "new\n"},
        ),
    )
}
