"""Real agents as npm installs them, each against a scripted model of ours on loopback.

WORKBENCH_AGENTS names the folder with their `node_modules`, or with the programs. An agent has a home of its own, and only the
environment that is named here; the model makes its calls, so that each run does the same.
"""

import difflib
import json
import os
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.chat_server import Answer, ChatServer, chunk, event, usage
from tests.support.waits import PATIENCE

VARIABLE = "WORKBENCH_AGENTS"
PROGRAMS = "node_modules/.bin"
FOLDER = os.environ.get(VARIABLE, "")  # read before tests lose the environment


def program(name):
    """Return the path of an agent's program; skips the test where it is not there."""
    for path in (Path(FOLDER, PROGRAMS, name), Path(FOLDER, name)):
        if FOLDER and path.exists():
            return str(path)
    pytest.skip(f"{name} is not here: {VARIABLE} names no folder with {PROGRAMS}/{name}")


# --- what a model says ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """One call of a tool by the model."""

    tool: str
    given: dict
    id: str = "call_0"


def chat_reply(said):
    """Return a stream of chat completions that makes calls, or says a text."""
    if isinstance(said, str):
        return _stream({"role": "assistant", "content": said}, "stop")
    calls = [
        {"index": index, "id": call.id, "type": "function",
         "function": {"name": call.tool, "arguments": json.dumps(call.given)}}
        for index, call in enumerate(said)
    ]  # fmt: skip
    return _stream({"role": "assistant", "content": "", "tool_calls": calls}, "tool_calls")


def _stream(delta, finish):
    chunks = (chunk(delta), chunk(finish=finish), usage(9, 4), "[DONE]")
    return Answer([event(one) for one in chunks])


def responses_reply(said):
    """Return a stream of the Responses API that makes calls, or says a text."""
    if isinstance(said, str):
        content = [{"type": "output_text", "text": said}]
        items = [{"type": "message", "role": "assistant", "id": "message", "content": content}]
    else:
        items = [
            {"type": "function_call", "call_id": call.id, "name": call.tool,
             "arguments": json.dumps(call.given)}
            for call in said
        ]  # fmt: skip
    tokens = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13}
    none = {"input_tokens_details": None, "output_tokens_details": None}
    events = [
        {"type": "response.created", "response": {"id": "response"}},
        *({"type": "response.output_item.done", "output_index": at, "item": item}
          for at, item in enumerate(items)),
        {"type": "response.completed", "response": {"id": "response", "usage": {**tokens, **none}}},
    ]  # fmt: skip
    return Answer([f"event: {one['type']}\n".encode() + event(one) for one in events])


def gemini_reply(said):
    """Return a stream of `generateContent` that makes calls, or says a text."""
    if isinstance(said, str):
        parts = [{"text": said}]
    else:
        parts = [{"functionCall": {"id": call.id, "name": call.tool, "args": call.given}} for call in said]
    content = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    counts = {"promptTokenCount": 9, "candidatesTokenCount": 4, "totalTokenCount": 13}
    return Answer([event({"candidates": [content], "usageMetadata": counts, "modelVersion": "m"})])


REPLIES = {"chat": chat_reply, "responses": responses_reply, "gemini": gemini_reply}


class ScriptedModel(ChatServer):
    """Says its replies in turn, at last a text; requests without tools take none.

    A reply is a text, a list of calls, or a function that returns one for the request, or None for the next.
    """

    def __init__(self, wire, *said, otherwise="That is all."):
        self.wire = wire
        super().__init__(*said, otherwise=otherwise)

    def answer_to(self, asked):
        if not asked.body or not asked.json.get("tools"):
            return REPLIES[self.wire]("A title")
        said = super().answer_to(asked)
        while callable(said):
            made = said(asked.json)
            said = super().answer_to(asked) if made is None else made
        return REPLIES[self.wire](said)

    def read(self):
        """Return all that the model was given with its last request that has tools, as one text."""
        bodies = [asked.json for asked in self.asked if asked.body and asked.json.get("tools")]
        return json.dumps(bodies[-1], ensure_ascii=False)


# --- the agents -----------------------------------------------------------------------------------------


@dataclass
class RealAgent:
    """One agent in a home of its own; a subclass says how it is set up, started, and what its tools are called."""

    home: Path
    folder: Path
    model: ScriptedModel | None = None
    runs: list = field(default_factory=list)

    id = ""
    wire = "chat"
    config = ""
    """The folder of its settings, in its home."""
    own_settings = ("", "")
    """A settings file of its user, and what is in it."""
    runs_without_hook = True
    """Whether it makes a call whose hook was killed."""
    read_tool, edit_tool, write_tool = "read_file", "edit", "write_file"
    parameters = ("file_path", "content", "old_string", "new_string", "replace_all")
    edit_needs = ()
    """Further members of an edit, by name."""
    takes_other_input = True
    """Whether its hook may replace the input of a call."""

    def __post_init__(self):
        self.home.mkdir(parents=True, exist_ok=True)
        self.env = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "TMPDIR": str(self.home / "tmp"), "LANG": "C.UTF-8",
            **self.variables(),
        }  # fmt: skip
        (self.home / "tmp").mkdir(exist_ok=True)

    def variables(self):
        """Return the environment variables that it needs."""
        return {}

    def write(self, path, text):
        """Write a file of its home."""
        target = self.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text if isinstance(text, str) else json.dumps(text, indent=2))

    def start(self, *said, prompt="do it", env=()):
        """Start it with a model that says this; returns the process."""
        if self.model is not None:
            self.model.close()
        self.model = ScriptedModel(self.wire, *said)
        self.set_up()
        with self.log.open("ab") as log:
            run = subprocess.Popen(
                self.command(prompt), cwd=self.folder, env={**self.env, **self.address(), **dict(env)},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self.runs.append(run)
        return run

    def address(self):
        """Return the environment variables that name the model."""
        return {}

    @property
    def log(self):
        return self.home / "said.log"

    def words(self):
        """Return what it printed."""
        return self.log.read_text(errors="replace")[-4000:] if self.log.exists() else ""

    def end(self):
        """Wait until the last run has ended by itself; returns what its model was given last."""
        assert self.runs[-1].wait(PATIENCE) == 0, self.words()
        return self.model.read()

    def write_own_settings(self):
        """Write settings as its user may have them."""
        self.write(*self.own_settings)

    def settings(self):
        """Return the bytes of the settings in its home, by path."""
        found = (self.home / self.config).rglob("*.js*")
        return {str(path): path.read_bytes() for path in found if self.is_setting(path)}

    def is_setting(self, path):
        """Return whether a file is one of its user and not the agent's own."""
        return path.name in ("hooks.json", "settings.json") or path.parent.name == "plugins"

    def is_running(self):
        """Return whether its last run has not ended."""
        return self.runs[-1].poll() is None

    def close(self):
        """End every process that it started, and its model."""
        for run in self.runs:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
                run.wait(PATIENCE)
        if self.model is not None:
            self.model.close()

    def as_told(self):
        """Return replies that make the call which the reason of a denial has; none where none is needed."""
        return []

    def replace(self, name, old, new, *, every=False):
        """Return replies that replace a text in a file, after the model has read it."""
        path, _, was, now, everywhere = self.parameters
        given = {path: str(self.folder / name), was: old, now: new, **dict(self.edit_needs)}
        return [*self._read(name), [Call(self.edit_tool, {**given, everywhere: True} if every else given)]]

    def put(self, name, text):
        """Return replies that write a whole file."""
        path, content, *_ = self.parameters
        made = [Call(self.write_tool, {path: str(self.folder / name), content: text})]
        return [*(self._read(name) if (self.folder / name).exists() else []), made]

    def _read(self, name):
        return [[Call(self.read_tool, {self.parameters[0]: str(self.folder / name)})]]

    def shell(self, line):
        """Return replies that run a command line."""
        raise NotImplementedError


class Codex(RealAgent):
    id, wire, config = "codex", "responses", ".codex"
    own_settings = (
        ".codex/hooks.json",
        '{"hooks": {"Stop": [\n  {"hooks": [{"type": "command", "command": "true"}]}]}}',
    )

    def variables(self):
        return {"CODEX_HOME": str(self.home / ".codex")}

    def set_up(self):
        self.write(
            ".codex/config.toml",
            f'model = "scripted"\nmodel_provider = "loop"\napproval_policy = "on-request"\n'
            f'sandbox_mode = "danger-full-access"\n[model_providers.loop]\nname = "loop"\n'
            f'base_url = "{self.model.base_url}"\nwire_api = "responses"\n'
            f'[projects."{self.folder}"]\ntrust_level = "trusted"\n',
        )

    def command(self, prompt):
        skipped = ["--dangerously-bypass-hook-trust", "--skip-git-repo-check"]
        return [program("codex"), "exec", *skipped, "-C", str(self.folder), prompt]

    def shell(self, line):
        return [[Call("exec_command", {"cmd": line})]]

    def patch(self, name, after):
        """Return replies that bring a file to a text by a patch; its lines are written without a CR."""
        before, after = self._lines(self._text(name)), self._lines(after)
        lines = list(difflib.unified_diff(before, after, n=2, lineterm=""))[2:]
        hunks = "\n".join("@@" if line.startswith("@@ ") else line for line in lines)
        patch = f"*** Begin Patch\n*** Update File: {name}\n{hunks}\n*** End Patch"
        return self.shell(f"apply_patch <<'EOF'\n{patch}\nEOF")

    def _text(self, name):
        return (self.folder / name).read_bytes().decode()

    def _lines(self, text):
        return text.replace("\r", "").removesuffix("\n").split("\n")

    def replace(self, name, old, new, *, every=False):
        before, old = self._text(name).replace("\r", ""), old.replace("\r", "")
        return self.patch(name, before.replace(old, new, -1 if every else 1))

    def put(self, name, text):
        if (self.folder / name).exists():
            return self.patch(name, text)
        lines = "\n".join(f"+{line}" for line in text.removesuffix("\n").split("\n"))
        patch = f"*** Begin Patch\n*** Add File: {name}\n{lines}\n*** End Patch"
        return self.shell(f"apply_patch <<'EOF'\n{patch}\nEOF")


EXACT_INPUT = "exactly this input: "


def _call_as_told(asked):
    """Return the call whose exact input the last result has; None if it has none."""
    results = [message["content"] for message in asked["messages"] if message["role"] == "tool"]
    text = results[-1] if isinstance(results[-1], str) else results[-1][0]["text"]
    found = text.find(EXACT_INPUT)
    if found < 0:
        return None
    given, _ = json.JSONDecoder().raw_decode(text, found + len(EXACT_INPUT))
    return [Call("edit" if "old_string" in given else "write_file", given)]


class Qwen(RealAgent):
    id, mode, config, takes_other_input = "qwen", "yolo", ".qwen", False
    own_settings = (".qwen/settings.json", '{\n  // mine\n  "ui": {"theme": "Default"}\n}\n')

    def variables(self):
        return {
            "QWEN_HOME": str(self.home / ".qwen"),
            "OPENAI_API_KEY": "fabricated",
            "OPENAI_MODEL": "scripted",
        }

    def address(self):
        return {"OPENAI_BASE_URL": self.model.base_url}

    def set_up(self):
        """Nothing: its settings are the environment."""

    def command(self, prompt):
        return [program("qwen"), "--auth-type", "openai", "--approval-mode", self.mode, "-p", prompt]

    def shell(self, line):
        return [[Call("run_shell_command", {"command": line, "is_background": False})]]

    def as_told(self):
        return [_call_as_told]


class OpenCode(RealAgent):
    id, config = "opencode", ".config/opencode"
    read_tool, edit_tool, write_tool = "read", "edit", "write"
    parameters = ("filePath", "content", "oldString", "newString", "replaceAll")
    own_settings = (".config/opencode/plugins/mine.js", "export const Mine = async () => ({})\n")
    permission = None
    """Its own permission rules."""

    def variables(self):
        # It fetches a package for plugins when it starts: nothing answers there, so that it gives up at once.
        npm = {"NPM_CONFIG_REGISTRY": "http://127.0.0.1:9", "NPM_CONFIG_FETCH_RETRIES": "0"}
        off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")
        return {
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            **{f"OPENCODE_DISABLE_{name}": "1" for name in off},
            **npm,
        }

    def set_up(self):
        provider = {
            "npm": "@ai-sdk/openai-compatible", "name": "loop", "models": {"scripted": {"name": "scripted"}},
            "options": {"baseURL": self.model.base_url, "apiKey": "fabricated"},
        }  # fmt: skip
        models = {"model": "loop/scripted", "small_model": "loop/scripted"}
        rules = {} if self.permission is None else {"permission": self.permission}
        self.write(
            ".config/opencode/opencode.json",
            {"autoupdate": False, "provider": {"loop": provider}, **models, **rules},
        )

    def command(self, prompt):
        return [program("opencode"), "run", prompt]

    def shell(self, line):
        return [[Call("bash", {"command": line, "description": "Runs a command"})]]


class Gemini(RealAgent):
    id, wire, config, edit_tool = "gemini", "gemini", ".gemini", "replace"
    parameters = ("file_path", "content", "old_string", "new_string", "allow_multiple")
    edit_needs = (("instruction", "As asked."),)
    own_settings = (
        ".gemini/settings.json",
        '{\n  // mine\n  "security": {"auth": {"selectedType": "gemini-api-key"}},\n'
        '  "general": {"enableAutoUpdate": false},\n  "privacy": {"usageStatisticsEnabled": false}\n}\n',
    )

    def __post_init__(self):
        super().__post_init__()
        self.write_own_settings()

    def variables(self):
        return {"GEMINI_API_KEY": "fabricated", "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def address(self):
        return {"GOOGLE_GEMINI_BASE_URL": self.model.base_url.removesuffix("/v1")}

    def set_up(self):
        """Nothing: its settings are written once."""

    def command(self, prompt):
        return [program("gemini"), "-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", prompt]

    def shell(self, line):
        return [[Call("run_shell_command", {"command": line})]]


AGENTS = (Codex, Qwen, OpenCode, Gemini)
