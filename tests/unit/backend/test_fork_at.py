"""`sessions fork --at`: the conversation of a moment, its files in a folder of their own, nothing of the user's."""

import json
import subprocess

import pytest

from tests.support.stage import Stage, call, exchange, recording, text
from workbench.backend.library import fork_at_moment
from workbench.backend.local_backend import LocalBackend
from workbench.cli.main import main
from workbench.domain.events import FileChanged, PromptSubmitted, ReplyCompleted
from workbench.host import workspace_copy
from workbench.tui.backend import BackendError, ForkRequest

SCRIPT = recording(
    exchange(text("I write it."), call("c1", "create_file", path="new.py", content="one\n")),
    exchange(text("Written.")),
    exchange(text("I change it."), call("c2", "replace_string_in_file", path="sub/old.py",
                                        old_string="first", new_string="second")),
    exchange(text("Changed.")),
    exchange(text("Another way, then.")),
)  # fmt: skip
FILES = {"sub/old.py": "first\n", "beside.txt": "as it is\n"}


def git(folder, *words):
    argv = ["git", "-c", "user.name=A", "-c", "user.email=a@example.invalid", *words]
    return subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def stage(tmp_path, monkeypatch):
    made = Stage(tmp_path / "stage", SCRIPT, files=FILES)
    monkeypatch.setenv("WORKBENCH_HOME", str(made.home.path))
    git(made.workspace, "init", "-q")
    git(made.workspace, "add", "-A")
    git(made.workspace, "commit", "-qm", "begin")
    made.trust().begin("write it")
    for prompt in ("", "now change it"):
        if prompt:
            made.say(prompt)
        made.drive()
        for action in made.waiting():
            made.approve(action)
        made.drive()
    yield made
    made.close()


def forked(stage, capsys, *words):
    capsys.readouterr()
    assert main(["sessions", "fork", stage.session_id, "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


def at(stage, test):
    """Return `#n` for the first event that a test picks."""
    return (
        f"#{next(n for n, event in enumerate(stage.journal.events(stage.session_id), 1) if test(event.body))}"
    )


def written(name):
    return lambda body: isinstance(body, FileChanged) and body.path == name


def second(body):
    return isinstance(body, PromptSubmitted) and body.text == "now change it"


def contents(folder):
    names = ("new.py", "sub/old.py", "beside.txt")
    return [(folder / name).read_text() if (folder / name).exists() else None for name in names]


@pytest.mark.parametrize("way", ["--copy", "--worktree"])
def test_files_are_those_of_the_moment_and_the_users_stay(stage, capsys, tmp_path, way):
    target = tmp_path / "forks" / "one"
    (stage.workspace / "beside.txt").write_text("changed by hand\n")
    before = contents(stage.workspace)
    assert before == ["one\n", "second\n", "changed by hand\n"]
    made = forked(stage, capsys, "--at", at(stage, second), way, str(target))
    beside = "changed by hand\n" if way == "--copy" else "as it is\n"
    assert contents(target) == ["one\n", "first\n", beside]
    assert made["workspace"] == str(target)
    assert (made["restored"], made["not_restored"]) == (["new.py", "sub/old.py"], [])
    assert contents(stage.workspace) == before
    early = tmp_path / "forks" / "early"
    forked(stage, capsys, "--at", "#4", way, str(early))
    assert contents(early) == [None, "first\n", beside]
    late = tmp_path / "forks" / "late"
    forked(stage, capsys, way, str(late))
    assert contents(late)[:2] == ["one\n", "second\n"]


def test_the_conversation_ends_at_the_moment_and_goes_on_with_the_recorded_agent(stage, capsys, tmp_path):
    target = tmp_path / "fork"
    made = forked(stage, capsys, "--at", at(stage, second), "--copy", str(target))
    fork = stage.journal.events(made["id"])
    said = [event.body.text for event in fork if isinstance(event.body, PromptSubmitted | ReplyCompleted)]
    assert said == ["write it", "I write it.", "Written.", "now change it"]
    row = stage.journal.session(made["id"])
    assert (row.status, row.workspace) == ("ready", str(target))
    assert row.configuration["forked_from"] == stage.session_id
    before, stage.workspace, stage.session_id = stage.workspace, target, made["id"]
    stage.trust().say("go on")
    stage.drive()
    (asked,) = stage.waiting()
    assert (asked.target, contents(target)[1]) == ("sub/old.py", "first\n")
    assert stage.approve(asked).ok
    stage.drive()
    assert contents(target)[1] == "second\n"
    assert contents(before)[1] == "second\n"
    replies = [e.body.text for e in stage.journal.events(made["id"]) if isinstance(e.body, ReplyCompleted)]
    assert replies == ["I write it.", "Written.", "I change it.", "Changed."]


def test_what_waited_then_is_not_asked_again(stage, capsys):
    opened = next(
        n for n, e in enumerate(stage.journal.events(stage.session_id), 1) if e.kind == "action.opened"
    )
    made = forked(stage, capsys, "--at", f"#{opened}")
    assert [one.state for one in stage.journal.calls(made["id"])] == ["cancelled"]
    assert stage.journal.actions(made["id"]) == []


def test_bytes_that_are_gone_are_named_and_the_file_is_left_as_it_is(stage, capsys, tmp_path):
    change = next(e.body for e in stage.journal.events(stage.session_id) if written("sub/old.py")(e.body))
    assert stage.journal.blobs.remove(change.before_ref)
    made = forked(stage, capsys, "--at", at(stage, second), "--copy", str(tmp_path / "fork"))
    assert made["not_restored"] == ["sub/old.py"]
    assert contents(tmp_path / "fork")[1] == "second\n"


def test_the_screen_forks_as_the_command_does_and_says_so(stage, tmp_path):
    position = stage.journal.last_position()
    for folder, words in (("", "the conversation only"), (str(tmp_path / "fork"), "2 files as then")):
        wanted = ForkRequest(session_id=stage.session_id, position=position, folder=folder)
        said = LocalBackend(stage.home, stage.journal, str(stage.workspace)).fork(wanted)
        assert words in said
        assert stage.journal.sessions()[0].configuration["forked_from"] == stage.session_id
        assert stage.journal.sessions()[0].id[:8] in said
    assert contents(tmp_path / "fork") == contents(stage.workspace)
    with pytest.raises(BackendError, match="no longer exists"):
        fork_at_moment(stage.journal, ForkRequest(session_id="none", position=1))


def test_a_link_in_the_way_is_left_alone(stage, capsys, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    git(stage.workspace, "rm", "-q", "-r", "--cached", "sub")
    (stage.workspace / "sub" / "old.py").unlink()
    (stage.workspace / "sub").rmdir()
    (stage.workspace / "sub").symlink_to(outside)
    git(stage.workspace, "add", "-A")
    git(stage.workspace, "commit", "-qm", "a link")
    made = forked(stage, capsys, "--at", at(stage, second), "--worktree", str(tmp_path / "fork"))
    assert made["not_restored"] == ["sub/old.py"]
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--at", "#1"), "Nothing had been said in it by then"),
        (("--at", "soon"), "not a moment of it"),
        (("--at", "#99999"), "not a moment of it"),
        (("--at", "#99999"), "Name one of 0:00 to "),
        (("--copy", "WORKSPACE"), "lie in one another"),
        (("--copy", "WORKSPACE/deep"), "lie in one another"),
        (("--worktree", "HOME/x"), "lie in one another"),
        (("--copy", "/"), "is there already"),
        (("--copy", "THERE"), "is there already"),
        (("--worktree", "THERE"), "is there already"),
        (("--copy", "FREE", "-C", "."), "two places"),
    ],
)
def test_what_cannot_be_forked_is_refused_and_leaves_nothing(stage, capsys, tmp_path, words, why):
    there = tmp_path / "there"
    there.mkdir()
    (there / "mine.txt").write_text("mine\n")
    places = {
        "WORKSPACE": stage.workspace,
        "HOME": stage.home.path,
        "THERE": there,
        "FREE": tmp_path / "free",
    }
    given = list(words)
    for name, place in places.items():
        given = [word.replace(name, str(place)) for word in given]
    count = len(stage.journal.sessions())
    assert main(["sessions", "fork", stage.session_id, *given]) != 0
    assert why in " ".join(capsys.readouterr().err.split())
    assert len(stage.journal.sessions()) == count
    assert [path.name for path in there.iterdir()] == ["mine.txt"]
    assert not (tmp_path / "free").exists()


def test_a_failure_half_way_leaves_no_folder(stage, capsys, tmp_path, monkeypatch):
    def full(*_):
        raise workspace_copy.FileRefused("new.py", "no space is left", "make room")

    monkeypatch.setattr(workspace_copy, "_restore_file", full)
    for way in ("--copy", "--worktree"):
        assert main(["sessions", "fork", stage.session_id, way, str(tmp_path / "fork")]) == 1
        assert "no space is left" in capsys.readouterr().err
        assert not (tmp_path / "fork").exists()
    assert git(stage.workspace, "worktree", "list").count("\n") == 1


def test_without_a_repository_there_is_no_worktree(stage, capsys, tmp_path):
    git(stage.workspace, "update-ref", "-d", "HEAD")
    assert main(["sessions", "fork", stage.session_id, "--worktree", str(tmp_path / "fork")]) == 1
    assert "made no worktree" in capsys.readouterr().err
    assert not (tmp_path / "fork").exists()
