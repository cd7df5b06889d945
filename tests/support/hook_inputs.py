"""Inputs of hooks as agents have given them; recorded with the real programs, below `shared/data/hooks`."""

import json
from pathlib import Path

RECORDED = Path(__file__).resolve().parents[2].parent / "shared/data/hooks"
RECORDED_FOLDER = "/home/dev/shop"
FILES = {
    "claude": "claude-code-2.1.332.jsonl",
    "claude-permission": "claude-code-2.1.332-permission.jsonl",
    "codex": "codex-0.171.0.jsonl",
    "qwen": "qwen-code-0.24.4.jsonl",
}
NOTE = "".join(f"line {number}\n" for number in range(1, 31))
"""The file that all of them edit."""


def recorded_inputs(name, folder=RECORDED_FOLDER):
    """Return the inputs of a recording, in order, as if they had been made in a folder."""
    text = (RECORDED / FILES[name]).read_text().replace(RECORDED_FOLDER, str(folder))
    return [json.loads(line) for line in text.splitlines()]


def recorded_plugin_calls(folder=RECORDED_FOLDER):
    """Return what OpenCode gave its plugin: the event of ours, and the document that our plugin sends."""
    log = (RECORDED / "opencode-1.18.33-plugin.log").read_text().replace(RECORDED_FOLDER, str(folder))
    events = {"before": "tool.execute.before", "after": "tool.execute.after"}
    found = []
    for line in log.splitlines():
        kind, _, document = line.partition(" ")
        try:
            said = json.loads(document)
        except ValueError:
            continue  # the log cut it
        if kind in events:
            found.append((events[kind], {"directory": str(folder), **said}))
        elif kind == "event":
            found.append((said["type"], {"directory": str(folder), "event": said}))
    return found


def first(inputs, event, tool):
    """Return the first input of an event about a tool."""
    return next(i for i in inputs if (i["hook_event_name"], i.get("tool_name")) == (event, tool))
