"""A program that leaves closed names in folders of odd modes, as a user that is not root, and has them moved out.

Its input is JSON: a folder for the scenes and the user to be, or null. It prints as JSON what came of each.
"""

import json
import os
import sys
from pathlib import Path

from tests.support import boxes
from tests.support.escape_driver import become
from workbench.effects.folders import open_to_owner
from workbench.host.command_box import quarantine_new_closed


def put(path, text="x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def folder_that_cannot_be_changed(top):
    put(top / "d/.envrc")
    (top / "d").chmod(0o555)


def workspace_that_cannot_be_changed(top):
    put(top / ".envrc")
    top.chmod(0o555)


def repository_that_is_shut(top):
    put(top / ".git/HEAD")
    put(top / ".git/config")
    (top / ".git").chmod(0)


def folder_that_cannot_be_listed(top):
    put(top / "d/sub/.envrc")
    (top / "d").chmod(0o300)


def folder_that_cannot_be_entered(top):
    put(top / "d/sub/.envrc")
    put(top / "d/sub/.git/HEAD")
    (top / "d").chmod(0o444)


def folders_in_one_another(top):
    put(top / "a/b/c/.envrc")
    for name in ("a/b/c", "a/b", "a"):
        (top / name).chmod(0)


def folder_that_was_there(top):
    put(top / "old/.envrc")
    (top / "old").chmod(0)


def whole_workspace(top):
    put(top / "sub/.envrc")
    top.chmod(0)


def link_that_was_there(top):
    (top / "links/CLAUDE.md").unlink()
    put(top / "links/CLAUDE.md")
    (top / "links").chmod(0o555)


SCENES = {
    function.__name__: function
    for function in (
        folder_that_cannot_be_changed, workspace_that_cannot_be_changed, repository_that_is_shut,
        folder_that_cannot_be_listed, folder_that_cannot_be_entered, folders_in_one_another, folder_that_was_there,
        whole_workspace, link_that_was_there,
    )
}  # fmt: skip


def run(base, leave):
    """Return what is moved out, what could not be, what stays and the mode of each folder, by its path."""
    top = base / "project"
    put(top / "old/main.py")
    (top / "links").mkdir()
    (top / "links/CLAUDE.md").symlink_to("../old/main.py")
    planned = boxes.plan(base)
    leave(top)
    changes = quarantine_new_closed(planned)
    modes = {}
    for folder, _, _ in os.walk(top):
        modes[os.path.relpath(folder, top)] = os.lstat(folder).st_mode & 0o777
        open_to_owner(str(top), folder)
    stays = sorted(str(path.relative_to(top)) for path in top.rglob("*") if not path.is_dir())
    moved = [os.path.relpath(path, top) for path in changes.moved]
    return {"moved": moved, "left": changes.left, "stays": stays, "modes": modes}


def main():
    request = json.load(sys.stdin)
    if request["user"] is not None:
        become(request["user"])
    base = Path(request["folder"])
    print(json.dumps({name: run(base / name, leave) for name, leave in SCENES.items()}))


if __name__ == "__main__":
    main()
