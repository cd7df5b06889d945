"""A program that runs commands in a box as its caller wants it, and prints as JSON how they ended.

Its input is JSON: `folder` (where `project`, `home` and `data` are), `words`, and what is wanted of `user`, `processes`
(how many that user may have), `small_tmp` (bytes of a file system for /tmp), `stop_at` (a line that stops the command),
`can_nest`.
"""

import asyncio
import codecs
import ctypes
import json
import os
import resource
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from msgspec.structs import replace

from tests.support import boxes
from tests.support.escape_driver import BACKENDS, become
from workbench.effects.command_execution import prepare_command
from workbench.effects.sandbox import boxed_argv, boxed_environment
from workbench.host.command_box import quarantine_new_closed

NEW_MOUNTS, RECURSIVELY_PRIVATE = 0x20000, 0x44000
assert ThreadPoolExecutor, "loaded before another user is taken on, who may not be able to read it"
for encoding in ("ascii", "idna", "utf-8"):
    codecs.lookup(encoding)


def mount_small(folder, size):
    """Mount a small file system on a folder, for this process alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    for result in (
        libc.unshare(NEW_MOUNTS),
        libc.mount(b"none", b"/", None, RECURSIVELY_PRIVATE, None),
        libc.mount(b"none", folder.encode(), b"tmpfs", 0, f"size={size}".encode()),
    ):
        if result:
            raise OSError(ctypes.get_errno(), "it was not mounted")


async def follow(planned, words, stop_at):
    stop, output = asyncio.Event(), bytearray()

    def feed(data):
        output.extend(data)
        if stop_at and stop_at.encode() in output:
            stop.set()

    environment = boxed_environment({"PATH": os.environ["PATH"]}, planned.box)
    argv = boxed_argv(BACKENDS["bubblewrap"], planned.box, words)
    command = prepare_command(argv, planned.box.folder, environment, f"test-{os.getpid()}", is_boxed=True)
    end = await command.go(feed, boxes.SECONDS, stop, 1_000_000, grace=0.2)
    return end, output.decode("utf-8", "replace")


def main():
    wanted = json.load(sys.stdin)
    if (user := wanted.get("user")) is not None:
        become(user)
    places = boxes.places(Path(wanted["folder"]))
    if size := wanted.get("small_tmp"):
        mount_small(places.storage, size)
    if processes := wanted.get("processes"):
        resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
    planned = boxes.plan_box(places, "workspace")
    planned = replace(planned, box=replace(planned.box, can_nest=bool(wanted.get("can_nest"))))
    results = []
    for words in wanted["words"]:
        end, output = asyncio.run(follow(planned, ("sh", "-c", words), wanted.get("stop_at")))
        results.append({"code": end.code, "stopped": end.stopped, "output": output})
    results[-1]["changed"] = quarantine_new_closed(planned).changed
    print(json.dumps(results))


if __name__ == "__main__":
    main()
