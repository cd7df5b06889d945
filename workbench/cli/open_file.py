"""`workbench FILE`: open what a file is, recognised by its content, wherever that is shown."""

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from workbench.cli.console import Console, why_no_screen
from workbench.cli.errors import EXIT_FAILED, EXIT_OK, Refusal
from workbench.effects.files import workspace_path
from workbench.text.human import error_sentence
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from workbench.cli.attached_screen import OpenedScreen
    from workbench.config.layer_reader import LayerRead
    from workbench.tui.main.context import MainContext

EXAMPLE = """workbench open report.sarif
workbench report.sarif
workbench fix.patch
workbench pipelines/release.yaml
workbench ~/.claude/projects/shop/session.jsonl"""
FileKind = Literal["findings", "pipeline", "manifest", "settings", "session", "patch"]
_HEAD_BYTES: Final = 65_536
_MAX_SETTINGS_BYTES: Final = 1_000_000
WINK_MEMBERS: Final = frozenset({
    "default_model", "ollama_base_url", "api_timeout_seconds", "max_session_messages",
    "auto_approval_rules", "output_format", "config_version",
})  # fmt: skip
"""S0 Config."""
_FINDINGS_MEMBERS: Final = frozenset({"runs", "generalDiagnostics", "incidents", "rule_id"})
PATCH_SUFFIXES: Final = (".patch", ".diff")
_COULD_BE: Final = (
    "it is none of these: findings (SARIF, Konveyor, S2, ruff or pyright), a patch, a pipeline or its"
    " manifest (YAML with kind), a Wink configuration, a session or log of an agent, a log of commands"
)


def configure(parser: "ArgumentParser") -> None:
    parser.add_argument(
        "file", metavar="FILE", help="findings, a patch, a pipeline, settings, a session or a log"
    )


def simple(words: Sequence[str]) -> Mapping[str, object] | None:
    """Return the options of `workbench FILE`, which need no parser; None for others."""
    return {"file": words[0]} if len(words) == 1 and not words[0].startswith("-") else None


def execute(options: "Namespace", console: Console) -> int:
    path = Path(options.file).expanduser()
    file = str(path.resolve())
    match file_kind(path):
        case "findings":
            workspace = workspace_path(options.directory)
            remedy = "workbench incidents run FILE --dry-run prints them"
            return _open_screen(console, workspace, remedy, lambda context: context.open_findings(file))
        case "pipeline" | "manifest" as kind:
            named = file if kind == "pipeline" else ""
            remedy, project = "workbench pipeline validate FILE checks it", _project(file, options.directory)
            return _open_screen(console, project, remedy, lambda context: _launch(context, named))
        case "patch":
            return _open_patch(console, path, workspace_path(options.directory))
        case "settings":
            return _show_settings(path, console)
        case "session":
            return _replay(path, options, console)


def file_kind(path: Path) -> FileKind:
    """Return what a file is by its content; a session unless it is something else. Raises Refusal."""
    try:
        status = path.stat()
        # Looked at before it is opened: a pipe that nobody writes to would be waited for.
        if not stat.S_ISREG(status.st_mode):
            raise _unknown(path, "it is not a regular file")
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise _unknown(path, error.strerror or str(error)) from None
    return _kind_of(path, head, status.st_size)


def _kind_of(path: Path, head: bytes, size: int) -> FileKind:
    from workbench.formats.findings.read import findings_format
    from workbench.formats.unified_diff_reader import looks_like_patch

    if path.suffix in PATCH_SUFFIXES or looks_like_patch(head):
        return "patch"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    members = set(_top_members(text)) if text[:1] == b"{" else set[str]()
    if members:
        if members & _FINDINGS_MEMBERS and (findings_format(head) or members & {"incidents", "rule_id"}):
            return "findings"
        if members & WINK_MEMBERS and size <= _MAX_SETTINGS_BYTES and not members & {"messages", "id"}:
            return "settings"
    elif findings_format(head):
        return "findings"
    if members & {"kind", "steps"} or re.search(rb"^(kind|steps)\s*:", text, re.MULTILINE):
        from workbench.pipelines.load import document_kind

        return document_kind(str(path)) or "session"
    return "session"


def _refuse_workflow(path: Path) -> None:
    """Refuse a file that describes work for another program, with what to do about it."""
    from workbench.formats.workflows.outline import MOST_BYTES
    from workbench.formats.workflows.signatures import recognise_workflow

    with path.open("rb") as file:
        found = recognise_workflow(str(path.resolve()), file.read(MOST_BYTES))
    if found is not None:
        what = f"“{one_line(str(path), 120)}” was not opened"
        raise Refusal(what, f"it is {found.title}, which workbench does not run", found.advice) from None


def _top_members(text: bytes) -> Iterator[str]:
    """Yield the names of the members of an object at the beginning of a text, as far as it reaches.

    A string that is cut off reaches to the end, so that no mark in it is tried as another beginning.
    """
    depth, is_name = 0, False
    for token in re.finditer(rb'"((?:[^"\\]|\\.)*+)"?|[{}\[\]:,]', text):
        mark = token.group()
        if mark in (b"{", b"["):
            depth, is_name = depth + 1, mark == b"{"
        elif mark in (b"}", b"]"):
            depth -= 1
            if not depth:
                return
        elif mark == b",":
            is_name = True
        elif mark == b":":
            is_name = False
        elif depth == 1 and is_name:
            yield token.group(1).decode("utf-8", "replace")


def _unknown(path: Path, why: str) -> Refusal:
    shown = one_line(str(path), 120)
    return Refusal(f"“{shown}” was not opened", why, "workbench --help shows what there is")


# --- the screen -----------------------------------------------------------------------------------


def _open_screen(console: Console, workspace: str, remedy: str, then: "OpenedScreen") -> int:
    import gc

    from workbench.cli.screen import open_screen

    if why := why_no_screen():
        raise Refusal("The screen was not opened", why, remedy)
    gc.disable()  # the app lets it go on after its first frame
    return open_screen(console, workspace, then=then)


def _open_patch(console: Console, path: Path, workspace: str) -> int:
    from workbench.cli.apply import patch_session
    from workbench.cli.screen import open_screen

    if why := why_no_screen():
        raise Refusal("The screen was not opened", why, "workbench apply FILE proposes a patch without it")
    session_id = patch_session(console, path, workspace)
    return EXIT_FAILED if session_id is None else open_screen(console, workspace, session_id)


def _launch(context: "MainContext", file: str) -> None:
    from workbench.tui.pipeline.launch_form import open_launch

    context.go_to(context.widgets.pipeline.PLACE)
    open_launch(context, file)


def _project(file: str, directory: str | None) -> str:
    """Return the workspace for a pipeline's file: the one that is named, else the project it belongs to."""
    from workbench.pipelines.load import project_of

    return workspace_path(directory if directory is not None else project_of(file))


# --- what has no place ------------------------------------------------------------------------------


def _show_settings(path: Path, console: Console) -> int:
    """Print what a configuration would set, beside what holds now; nothing is changed."""
    from workbench.cli.config import read_configuration
    from workbench.config.config_file import UnreadableFile, read_config_file
    from workbench.config.describe import config_as_json, plain_json
    from workbench.config.layer_reader import LayerRead, read_layer_object
    from workbench.config.layers import USER_CONFIG_FILE
    from workbench.journal.home import default_home_path
    from workbench.text.canonical import dumps

    read = LayerRead(layer="user", file=str(path), is_binding=True)
    try:
        root = read_config_file(path, may_be_link=True)
    except UnreadableFile as error:
        raise _unknown(path, error.reason) from None
    if root is not None:
        read_layer_object(read, root)
    now = _flat(config_as_json(read_configuration(workspace_path(None)).config))
    console.say(f"{one_line(str(path), 120)} is a configuration. It would set:")
    for key, value in read.values.items():
        new, current = dumps(plain_json(value.value)), dumps(now.get(key))
        comparison = "as it is" if new == current else f"now {one_line(current, 100)}"
        console.say(f"  {key} = {one_line(new, 160)}   ({comparison})")
    _note_problems(read, console)
    target = default_home_path(os.environ) / USER_CONFIG_FILE
    console.say(f"Nothing was changed. Copy what you want of it into {target}.")
    return EXIT_FAILED if any(problem.fatal for problem in read.report.found) else EXIT_OK


def _note_problems(read: "LayerRead", console: Console) -> None:
    if not read.values:
        console.say("  nothing that is known here")
    console.note_lines(map(str, read.report.found))
    for note in read.notes:
        console.note(error_sentence(note))


def _flat(values: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in values.items():
        flat[f"{prefix}{name}"] = value
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")  # type: ignore[arg-type]
    return flat


def _replay(path: Path, options: "Namespace", console: Console) -> int:
    """Replay a session or a log; what is nothing that is known says what it could have been."""
    from argparse import Namespace

    from workbench.cli import replay
    from workbench.formats import detect

    try:
        with path.open("rb") as stream:
            detect.detect_format(stream, str(path))
    except detect.UnknownFormat as error:
        _refuse_workflow(path)
        raise _unknown(path, f"{_COULD_BE}; {error}") from None
    except OSError as error:
        raise _unknown(path, error.strerror or str(error)) from None
    word = str(path) if os.sep in str(path) else f".{os.sep}{path}"
    values = replay.simple([word])
    return replay.execute(Namespace(directory=options.directory, **(values or {})), console)
