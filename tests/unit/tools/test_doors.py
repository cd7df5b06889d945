"""Tools reach processes, files for writing and sockets through `effects` only: watched by the interpreter."""

import json
import os
import subprocess
import sys

WATCHED = r"""
import json, os, sys
sys.path.insert(0, os.getcwd())
from workbench.tools.registry import tool_registry
from workbench.tools.base import CallContext, ReadTool, RunTool, WriteTool, ToolLimits
from workbench.effects.files import Root

found, seen = [], []
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
EVENTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect", "socket.bind",
          "socket.__new__", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate")

def watch(event, arguments):
    if event == "open":
        if not isinstance(arguments[2], int) or not arguments[2] & WRITES:
            return
    elif event not in EVENTS:
        return
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if f"workbench{os.sep}effects{os.sep}" in name:
            seen.append(event)
            return
        if f"workbench{os.sep}tools{os.sep}" in name:
            found.append((event, str(arguments)[:120], name))
            return
        frame = frame.f_back

work = sys.argv[1]
tools = {tool.id: tool_registry().get(tool.id) for tool in tool_registry().descriptors().values()}
doors = 0
with Root(work) as root:
    place = CallContext(root=root)
    sys.addaudithook(watch)
    for name, tool in tools.items():
        for example in tool.descriptor.examples:
            given = dict(example.parameters)
            for key in tool.descriptor.path_parameters:
                given[key] = "a.txt" if name != "create_file" else "new.txt"
            if "url" in given:
                given["url"] = "http://127.0.0.1:9/"
            for way in ("read", "propose", "command", "act", "draft"):
                call = getattr(tool, way, None)
                if call is None:
                    continue
                doors += 1
                for last in ((place,), (root.image,), (ToolLimits(),), ()):
                    try:
                        call(given, *last)
                        break
                    except TypeError:
                        continue
                    except Exception:
                        break
print(json.dumps({"violations": found, "through_effects": len(seen), "doors": doors}))
"""


def test_no_tool_has_a_door_of_its_own(tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(tmp_path)], capture_output=True, text=True, timeout=120,
        env={**os.environ, "WORKBENCH_HOME": str(tmp_path / "home")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["violations"] == []
    assert said["doors"] >= 12
    assert (tmp_path / "a.txt").read_text() == "hello"
    assert not (tmp_path / "new.txt").exists()
