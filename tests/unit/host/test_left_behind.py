"""What commands leave under closed names: it is moved out however it is hidden, and stays new until it is."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support import boxes
from tests.support.shut_folders import SCENES, put
from workbench.effects.file_primitives import FileRefused
from workbench.host import command_box as module
from workbench.host.box_folders import running_boxes_folder
from workbench.host.closed_names import PathDenials
from workbench.host.command_box import forget_box, quarantine_new_closed
from workbench.host.running_boxes import read_records

ROOT = Path(__file__).resolve().parents[3]
NOBODY = 65534


@pytest.fixture
def base(tmp_path):
    (tmp_path / "project").mkdir()
    return tmp_path.resolve()


@pytest.fixture
def workspace(base):
    return base / "project"


def ended(planned):
    """Return what became of closed paths, each relative to the workspace."""
    changes = quarantine_new_closed(planned)
    names = (changes.moved, changes.left, changes.changed)
    return tuple([os.path.relpath(path, planned.box.workspace) for path in paths] for paths in names)


def moved(planned):
    return ended(planned)[0]


def records(base):
    return list(read_records(running_boxes_folder(str(base / "data"))).values())


def crash(planned):
    """Let the process of a box be gone."""
    planned.running._release()


def hiding(*names):
    return PathDenials(key=names, reads=lambda path: os.path.basename(path) in names)  # noqa: PTH119


# --- what is hidden


def test_what_may_not_be_read_is_moved_out_too(base, workspace):
    planned = boxes.plan(base, denials=hiding(".envrc", ".git"))
    put(workspace / ".envrc")
    put(workspace / "sub/.git/config")
    assert moved(planned) == [".envrc", "sub/.git"]


def test_a_new_hidden_folder_is_looked_through_and_an_old_one_is_not(base, workspace):
    put(workspace / "old/secret/.envrc")
    planned = boxes.plan(base, denials=hiding("secret"))
    put(workspace / "old/secret/.git/HEAD")  # by a human: the command cannot see the folder
    put(workspace / "new/secret/deep/.envrc")
    put(workspace / "new/secret/deep/file")
    assert moved(planned) == ["new/secret/deep/.envrc"]
    assert (workspace / "new/secret/deep/file").exists()


def test_another_folder_in_the_place_of_a_hidden_one_is_looked_through(base, workspace):
    (workspace / "secret").mkdir()
    planned = boxes.plan(base, denials=hiding("secret"))
    (workspace / "secret").rename(workspace / "away")
    put(workspace / "secret/.envrc")
    assert moved(planned) == ["secret/.envrc"]


def test_a_hidden_folder_of_a_box_with_other_denials_is_looked_through(base, workspace):
    put(workspace / "secret/.envrc")
    first = boxes.plan(base)
    put(workspace / "secret/.git/HEAD")
    put(workspace / "hidden/.envrc")
    crash(first)
    found = moved(boxes.plan(base, denials=hiding("secret", "hidden")))
    assert sorted(found) == ["hidden/.envrc", "secret/.git"]
    assert (workspace / "secret/.envrc").exists()


def test_of_a_new_repository_all_is_moved_out_where_something_is_hidden(base, workspace):
    planned = boxes.plan(base, denials=hiding("key"))
    for name in ("HEAD", "objects/x", "refs/x", "config", "hooks/pre-commit", "modules/m/HEAD", "modules/m/objects/x",
                 "modules/m/refs/x"):  # fmt: skip
        put(workspace / f".git/{name}")
    assert ended(planned) == ([".git"], [], [])
    assert not (workspace / ".git").exists()


def test_new_names_in_a_closed_folder_are_not_of_the_command(base, workspace):
    put(workspace / ".git/HEAD")
    planned = boxes.plan(base, denials=hiding("key"))
    for name in ("HEAD", "objects/x", "refs/x"):
        put(workspace / f".git/modules/m/{name}")
    assert ended(planned) == ([], [], [])


def test_a_pipe_under_a_closed_name_is_closed_and_cannot_be_written(base, workspace):
    os.mkfifo(workspace / ".envrc")
    planned = boxes.plan(base)
    assert f"{workspace}/.envrc" in planned.box.hidden
    assert f"{workspace}/.envrc" in planned.before
    forget_box(planned)


@pytest.mark.parametrize(
    ("target", "is_hidden"),
    [("real.env", True), ("folder", True), ("gone", False), ("/usr/bin/env", False), (".", False)],
)
def test_what_a_hidden_link_leads_to_is_hidden(base, workspace, target, is_hidden):
    put(workspace / "real.env", "secret")
    put(workspace / "folder/file", "secret")
    (workspace / ".env").symlink_to(target)
    planned = boxes.plan(base, denials=hiding(".env"))
    assert (str(workspace / target) in planned.box.hidden) == is_hidden
    assert "secret" not in boxes.run(planned, f"cat .env .env/file {target} {target}/file")[1]
    assert boxes.says(planned, "echo ran") == "ran\n"


def test_further_names_of_a_hidden_file_are_hidden(base, workspace):
    put(workspace / "key")
    (workspace / "copy").hardlink_to(workspace / "key")
    assert f"{workspace}/copy" in boxes.plan(base, denials=hiding("key")).box.hidden


# --- other boxes


def make_elsewhere(workspace):
    """Make files and folders that are not closed where they are."""
    put(workspace / "ev/tasks.json")
    put(workspace / "gh/workflows/x.yml")


def rename_into_place(workspace):
    (workspace / "ev").rename(workspace / ".vscode")
    (workspace / "gh").rename(workspace / ".github")


RENAMED = [".vscode/tasks.json", ".github/workflows"]


def test_what_a_running_box_renamed_into_place_is_not_of_before(base, workspace):
    make_elsewhere(workspace)
    first = boxes.plan(base)
    rename_into_place(workspace)
    second = boxes.plan(base)
    assert sorted(moved(first)) == sorted(RENAMED)
    put(workspace / ".vscode/tasks.json")
    put(workspace / ".github/workflows/x.yml")
    assert sorted(moved(second)) == sorted(RENAMED)


def test_what_a_box_that_never_ended_renamed_into_place_is_moved_out(base, workspace):
    make_elsewhere(workspace)
    crash_at = boxes.plan(base)
    rename_into_place(workspace)
    crash(crash_at)
    assert sorted(moved(boxes.plan(base))) == sorted(RENAMED)
    assert records(base) == []


def test_what_ends_while_a_box_is_described_is_not_of_before(base, workspace, monkeypatch):
    first = boxes.plan(base)
    (workspace / ".envrc").symlink_to("evil")
    put(workspace / "sub/.envrc")
    read = module.read_records
    monkeypatch.setattr(module, "read_records", lambda folder: [read(folder), moved(first)][0])
    second = boxes.plan(base)
    assert (second.before, moved(second)) == ({}, [])
    assert not os.path.lexists(workspace / ".envrc")


@pytest.mark.parametrize("is_first_ended", [True, False])
def test_a_link_that_a_running_box_replaced_is_put_back_as_it_was(base, workspace, is_first_ended):
    (workspace / "CLAUDE.md").symlink_to("rules.md")
    (workspace / "AGENTS.md").symlink_to("rules.md")
    first = boxes.plan(base)
    (workspace / "CLAUDE.md").unlink()
    (workspace / "CLAUDE.md").symlink_to("evil.md")
    (workspace / "AGENTS.md").unlink()
    second = boxes.plan(base)
    for planned in (first, second) if is_first_ended else (second, first):
        quarantine_new_closed(planned)
    assert {os.readlink(workspace / name) for name in ("CLAUDE.md", "AGENTS.md")} == {"rules.md"}  # noqa: PTH115


def test_after_a_crash_a_replaced_link_is_put_back_and_a_removed_one_is_not(base, workspace):
    (workspace / "CLAUDE.md").symlink_to("rules.md")
    (workspace / "AGENTS.md").symlink_to("rules.md")
    crashed = boxes.plan(base)
    for name in ("CLAUDE.md", "AGENTS.md"):
        (workspace / name).unlink()
    put(workspace / "CLAUDE.md")
    crash(crashed)
    assert moved(boxes.plan(base)) == ["CLAUDE.md"]
    assert os.readlink(workspace / "CLAUDE.md") == "rules.md"  # noqa: PTH115
    assert not os.path.lexists(workspace / "AGENTS.md")


def closing(*names):
    return PathDenials(key=names, writes=lambda path: os.path.basename(path) in names)  # noqa: PTH119


@pytest.mark.parametrize(
    ("denials", "found"), [(closing("a.lock"), []), (closing("a.lock", "b"), ["a.lock"])]
)
def test_what_only_this_box_closes_was_there_before_others(base, workspace, denials, found):
    """The other box leaves it where it is, so it is as the human has it."""
    first = boxes.plan(base, denials=closing("a.lock", "b"))
    put(workspace / "a.lock")
    second = boxes.plan(base, denials=denials)
    assert moved(second) == found
    forget_box(first)


NAMES_A_FILE = '[diff "x"]\ntextconv = sh tools/conv.sh\n'


def repository(folder, settings):
    for name in ("objects", "refs"):
        (folder / ".git" / name).mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main")
    (folder / ".git/config").write_text(settings)


def other_denials(base, workspace):
    return boxes.plan(base, denials=closing("b"))


def other_settings(base, workspace):
    put(workspace / "new/.git/config", "[core]\npager = ./p.sh\n")
    return boxes.plan(base)


def other_workspace(base, workspace):
    return boxes.plan(base, workspace=workspace / "tools")


@pytest.mark.parametrize("plan_other", [other_denials, other_settings, other_workspace])
def test_what_settings_name_and_a_running_box_makes_is_not_of_before_in_any_other_box(
    base, workspace, plan_other
):
    repository(workspace, NAMES_A_FILE)
    (workspace / "tools").mkdir()
    first = boxes.plan(base)
    put(workspace / "tools/conv.sh")
    second = plan_other(base, workspace)
    assert "tools/conv.sh" in moved(first)
    put(workspace / "tools/conv.sh")
    quarantine_new_closed(second)
    assert not (workspace / "tools/conv.sh").exists()


def test_a_link_that_a_running_box_puts_on_the_way_to_what_settings_name_is_not_put_back(base, workspace):
    repository(workspace, NAMES_A_FILE)
    first = boxes.plan(base)
    put(workspace / "evil/conv.sh")
    (workspace / "tools").symlink_to("evil")
    second = boxes.plan(base)
    assert moved(first) == ["tools"]
    quarantine_new_closed(second)
    assert not os.path.lexists(workspace / "tools")


def test_what_settings_name_only_in_a_later_box_was_there_before_others(base, workspace):
    repository(workspace, "")
    put(workspace / "tools/conv.sh")
    first = boxes.plan(base)
    (workspace / ".git/config").write_text(NAMES_A_FILE)
    second = boxes.plan(base)
    assert (moved(first), moved(second)) == ([], [])


def test_a_box_of_a_folder_ends_what_is_of_it_in_a_record_of_one_above(base, workspace):
    (workspace / "sub").mkdir()
    crashed = boxes.plan(base)
    put(workspace / "sub/.envrc")
    put(workspace / ".envrc")
    crash(crashed)
    below = {"workspace": workspace / "sub"}
    assert moved(boxes.plan(base, **below)) == [".envrc"]
    put(workspace / "sub/.envrc")
    assert moved(boxes.plan(base, **below)) == []
    assert moved(boxes.plan(base)) == [".envrc"]
    assert (workspace / "sub/.envrc").exists()
    assert records(base) == []


# --- what cannot be moved


@pytest.fixture
def stuck(monkeypatch):
    """Names that cannot be moved, for now."""
    names, move = set(), module.move_aside

    def moving(root, path, folder):
        if path in names:
            raise FileRefused(path, "it is in the way", "look at it")
        return move(root, path, folder)

    monkeypatch.setattr(module, "move_aside", moving)
    return names


def test_what_could_not_be_moved_is_tried_and_named_until_it_is(base, workspace, stuck):
    put(workspace / "AGENTS.md")
    (workspace / "CLAUDE.md").symlink_to("AGENTS.md")
    planned = boxes.plan(base)
    stuck |= {"sub/.envrc", "CLAUDE.md"}
    put(workspace / "sub/.envrc")
    (workspace / "CLAUDE.md").unlink()
    put(workspace / "CLAUDE.md")
    assert ended(planned) == ([], ["sub/.envrc", "CLAUDE.md"], [])
    put(workspace / ".envrc")  # by a human, between commands
    for _ in range(2):
        assert ended(boxes.plan(base)) == ([], ["sub/.envrc", "CLAUDE.md"], [])
    assert len(records(base)) == 1
    stuck.clear()
    assert moved(boxes.plan(base)) == ["sub/.envrc", "CLAUDE.md"]
    assert os.readlink(workspace / "CLAUDE.md") == "AGENTS.md"  # noqa: PTH115
    assert ended(boxes.plan(base)) == ([], [], [])
    assert (workspace / ".envrc").exists()
    assert records(base) == []


def test_what_was_not_looked_at_stays_new(base, workspace, monkeypatch):
    boxes.limit_names(monkeypatch, 20)
    planned = boxes.plan(base)
    put(workspace / "a/b/c/.envrc")
    for number in range(30):
        put(workspace / f"flood/{number}")
    assert quarantine_new_closed(planned).unseen
    assert (workspace / "a/b/c/.envrc").exists()
    shutil.rmtree(workspace / "flood")
    assert moved(boxes.plan(base)) == ["a/b/c/.envrc"]
    assert records(base) == []


def test_a_path_that_is_too_long_to_be_looked_at_is_moved_out(base, workspace):
    planned = boxes.plan(base)
    folder = os.open(workspace, os.O_RDONLY)
    for _ in range(30):
        os.mkdir("d" * 200, dir_fd=folder)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(os.open(".envrc", os.O_CREAT, dir_fd=folder))
    os.close(folder)
    (name,) = moved(planned)
    assert len(f"{workspace}/{name}") > 4096
    assert ended(boxes.plan(base)) == ([], [], [])


@pytest.fixture(scope="module")
def outcomes():
    """Return what came of each scene, as a user that is not root."""
    folder = Path(tempfile.mkdtemp(prefix="workbench-shut-"))
    user = NOBODY if os.geteuid() == 0 else None
    if user is not None:
        os.chown(folder, user, user)
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.shut_folders"], input=json.dumps({"folder": str(folder), "user": user}),
        text=True, cwd=ROOT, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    shutil.rmtree(folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", SCENES)
def test_no_mode_of_a_folder_keeps_a_closed_name_in_it(outcomes, name):
    found = outcomes[name]
    assert found["moved"] and not found["left"]
    assert found["stays"] == ["links/CLAUDE.md", "old/main.py"]
    folder, mode = {
        "folder_that_cannot_be_changed": ("d", 0o555),
        "workspace_that_cannot_be_changed": (".", 0o555),
        "link_that_was_there": ("links", 0o555),
    }.get(name, ("old", 0o755 if name != "folder_that_was_there" else 0o700))
    assert found["modes"][folder] == mode, "only what nobody could look at is opened"
