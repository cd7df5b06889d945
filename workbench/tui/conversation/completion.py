"""Completion of `/commands` and `@files` while a word is typed. Pure."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from heapq import nsmallest
from typing import Final, Literal, cast

from msgspec import Struct, field

from workbench.domain.tools import TOOL_GROUPS, BuiltInTool
from workbench.text.nearest import nearest_name

MAX_COMPLETIONS: Final = 8
"""Candidates shown."""
SLASH_COMMANDS: Final = (
    ("/compact", "a summary instead of all that was said"),
    ("/continue", "continue after a pause"),
    ("/end", "end this session for good"),
    ("/help", "keys and signs"),
    ("/mark", "mark this moment, for its replay"),
    ("/messages", "everything this screen said"),
    ("/mode", "what it asks about"),
    ("/model", "change the model"),
    ("/new", "another session"),
    ("/provider", "models and keys; add one"),
    ("/quit", "leave; agents keep working"),
    ("/queue", "queued messages: edit, take back, reorder"),
    ("/restart", "restart the background process"),
    ("/sandbox", "what commands may touch, and whether they ask"),
    ("/stop", "stop the agent"),
    ("/tools", "narrow the tools of this session"),
    ("/worktree", "a new session in a git worktree of its own"),
)
"""Command and what it does; the screen carries them out."""
ADD_PROVIDER: Final = "add a provider…"
"""The last of the models that `/model` offers."""
COMMAND_ALIASES: Final = {
    "/compact": "compress summarize summarise context tokens full shorten",
    "/continue": "resume unpause", "/end": "close finish", "/mark": "bookmark note",
    "/messages": "log notices notifications history", "/mode": "permissions approval auto ask plan",
    "/model": "model switch change llm", "/queue": "queued pending withdraw unsend cancel message",
    "/restart": "host daemon server background",
    "/sandbox": "box isolation bubblewrap landlock inside outside network auto",
    "/tools": "allowed capabilities limit restrict narrow",
    "/worktree": "git branch isolate separate copy parallel",
}  # fmt: skip
"""What people call a command who know it from elsewhere; the palette finds it by them."""
COMMANDS_WITH_VALUE: Final = frozenset({"model", "mode", "sandbox", "tools"})
"""Commands that want a word, and offer those there are."""
MODE_CHOICES: Final = (
    ("every", "asks before every call"),
    ("reads", "asks before all except reads"),
    ("settings", "follow config.json and trust"),
)
"""What `/mode` takes."""
SANDBOX_CHOICES: Final = (
    ("ask", "commands inside ask as all others"),
    ("auto", "commands inside run without asking"),
    ("workspace", "they can write the workspace, no network"),
    ("read-only", "they can write nothing, no network"),
    ("outside", "no sandbox: they run as you"),
    ("settings", "follow config.json and trust"),
)
"""What `/sandbox` takes."""
TOOL_CHOICES: Final = (
    ("list", "say which it has"),
    *((name, "those that only read") for name in TOOL_GROUPS),
    ("all", "all that it can have"),
    *((tool.id, tool.verb) for tool in BuiltInTool),
)
"""What `/tools` takes: one of the first words, or names of tools."""
_ALIASES: Final = {"/exit": "/quit", "/q": "/quit", "/leave": "/quit", "/commands": "/help"}
"""What people type who come from other programs."""
_FILE_MENTION = re.compile(r"(?:^|(?<=\s))@(\S*)\Z")
_COMMAND_WORD = re.compile(r"\A/(\w*)\Z")
_COMMAND_VALUE = re.compile(r"\A/(model|mode|sandbox) +(\S*)\Z|\A/(tools) +(?:\S+ +)*(\S*)\Z")
_LIKE_A_COMMAND = re.compile(r"/([a-z]{2,20})(?: |\Z)")


class TypedWord(Struct, frozen=True, kw_only=True):
    """The word that is being typed."""

    kind: Literal["file", "command", "model", "mode", "sandbox", "tools"]
    query: str
    """Without its `@` or `/`."""
    start: int
    """Where it begins in the text before the cursor."""


class CompletionSources(Struct, frozen=True, kw_only=True):
    """What the composer knows of what can be put in; None is not asked for yet."""

    files: Sequence[str] = ()
    models: Sequence[tuple[str, str]] = ()
    """Name, and what is said of it."""
    now: "dict[str, str]" = field(default_factory=dict[str, str])
    """Command, and what it would change."""


class Completions(Struct, frozen=True, kw_only=True):
    """Candidates for one word."""

    word: TypedWord
    candidates: tuple[tuple[str, str], ...]
    """What is put in its place, and what is said of it."""
    total: int = 0
    """Of how many there are."""
    now: str = ""
    """What is in force, where a candidate changes it."""


def word_before_cursor(before: str, *, is_first_line: bool) -> TypedWord | None:
    """Return the word that a completion would replace.

    Args:
        before: the line up to the cursor.
        is_first_line: commands stand at the very beginning only.
    """
    if match := _FILE_MENTION.search(before):
        return TypedWord(kind="file", query=match.group(1), start=match.start())
    if is_first_line and (match := _COMMAND_WORD.match(before)):
        return TypedWord(kind="command", query=match.group(1), start=0)
    return _command_value(before) if is_first_line else None


def _command_value(before: str) -> TypedWord | None:
    match = _COMMAND_VALUE.match(before)
    if match is None:
        return None
    if match.group(3) is not None:
        return TypedWord(kind="tools", query=match.group(4), start=match.start(4))
    kind = cast('Literal["model", "mode", "sandbox"]', match.group(1))
    return TypedWord(kind=kind, query=match.group(2), start=match.start(2))


def completions_of(word: TypedWord, known: CompletionSources) -> Completions:
    """Return what can stand for a word."""
    match word.kind:
        case "command":
            rows = [(name, known.now.get(name) or words) for name, words in SLASH_COMMANDS]
            candidates = tuple(row for row in rows if row[0].startswith(f"/{word.query}"))
            return Completions(word=word, candidates=candidates, total=len(SLASH_COMMANDS))
        case "mode" | "sandbox":
            rows = MODE_CHOICES if word.kind == "mode" else SANDBOX_CHOICES
            candidates = tuple(row for row in rows if row[0].startswith(word.query.lower()))
            now = known.now.get(f"/{word.kind}", "")
            return Completions(word=word, candidates=candidates, total=len(rows), now=now)
        case "tools":
            return Completions(
                word=word, candidates=_tool_candidates(word)[:MAX_COMPLETIONS], total=len(TOOL_CHOICES)
            )
        case "model":
            wanted = word.query.lower()
            matching = [row for row in known.models if wanted in row[0].lower()]
            # What is typed goes first; without a word it is the session's own model, then as servers say.
            matching.sort(
                key=lambda row: (not row[0].lower().startswith(wanted), len(row[0]) if wanted else 0)
            )
            # Not where a model is typed: enter would open a form instead of taking the words as they are.
            add = ((ADD_PROVIDER, ""),) if ADD_PROVIDER.startswith(wanted) else ()
            candidates = (*matching[: MAX_COMPLETIONS - len(add)], *add)
            return Completions(word=word, candidates=candidates, total=len(known.models) + len(add))
        case "file":
            names = best_file_matches(known.files, word.query)
            return Completions(
                word=word, candidates=tuple((name, "") for name in names), total=len(known.files)
            )


def _tool_candidates(word: TypedWord) -> tuple[tuple[str, str], ...]:
    """Return the tools for a word; behind other words nothing is offered before a letter is typed."""
    wanted, is_first = word.query.lower(), word.start == len("/tools ")
    if not wanted and not is_first:
        return ()
    rows = [row for row in TOOL_CHOICES if wanted in row[0].lower()]
    return tuple(sorted(rows, key=lambda row: bool(wanted) and not row[0].lower().startswith(wanted)))


def best_file_matches(files: Iterable[str], query: str) -> list[str]:
    """Return the files that match, best first: the name begins so, holds it, the path holds it.

    Only when none does: paths that hold the letters in this order.
    """
    wanted = query.lower()
    files = tuple(files)
    lowered = _lower_names(files)
    found = [(low, name) for low, name in zip(lowered, files, strict=True) if wanted in low]
    if found:
        ranked = ((_match_rank(low, wanted), len(name), name) for low, name in found)
        return [name for _, _, name in nsmallest(MAX_COMPLETIONS, ranked)]
    pairs = zip(lowered, files, strict=True)
    scattered = ((len(name), name) for low, name in pairs if _has_letters_in_order(low, wanted))
    return [name for _, name in nsmallest(MAX_COMPLETIONS, scattered)]


@lru_cache(maxsize=1)
def _lower_names(files: tuple[str, ...]) -> tuple[str, ...]:
    """Return names in lower case; the same files are asked for again with each letter that is typed."""
    return tuple(name.lower() for name in files)


def _match_rank(name: str, query: str) -> int:
    base = name.rpartition("/")[2]
    if base.startswith(query):
        return 0
    return 1 if query in base else 2


def _has_letters_in_order(name: str, query: str) -> bool:
    index = -1
    for character in query:
        index = name.find(character, index + 1)
        if index < 0:
            return False
    return True


def parse_slash_command(text: str) -> tuple[str, str] | None:
    """Return the command that a message is, with what follows it; None for words to the agent."""
    name, _, rest = text.strip().partition(" ")
    name = _ALIASES.get(name, name)
    known = {command for command, _ in SLASH_COMMANDS}
    return (name[1:], rest.strip()) if name in known else None


def command_words(text: str) -> str:
    """Return the words behind a `!`, of which a command is to be made; empty for all other messages.

    In other programs of this kind a `!` runs a command; nothing here does.
    """
    return text[1:].strip() if text.startswith("!") and text.strip("! \n") else ""


def sendable_command(command: str) -> str:
    """Return a command as it stands in the composer: behind a blank where its first letter has a meaning."""
    return f" {command}" if command.startswith(("/", "!")) else command


def mistyped_command_hint(text: str) -> str:
    """Return what to say of a message that was meant for the screen, as it seems; empty for all others.

    One word behind a slash is a command, or nearly one: a path has a second slash, and what begins with a
    blank goes to the agent as it is.
    """
    match = _LIKE_A_COMMAND.match(text)
    names = [command[1:] for command, _ in SLASH_COMMANDS]
    if match is None or match[1] in names or f"/{match[1]}" in _ALIASES or "\n" in text.strip():
        return ""
    near = nearest_name(match[1], names)
    if not near and match[0] != text.strip():
        return ""
    meant = f"Did you mean /{near}?" if near else f"There are {', '.join(f'/{name}' for name in names)}."
    return f"Nothing was sent: there is no command /{match[1]}. {meant} A blank before it sends it as it is."
