"""A program that makes attempts to get out of a box, each in a new scene, and prints what came of them as JSON.

Its input is JSON: a folder for the scenes, the user to be (or null), how commands run (`outside`, `bubblewrap` or
`landlock`), and the names of the attempts.
"""

import asyncio
import codecs
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

from tests.support.escape_scene import SECRET, Scene, attempt_words, interpreter
from workbench.effects.command_execution import prepare_command
from workbench.effects.sandbox import Sandbox, boxed_argv, boxed_environment
from workbench.host.command_box import BoxPlaces, plan_box, quarantine_new_closed
from workbench.secrets import scrubber

assert scrubber, "loaded before another user is taken on, who may not be able to read it"
for encoding in ("ascii", "idna", "utf-8"):
    codecs.lookup(encoding)

SECONDS = 60
BACKENDS = {
    "bubblewrap": Sandbox(backend="bubblewrap", program="/usr/bin/bwrap"),
    "landlock": Sandbox(backend="landlock"),
}


def become(user):
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def add_special_files(scene, user):
    """Add what only root can make: a setuid program and a device."""
    if os.geteuid() != 0:
        return
    workspace = scene.workspace
    shutil.copyfile(shutil.which("id"), workspace / "setuid-id")
    (workspace / "setuid-id").chmod(stat.S_ISUID | 0o755)
    os.mknod(workspace / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    if user is not None:
        for folder, _, names in os.walk(scene.base):
            for path in (
                folder,
                *(f"{folder}/{name}" for name in names if name not in ("setuid-id", "zero")),
            ):
                os.chown(path, user, user, follow_symlinks=False)


def run_outside(scene, words):
    environment = {"PATH": os.environ["PATH"], "HOME": str(scene.home), "TMPDIR": str(scene.base / "tmp")}
    done = subprocess.run(words, cwd=scene.workspace, env=environment, capture_output=True, timeout=SECONDS)
    return done.returncode, done.stdout + done.stderr


def run_boxed(scene, words, sandbox):
    workspace = str(scene.workspace)
    places = BoxPlaces(
        data=str(scene.data), storage=f"{scene.data}/sandbox/s", caches=f"{scene.data}/sandbox/c", workspace=workspace,
        folder=workspace, home=str(scene.home), search_path=os.environ["PATH"],
        visible=(str(Path(interpreter()).parents[1]),),
    )  # fmt: skip
    planned = plan_box(places, "workspace")
    environment = boxed_environment({"PATH": os.environ["PATH"]}, planned.box)
    output = bytearray()
    command = prepare_command(
        boxed_argv(sandbox, planned.box, words),
        workspace,
        environment,
        f"escape-{os.getpid()}",
        is_boxed=True,
    )
    end = asyncio.run(command.go(output.extend, SECONDS, None, 1_000_000))
    quarantine_new_closed(planned)
    return end.code, bytes(output)


def has_escaped(name, scene, code, output):
    """Return whether an attempt worked, by what it did where that can be seen, else by what it says."""
    if SECRET in output.decode("utf-8", "replace") or scene.changed() or scene.reached() or scene.stays():
        return True
    match name:
        case "kill":
            return scene.is_victim_gone()
        case "limit":
            return scene.is_victim_limited()
        case "remove_memory":
            return scene.is_memory_gone()
        case "setuid":
            return output.strip() == b"0"
        case "set_user_bit":
            return any(
                path.lstat().st_mode & (stat.S_ISUID | stat.S_ISGID)
                for path in scene.workspace.iterdir()
                if path.name != "setuid-id"
            )
        case "git_mounted_over":
            return b"escaped" in output
        case "ptrace" | "set_namespace" | "vsock" | "keyring" | "make_device" | "read_device":
            return code == 0
        case "read_etc_shadow" | "kernel_memory" | "kernel_setting" | "system_setting":
            return code == 0
        case _:
            return False


def main():
    request = json.load(sys.stdin)
    user, how = request["user"], request["how"]
    results = {}
    scenes = [Scene(f"{request['folder']}/{name}") for name in request["names"]]
    for scene in scenes:
        scene.make_files()
        add_special_files(scene, user)
    if user is not None:
        become(user)
    for name, scene in zip(request["names"], scenes, strict=True):
        with scene:
            words = attempt_words(name, scene)
            run = run_outside if how == "outside" else lambda s, w: run_boxed(s, w, BACKENDS[how])
            code, output = run(scene, words)
            text = output.decode("utf-8", "replace").strip().rpartition("\n")[2]
            results[name] = [has_escaped(name, scene, code, output), f"{code}: {text} {scene.changed()}"]
    print(json.dumps(results))


if __name__ == "__main__":
    main()
