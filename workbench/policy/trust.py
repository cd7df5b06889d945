"""Trust in a workspace: the hash of the files that govern it, and the question that is put to the human."""

# What runs leave below `.wave` governs nothing (`workspaces`, `traces`, `artifacts`, `output`): with it in
# the hash of trust, the first run would end the trust that the second needs. Prompts and pipelines are not
# read from there.

import contextlib
import hashlib
import os
import re
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from workbench.domain.rows import Trust
from workbench.domain.values import WORKSPACE_CONFIG_FILE, Choice, Guards
from workbench.policy.paths import GOVERNING_FILES, GOVERNING_FOLDERS, is_below
from workbench.text import canonical
from workbench.text.safe import one_line

MAX_GOVERNING_FILE_BYTES: Final = 1_048_576
MAX_GOVERNING_FILES: Final = 2000
_PIECE_BYTES: Final = 65_536
PIPELINE_MANIFESTS: Final = ("workbench.yaml", "wave.yaml", ".wave/wave.yaml")
RUN_OUTPUT_FOLDERS: Final = frozenset(
    f"{folder}/{name}"
    for folder in GOVERNING_FOLDERS
    for name in ("workspaces", "traces", "artifacts", "output")
)
"""Folders that hold workspaces, traces and results: what lies there is no prompt and no pipeline."""
EMPTY_GOVERNING_HASH: Final = hashlib.sha256(b"").hexdigest()
_HOOK_EVENT: Final = re.compile(r"\b(?:Pre|Post)ToolUse\b")
_COMMAND_LINE: Final = re.compile(r"\bcommand[\"']?\s*:\s*(\"[^\"\n]*\"|'[^'\n]*'|[^,}\n]+)")
_RUN_LINE: Final = re.compile(r"(?m)^[ \t-]*[\"']?(?:command|script|run)[\"']?[ \t]*:")
_NAMED_FILE: Final = re.compile(
    r"\b(?:system_prompt_file|hooks_template|command)[\"']?\s*:\s*(\"[^\"\n]*\"|'[^'\n]*'|[^,}\n]+)"
)
TRUST_ENDED_MARK: Final = "trust ended"
TRUST_CHOICES: Final = (
    Choice(key="trust", label="trust this workspace"),
    Choice(key="trust_and_read", label="trust it, and let agents read files here without asking"),
    Choice(key="not_now", label="not now"),
)
_SANDBOX_CHOICE: Final = Choice(
    key="trust_and_sandbox",
    label="trust it, let agents read here, and let commands run inside the sandbox without asking",
)


def trust_choices(*, offers_sandbox: bool) -> tuple[Choice, ...]:
    """Return the answers to the trust question; one is only offered where a full sandbox works."""
    *trusting, not_now = TRUST_CHOICES
    return (*trusting, _SANDBOX_CHOICE, not_now) if offers_sandbox else TRUST_CHOICES


class TrustRefused(Exception):
    """What governs a workspace cannot be hashed, so the workspace cannot be trusted; says why."""


def governing_hash(workspace: str) -> str:
    """Return the SHA-256 over the sorted lines `path NUL hex-sha256 LF` of the governing files."""
    root = os.path.realpath(workspace)
    lines = (
        path.encode("utf-8", "surrogateescape") + b"\0" + _file_digest(root, path).encode() + b"\n"
        for path in governing_files(root)
    )
    return hashlib.sha256(b"".join(sorted(lines))).hexdigest()


def governing_files(workspace: str) -> tuple[str, ...]:
    """Return the sorted relative paths of what governs a workspace, or raise `TrustRefused`."""
    root = os.path.realpath(workspace)
    paths = {name for name in GOVERNING_FILES if os.path.lexists(f"{root}/{name}")}
    for folder in GOVERNING_FOLDERS:
        for path in _files_below(root, folder):
            paths.add(path)
            if len(paths) > MAX_GOVERNING_FILES:
                raise TrustRefused(f"{folder}: more than {MAX_GOVERNING_FILES} files; keep fewer there")
    paths.update(hook_named_files(root))
    return tuple(sorted(paths))


def governing_status(workspace: str) -> tuple[object, ...]:
    """Return the names, times, sizes and inodes of the governing files, or raise `TrustRefused`.

    Cheaper than the hash and weaker: a file may change without them. Nothing is allowed by it.
    """
    root = os.path.realpath(workspace)
    return tuple((path, _file_status(f"{root}/{path}")) for path in governing_files(root))


def hook_named_files(workspace: str) -> tuple[str, ...]:
    """Return the files inside the workspace that its hooks and manifests name, sorted."""
    root = os.path.realpath(workspace)
    commands = (*_hook_commands(root), *_manifest_commands(root))
    paths = {
        path
        for command in commands
        for word in _command_words(command)
        if (path := _path_in_workspace(root, word))
    }
    return tuple(sorted(paths))


def is_trusted(row: Trust | None, content_hash: str) -> bool:
    """Say whether a human's last word about a workspace is trust in exactly these files."""
    return row is not None and row.revoked_at is None and row.content_hash == content_hash


def governing_yaml_texts(workspace: str) -> dict[str, str]:
    """Return the governing YAML files of a workspace by path; one that cannot be read is empty."""
    root = os.path.realpath(workspace)
    names = (path for path in governing_files(root) if path.endswith((".yaml", ".yml")))
    return {name: _governing_text(root, name) for name in names}


def manifest_commands(texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the hook commands of the workspace's manifests; read by line, so rather too many."""
    return tuple(
        match[1].strip().strip("\"'")
        for text in (texts.get(name, "") for name in PIPELINE_MANIFESTS)
        if _HOOK_EVENT.search(text)
        for match in _COMMAND_LINE.finditer(text)
    )


def count_pipeline_commands(texts: Mapping[str, str]) -> int:
    """Count the lines of governing YAML files that name a command."""
    return sum(len(_RUN_LINE.findall(text)) for text in texts.values())


def trust_ended_reason(guards: Guards | None, content_hash: str) -> str:
    """Return why no grant counts once trust has ended; records without guards are taken to have had hooks."""
    if guards == "none" or (guards is None and content_hash == EMPTY_GOVERNING_HASH):
        return ""
    guard = "denials" if guards == "denials" else "hooks"
    return (
        f"trust in this folder ended while its {guard} were in force; nothing is allowed without asking "
        "until you answer the trust question"
    )


def trust_question(
    workspace: str, files: tuple[str, ...], acts: Iterable[str] = (), *, worktree_of: str = ""
) -> str:
    """Return the text of the trust question; `acts` are safe sentences about what the files do.

    `worktree_of` is the trusted folder of which the workspace is a git worktree, if it is one.
    """
    place = one_line(workspace, 160)
    origin = f"{worktree_sentence(worktree_of)} " if worktree_of else ""
    if not files:
        return f"Trust {place}? {origin}It has no agent settings yet. You are asked again if it gets some."
    listed = ", ".join(one_line(path, 60) for path in files[:8])
    more = f" and {len(files) - 8} more" if len(files) > 8 else ""
    return (
        f"Trust {place}? {origin}Its hooks can then run commands and its rules can allow calls. "
        f"Files: {listed}{more}. {''.join(f'{sentence} ' for sentence in acts)}"
        "You are asked again when any of them changes."
    )


def worktree_sentence(origin: str) -> str:
    """Return that a workspace is a git worktree of a trusted folder."""
    return f"It is a git worktree of {one_line(origin, 160)}, which you trust."


def _files_below(root: str, folder: str) -> Iterator[str]:
    top = f"{root}/{folder}"
    if not os.path.lexists(top):
        return
    if not _is_folder(top):
        yield folder
        return

    def refuse(error: OSError) -> None:
        raise TrustRefused(f"{error.filename}: cannot be listed: {error.strerror}")

    for current, folders, files in os.walk(top, onerror=refuse):
        below = current[len(root) + 1 :]
        # What runs leave behind governs nothing, and would end the trust with every run.
        folders[:] = [name for name in folders if f"{below}/{name}" not in RUN_OUTPUT_FOLDERS]
        links = [name for name in folders if os.path.islink(f"{current}/{name}")]  # noqa: PTH114 -- text
        for name in (*files, *links):
            yield f"{below}/{name}"


def _file_status(path: str) -> tuple[int, ...] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 -- a Path for each file costs more than its status
    except OSError:
        return None
    # The time of the last change of status cannot be set back.
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev


def _is_folder(path: str) -> bool:
    return stat.S_ISDIR(os.lstat(path).st_mode)


def _file_digest(root: str, path: str) -> str:
    return hashlib.sha256(_read_governing_file(root, path)).hexdigest()


def _read_governing_file(root: str, path: str) -> bytes:
    """Read a governing file whole. A link counts as the file it leads to, if that is inside."""
    label = one_line(path, 120)
    real = os.path.realpath(f"{root}/{path}")
    if not is_below(real, root):
        raise TrustRefused(f"{label}: leads outside the workspace; replace the link by a file")
    try:
        data = _read_regular_file(real)
    except OSError as error:
        raise TrustRefused(f"{label}: cannot be read: {error.strerror}") from None
    if data is None:
        raise TrustRefused(f"{label}: not a regular file; remove it")
    if len(data) > MAX_GOVERNING_FILE_BYTES:
        raise TrustRefused(
            f"{label}: larger than {MAX_GOVERNING_FILE_BYTES} bytes; keep large files elsewhere"
        )
    return data


def _read_regular_file(real: str) -> bytes | None:
    """Read a regular file until it is too large; None for anything else."""
    file = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        # In small pieces: room for the most that a file may have costs more than most files.
        data = b""
        while len(data) <= MAX_GOVERNING_FILE_BYTES and (piece := os.read(file, _PIECE_BYTES)):
            data += piece
        return data
    finally:
        os.close(file)


def _hook_commands(root: str) -> Iterator[str]:
    if not os.path.lexists(f"{root}/{WORKSPACE_CONFIG_FILE}"):
        return
    try:
        config: Any = canonical.loads(_read_governing_file(root, WORKSPACE_CONFIG_FILE))
    except (TrustRefused, ValueError):
        return
    hooks = cast("dict[str, Any]", config).get("hooks") if isinstance(config, dict) else None
    for entries in cast("dict[str, Any]", hooks).values() if isinstance(hooks, dict) else ():
        for entry in cast("list[Any]", entries) if isinstance(entries, list) else ():
            command = cast("dict[str, Any]", entry).get("command") if isinstance(entry, dict) else None
            if isinstance(command, str):
                yield command


def _manifest_commands(root: str) -> Iterator[str]:
    for name in PIPELINE_MANIFESTS:
        for match in _NAMED_FILE.finditer(_governing_text(root, name)):
            yield match[1].strip().strip("\"'")


def _governing_text(root: str, name: str) -> str:
    with contextlib.suppress(TrustRefused):
        return _read_governing_file(root, name).decode("utf-8", "replace")
    return ""


def _command_words(command: str) -> Iterator[str]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        yield from lexer
    except ValueError:  # an open quote
        yield from command.split()


def _path_in_workspace(root: str, word: str) -> str | None:
    if not word or "\0" in word or word.startswith("-"):
        return None
    try:
        path = Path(os.path.realpath(os.path.join(root, word)))  # noqa: PTH118 -- word may be absolute
        is_file = path.is_file()
    except OSError:
        return None
    return os.path.relpath(path, root) if is_file and is_below(str(path), root) else None
