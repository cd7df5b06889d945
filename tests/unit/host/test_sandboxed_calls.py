"""Commands of a session in its sandbox, from the gate to the process: they run where it was said, or not at all."""

import os

import pytest
from msgspec.json import decode, encode
from msgspec.structs import replace

from tests.support.boxes import limit_names
from tests.support.stage import USER, call, exchange, recording, text
from workbench.cli.dispatch import dispatch
from workbench.domain import events as e
from workbench.domain.events import SessionChanged
from workbench.domain.values import OUTSIDE, SandboxRefusal, SandboxUse
from workbench.effects.sandbox import Sandbox
from workbench.effects.sandbox_proof import prove_sandbox
from workbench.host import executor, model_call
from workbench.host.box_folders import running_boxes_folder
from workbench.host.boxed_command import closed_refusals
from workbench.host.command_box import BoxPlaces, ClosedChanges
from workbench.host.running_boxes import read_records
from workbench.host.workspace_trust import grant_trust
from workbench.journal.errors import GuardFailed
from workbench.policy import gate
from workbench.policy.shell.analysis import view_command

DONE = exchange(text("done"))
NO_SANDBOX = Sandbox(backend="none", problem="bubblewrap is gone", remedy="install it")


@pytest.fixture(autouse=True)
def with_sandbox(monkeypatch):
    """Let sessions use the sandbox of this machine."""
    monkeypatch.delenv("WORKBENCH_SANDBOX_BACKEND")
    sandbox = prove_sandbox("auto")
    if sandbox.strength != "full":
        pytest.skip(f"no full sandbox: {sandbox.problem}")


def command(line, key="c1", **more):
    return exchange(call(key, "run_in_terminal", command=line, **more))


def allowing(*patterns, **approvals):
    return {"approvals": {"allow": list(patterns), **approvals}}


AUTO = {"approvals": {"sandboxed": "auto"}}


def uses(stage):
    """Return what each command was started with."""
    return [body.sandbox for body in stage.bodies(e.ProcessStarted)]


INSIDE = SandboxUse(level="workspace", backend="bubblewrap")


def proven_as(stage, *answers):
    """Let the driver of a stage find these sandboxes, one a look; the last one stays."""
    context, left = stage.context, list(answers)

    def prove(choice):
        found = left.pop(0) if len(left) > 1 else left[0]
        return prove_sandbox(choice) if found is None else found

    stage.context = lambda: replace(context(), prove_sandbox=prove)


def lose_sandbox(stage, monkeypatch, point="call.before_executing"):
    """Let the sandbox be gone from a moment on."""
    context, is_gone = stage.context, []
    stage.context = lambda: replace(
        context(), prove_sandbox=lambda choice: NO_SANDBOX if is_gone else prove_sandbox(choice)
    )
    monkeypatch.setattr(executor, "fault_point", lambda name: is_gone.append(1) if name == point else None)


LANDLOCK = Sandbox(backend="landlock", problem="bubblewrap is gone", remedy="install it")


@pytest.mark.parametrize(
    ("shown", "now", "is_asked"),
    [(None, LANDLOCK, True), (LANDLOCK, LANDLOCK, False), (LANDLOCK, None, False), (None, None, False)],
)
def test_an_approval_is_for_no_less_than_what_was_shown(staged, shown, now, is_asked):
    stage = staged(recording(command("touch made"), DONE)).begin()
    if (shown or now) and prove_sandbox("landlock").strength != "files":
        pytest.skip("no Landlock")
    here = [shown]
    context = stage.context
    stage.context = lambda: replace(context(), prove_sandbox=lambda choice: here[0] or prove_sandbox(choice))
    stage.drive()
    (row,) = stage.waiting()
    assert stage.opened(row).backend == ("landlock" if shown else "bubblewrap")
    stage.approve(row)
    here[0] = now
    stage.drive()
    assert (stage.workspace / "made").exists() is not is_asked
    assert [(action.place, stage.opened(action).backend) for action in stage.waiting()] == (
        [("inside", "landlock")] if is_asked else []
    )


# --- programs that a rule lets run outside -----------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "entry", "line"),
    [
        (".venv/bin/helper", "{work}/.venv/bin", "deploy now"),
        ("sub/bin/deploy", "bin", "cd sub && deploy now"),
        ("sub/deploy", "", "cd sub && deploy now"),
    ],
)
def test_what_a_rule_lets_outside_runs_no_program_that_a_command_put_on_the_path(
    staged, monkeypatch, tmp_path, place, entry, line
):
    marker, tools = tmp_path / "reached", tmp_path / "tools"
    for name, script in {"deploy": "helper", "helper": "echo clean"}.items():
        tools.mkdir(exist_ok=True)
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    planted = (
        f"mkdir -p $(dirname {place}); printf '#!/bin/sh\\ntouch {marker}\\n' > {place}; chmod +x {place}"
    )
    allow = [{"pattern": text, "where": "outside"} for text in ("Bash(deploy now)", "Bash(cd *)")]
    stage = staged(
        recording(command(planted), command(line, "c2"), DONE), files={"sub/x": ""},
        config={"approvals": {"sandboxed": "auto", "allow": allow}},
    )  # fmt: skip
    entries = (entry.format(work=stage.workspace), str(tools), os.environ["PATH"])
    monkeypatch.setenv("PATH", os.pathsep.join(entries))
    stage.begin().drive()
    assert uses(stage) == [INSIDE, OUTSIDE]
    assert stage.bodies(e.CallFinished)[-1].preview.strip() == "clean"
    assert not marker.exists()


# --- a rule that is read too widely --------------------------------------------------------------------


def wrong_table(monkeypatch):
    """Read what stands behind `--` as files that `find` looks at, as all readers of one wrong table once did."""

    def misread(passed):
        line = passed.view.raw.partition(" -exec")[0].replace("-- ", "")
        return replace(passed, view=view_command(line, passed.folder))

    granting = gate._command_grant_verdict
    monkeypatch.setattr(
        gate, "_command_grant_verdict", lambda passed, where: granting(misread(passed), where)
    )
    monkeypatch.setattr(gate, "sandbox_needs", lambda view, workspace, folder: ())


@pytest.mark.parametrize("is_boxed", [True, False])
def test_a_rule_that_is_read_too_widely_writes_nothing_outside(staged, monkeypatch, tmp_path, is_boxed):
    if not is_boxed:
        monkeypatch.setenv("WORKBENCH_SANDBOX_BACKEND", "none")
    wrong_table(monkeypatch)
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    line = f"find -- . -maxdepth 0 -exec sh -c 'id > {outside}/made; echo x > .git/hooks/h; id > here' ';'"
    stage = staged(
        recording(command(line), DONE), files={".git/hooks/x": "", ".git/HEAD": ""},
        config=allowing("Bash(find *)"),
    ).begin()  # fmt: skip
    stage.drive()
    assert stage.waiting() == []
    assert (outside / "made").exists() != is_boxed, "without the sandbox the line does what it says"
    assert (stage.workspace / ".git/hooks/h").exists() != is_boxed
    assert (stage.workspace / "here").exists()
    assert uses(stage) == [INSIDE if is_boxed else OUTSIDE]
    assert stage.bodies(e.CallExecuting)[0].sandbox == uses(stage)[0]
    assert stage.calls()["c1"].place == ("inside" if is_boxed else "outside")


def test_a_rule_that_says_outside_runs_outside(staged):
    allow = [{"pattern": "Bash(git log *)", "where": "outside"}]
    stage = staged(recording(command("git log -1"), DONE), config={"approvals": {"allow": allow}}).begin()
    stage.drive()
    assert uses(stage) == [OUTSIDE]


def test_what_a_rule_allows_and_the_sandbox_cannot_hold_asks_to_leave(staged):
    stage = staged(recording(command("git commit -m x"), DONE), config=allowing("Bash(git commit *)")).begin()
    stage.drive()
    (row,) = stage.waiting()
    assert (row.place, row.level) == ("outside", "workspace")
    reason = stage.bodies(e.CallProposed)[0].verdict.reason
    assert reason.startswith("git commit writes .git")
    assert "but only inside the sandbox" in reason


# --- auto ------------------------------------------------------------------------------------------------


MAKES = "python3 -c \"open('made.txt', 'w').write('x')\""


def test_with_auto_a_command_that_fits_runs_inside_without_a_question(staged):
    stage = staged(recording(command(MAKES), DONE), config=AUTO).begin()
    stage.drive()
    row = stage.calls()["c1"]
    assert (row.state, row.place, row.verdict_by) == ("succeeded", "inside", "sandbox")
    assert stage.read("made.txt") == b"x"
    assert uses(stage) == [INSIDE]


@pytest.mark.parametrize("is_granted", [True, False])
def test_the_answer_to_the_trust_question_lets_commands_run_inside(staged, is_granted):
    stage = staged(recording(command(MAKES), DONE))
    grant_trust(stage.journal, str(stage.workspace), False, USER, sandbox=is_granted)
    stage.begin().drive()
    assert [row.place for row in stage.waiting()] == ([] if is_granted else ["inside"])
    assert uses(stage) == ([INSIDE] if is_granted else [])


@pytest.mark.parametrize("answers", ["auto", "ask"])
def test_without_anybody_who_answers_auto_still_runs_inside(staged, answers):
    config = {"approvals": {"sandboxed": answers}}
    stage = staged(
        recording(command(MAKES), command("git push", "c2"), DONE), config=config, can_ask=False
    ).begin()  # fmt: skip
    stage.drive()
    states = {key: row.state for key, row in stage.calls().items()}
    assert states == {"c1": "succeeded" if answers == "auto" else "rejected", "c2": "rejected"}


def test_a_choice_of_a_session_counts_before_the_setting(staged):
    stage = staged(recording(command(MAKES), DONE), config=AUTO).begin(configuration={"sandboxed": "ask"})
    stage.drive()
    assert [row.place for row in stage.waiting()] == ["inside"]


@pytest.mark.parametrize(
    "line", ["cat .env", "cat $(echo .e)nv", "python3 -c \"print(open('.env').read())\"", "cat .e*"]
)
def test_what_may_not_be_read_is_not_read_inside_either(staged, line):
    config = {"approvals": {"sandboxed": "auto", "deny": ["Read(.env)"]}}
    stage = staged(recording(command(line), DONE), files={".env": "KEY=fabricated-1"}, config=config).begin()
    stage.drive()
    ran = [body for body in stage.bodies(e.CallFinished) if "fabricated-1" in body.preview]
    assert ran == []


def test_a_denial_counts_on_every_reading_of_a_line(staged):
    config = {"approvals": {"sandboxed": "auto", "deny": ["Bash(rm *)"]}}
    lines = ("rm x", "r$(echo m) x", "env rm x", "echo ok; rm x")
    script = recording(*(command(line, f"c{number}") for number, line in enumerate(lines)), DONE)
    stage = staged(script, files={"x": "kept"}, config=config).begin()
    stage.drive()
    assert stage.read("x") == b"kept"
    assert {row.verdict_by for row in stage.calls().values()}.isdisjoint({"sandbox"})


# --- rows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["inside", "outside", None])
def test_an_approved_row_runs_where_its_human_said(staged, tmp_path, place):
    line, elsewhere = f"{MAKES}; touch {tmp_path}/elsewhere.txt", tmp_path / "elsewhere.txt"
    stage = staged(recording(command(line), DONE)).begin()
    stage.drive()
    (row,) = stage.waiting()
    assert (row.place, row.level) == ("inside", "workspace")
    assert stage.approve(row, place=place).ok
    stage.drive()
    assert elsewhere.exists() == (place == "outside")
    assert stage.read("made.txt") == b"x"
    assert stage.calls()["c1"].place == (place or "inside")
    assert uses(stage) == [OUTSIDE if place == "outside" else INSIDE]


def test_of_two_screens_the_first_says_where_it_runs(staged):
    stage = staged(recording(command(MAKES), DONE)).begin()
    stage.drive()
    (row,) = stage.waiting()
    assert row.place == "inside"
    assert stage.approve(row, place="inside").ok
    late = stage.approve(row, place="outside")
    assert (late.ok, late.why) == (False, "decided")
    stage.drive()
    assert uses(stage) == [INSIDE]


def test_a_place_that_the_row_does_not_offer_is_a_wrong_choice(staged, monkeypatch):
    monkeypatch.setenv("WORKBENCH_SANDBOX_BACKEND", "none")
    stage = staged(recording(command(MAKES), DONE)).begin()
    stage.drive()
    (row,) = stage.waiting()
    assert (row.place, row.level) == ("outside", None)
    assert stage.approve(row, place="inside").why == "choice"
    assert stage.approve(row, place="outside").ok


def test_an_edit_has_no_place(staged):
    edit = call("c1", "create_file", path="a.txt", content="x")
    stage = staged(recording(exchange(edit), DONE)).begin()
    stage.drive()
    (row,) = stage.waiting()
    assert (row.place, row.level) == (None, None)
    assert stage.approve(row, place="inside").why == "choice"


# --- the sandbox is gone ---------------------------------------------------------------------------------


def test_an_approval_of_inside_asks_again_when_the_sandbox_is_gone(staged, monkeypatch):
    stage = staged(recording(command(MAKES), DONE)).begin()
    stage.drive()
    (row,) = stage.waiting()
    assert stage.approve(row).ok
    lose_sandbox(stage, monkeypatch)
    stage.drive()
    assert uses(stage) == []
    (again,) = stage.waiting()
    assert (again.place, again.level, again.supersedes) == ("outside", None, row.id)
    ended = [body for body in stage.bodies(e.CallFinished) if body.detail == "sandbox gone"]
    assert len(ended) == 1
    monkeypatch.undo()
    assert not (stage.workspace / "made.txt").exists()


@pytest.mark.parametrize("can_ask", [True, False])
def test_what_a_rule_allowed_inside_does_not_run_outside_without_a_question(staged, monkeypatch, can_ask):
    stage = staged(
        recording(command("git log -1"), DONE), config=allowing("Bash(git log *)"), can_ask=can_ask
    ).begin()  # fmt: skip
    lose_sandbox(stage, monkeypatch)
    stage.drive()
    assert uses(stage) == []
    assert [row.place for row in stage.waiting()] == (["outside"] if can_ask else [])
    last = stage.bodies(e.CallProposed)[-1].verdict
    assert (last.outcome, last.by) == ("ask" if can_ask else "denied", "sandbox")


def test_after_a_crash_an_approval_of_inside_does_not_run_outside(staged, monkeypatch):
    stage = staged(recording(command(MAKES), DONE)).begin()
    stage.drive()
    assert stage.approve(stage.waiting()[0], place="inside").ok
    monkeypatch.setenv("WORKBENCH_SANDBOX_BACKEND", "none")  # the next driver finds no sandbox
    stage.drive()
    assert uses(stage) == []
    assert [row.place for row in stage.waiting()] == ["outside"]


def test_the_journal_takes_no_execution_outside_of_what_was_allowed_inside(staged):
    stage = staged(recording(command(MAKES), DONE)).begin()
    stage.drive()
    (row,) = stage.waiting()
    assert stage.approve(row).ok
    for use in (OUTSIDE, None):
        body = e.CallExecuting(sandbox=use)
        wrong = stage.journal.event(body, stage.session_id, USER, call_id=row.call_id, turn_id=row.turn_id)
        with pytest.raises(GuardFailed, match="inside the sandbox only"):
            stage.journal.append([wrong])


def test_a_level_that_was_lowered_counts_for_what_was_approved_before(staged):
    stage = staged(recording(command(MAKES), DONE)).begin()
    stage.drive()
    assert stage.approve(stage.waiting()[0]).ok
    lower = SessionChanged(configuration={"sandbox": "read-only"})
    stage.journal.append([stage.journal.event(lower, stage.session_id, USER)])
    stage.drive()
    assert uses(stage) == [SandboxUse(level="read-only", backend="bubblewrap")]
    assert not (stage.workspace / "made.txt").exists()


def test_a_level_that_was_raised_does_not_free_what_was_approved_before(staged):
    stage = staged(recording(command(MAKES), DONE)).begin(configuration={"sandbox": "read-only"})
    stage.drive()
    assert stage.approve(stage.waiting()[0], place="inside").ok
    higher = SessionChanged(configuration={"sandbox": "workspace"})
    stage.journal.append([stage.journal.event(higher, stage.session_id, USER)])
    stage.drive()
    assert uses(stage) == [SandboxUse(level="read-only", backend="bubblewrap")]


def test_a_box_that_cannot_be_made_runs_nothing(staged, monkeypatch):
    stage = staged(recording(command(MAKES), DONE), config=AUTO)
    monkeypatch.setenv("HOME", str(stage.workspace))
    stage.begin().drive()
    row = stage.calls()["c1"]
    assert (row.state, row.detail) == ("failed", "no sandbox")
    assert "home folder" in row.error
    assert uses(stage) == []
    assert not (stage.workspace / "made.txt").exists()


def test_a_box_that_does_not_start_is_not_taken_for_an_exit_code(staged, monkeypatch, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho cannot >&2\nexit 7\n")
    broken.chmod(0o700)
    stage = staged(recording(command(MAKES), DONE), config=AUTO)
    proven_as(stage, Sandbox(backend="bubblewrap", program=str(broken)))
    stage.begin().drive()
    row = stage.calls()["c1"]
    assert (row.state, row.detail) == ("failed", "no sandbox")
    assert row.error.startswith("nothing ran:")
    assert read_records(running_boxes_folder(str(stage.context().home.path))) == {}


# --- what was refused ------------------------------------------------------------------------------------


def test_a_file_that_controls_the_workspace_is_moved_out_and_named(staged):
    line = "python3 -c \"open('.env'+'rc', 'w').write('x')\""
    stage = staged(recording(command(line), DONE), config=AUTO).begin()
    stage.drive()
    refused = SandboxRefusal(kind="closed", target=".envrc")
    assert [body.refusals for body in stage.bodies(e.SandboxRefused)] == [(refused,)]
    assert stage.calls()["c1"].refusals == (refused,)
    assert not (stage.workspace / ".envrc").exists()
    (finished,) = stage.bodies(e.CallFinished)
    assert "[In the sandbox .envrc controls the workspace and was moved out." in finished.preview
    kinds = stage.kinds()
    assert kinds.index("sandbox.refused") < kinds.index("call.finished")
    assert "refused" not in "".join(body.text for body in stage.bodies(e.OutputStreamed))


HOSTILE = r"""
import os
for folder in (b"\xff", b"a\n\x1b[31mX", *(b"%d" % n for n in range(20))):
    os.mkdir(folder)
    open(folder + b"/.env" + b"rc", "w").close()
"""


def test_names_of_files_that_are_moved_out_are_few_readable_lines(staged):
    stage = staged(recording(command("python3 make.py"), DONE), config=AUTO, files={"make.py": HOSTILE})
    stage.begin().drive()
    (body,) = stage.bodies(e.SandboxRefused)
    targets = [refusal.target for refusal in body.refusals]
    assert len(targets) == 9 and body.refusals[-1].more == 14
    listed = (stage.context().home.path / targets[-1]).read_text().splitlines()
    assert len(listed) == 22 and all(line.replace("\t", "").isprintable() for line in listed)
    assert all(target.isprintable() for target in targets)
    assert [str(path) for path in stage.workspace.rglob(".envrc")] == []


def test_paths_that_are_no_text_can_be_told():
    paths = (os.fsdecode(b"/w/\xff/.envrc"), "/w/a\n\x1b[31mX\u202e/.envrc", f"/w/{'long/' * 900}.envrc")
    places = BoxPlaces(
        data="/d", storage="/d/s", caches="/d/c", workspace="/w", folder="/w", home="/h", search_path=""
    )  # fmt: skip
    refusals = closed_refusals(ClosedChanges(left=paths, changed=paths), places)
    assert refusals[0].target == "\ufffd/.envrc"
    for refusal in refusals:
        assert refusal.target.isprintable() and len(refusal.target) <= 200
        assert decode(encode(refusal), type=SandboxRefusal) == refusal


def test_a_workspace_that_cannot_be_looked_through_ends_the_call_with_a_refusal(staged, monkeypatch):
    limit_names(monkeypatch, 40)
    line = "python3 -c \"import os; open('.env'+'rc', 'w'); [open(f'n{n}', 'w') for n in range(60)]\""
    stage = staged(recording(command(line), DONE), config=AUTO).begin()
    stage.drive()
    (body,) = stage.bodies(e.SandboxRefused)
    assert [refusal.target for refusal in body.refusals] == ["the workspace", ".envrc"]
    assert not (stage.workspace / ".envrc").exists()
    (finished,) = stage.bodies(e.CallFinished)
    assert "the workspace could not be looked through: " in finished.preview


def test_a_row_that_asks_to_leave_names_what_was_refused_before(staged):
    line = "python3 -c \"open('.env'+'rc', 'w').write('x')\""
    leaving = command(line, "c2", outside=True, reason="direnv needs it")
    stage = staged(recording(command(line), leaving, DONE), config=AUTO).begin()
    stage.drive()
    (row,) = stage.waiting()
    assert (row.place, row.level) == ("outside", "workspace")
    reason = stage.bodies(e.CallProposed)[-1].verdict.reason
    assert "the agent asks to run it outside the sandbox: direnv needs it" in reason
    assert "the sandbox refused to create .envrc, which controls the workspace, when it ran before" in reason


def test_a_model_is_offered_to_leave_only_where_there_is_a_sandbox(staged, monkeypatch):
    asked = []
    request = model_call.ModelRequest
    noting = lambda **facts: asked.append(facts["tools"]) or request(**facts)  # noqa: E731
    monkeypatch.setattr(model_call, "ModelRequest", noting)
    stage = staged(recording(DONE)).begin()
    stage.drive()
    proven_as(stage, NO_SANDBOX)
    stage.say("again")
    stage.drive()
    tools = [next(tool for tool in tools if tool.id == "run_in_terminal") for tools in asked]
    assert ["outside" in tool.input_schema["properties"] for tool in tools] == [True, False]
    assert ["sandbox" in tool.description for tool in tools] == [True, False]


@pytest.mark.parametrize("where", ["inside", "outside", None])
def test_a_command_line_says_where_an_approved_command_runs(staged, monkeypatch, capsys, where):
    stage = staged(recording(command(MAKES), DONE)).begin()
    stage.drive()
    (row,) = stage.waiting()
    monkeypatch.setenv("WORKBENCH_HOME", str(stage.home.path))
    # Another process would carry the answer out, while the stage does.
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    words = ["--where", where] if where else []
    assert dispatch(["approvals", "approve", row.id, *words]) == 0, capsys.readouterr()
    stage.drive()
    assert uses(stage) == [OUTSIDE if where == "outside" else INSIDE]


def test_a_command_line_cannot_place_what_is_not_a_command(staged, monkeypatch, capsys):
    edit = call("c1", "create_file", path="a.txt", content="x")
    stage = staged(recording(exchange(edit), DONE)).begin()
    stage.drive()
    (row,) = stage.waiting()
    monkeypatch.setenv("WORKBENCH_HOME", str(stage.home.path))
    assert dispatch(["approvals", "approve", row.id, "--where", "outside"]) != 0
    assert "it is not a command" in capsys.readouterr().err.casefold()
    assert stage.waiting() == [row]
