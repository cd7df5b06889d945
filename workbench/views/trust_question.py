"""The trust question in lists: what a folder's own files would do once they count, and which files these are.

Read from the recorded subject of the question, which its digest covers.
"""

from collections.abc import Iterable, Iterator
from typing import Final, cast

from msgspec import Struct

from workbench.domain.values import Json, JsonObject
from workbench.text.safe import one_line

MAX_COMMAND_CHARACTERS: Final = 4_000
_MAX_NAME_CELLS: Final = 120
_MAX_FILES: Final = 2_000
TRUST_SENTENCE: Final = (
    "With your trust its hooks can run commands and its rules can allow calls. You are asked again "
    "when any of them changes."
)
NOTHING_TO_TRUST: Final = (
    "It has no settings for agents yet, and nothing would run. You are asked again when that changes."
)
TRUST_ANSWERED: Final = (
    "When an agent wants to change a file or run a command, it appears here with what exactly would happen."
)


class QuestionCounts(Struct, frozen=True, kw_only=True):
    """How many questions the own newest calls would have been, by what is asked about."""

    every: int
    """Before every call."""
    all_but_reads: int


def trust_choice_notes(counts: QuestionCounts | None) -> dict[str, str]:
    """Return what each answer to the trust question asks about, and how often that was, where it is known."""
    every = reads = ""
    if counts is not None and counts.every:
        every = f": {counts.every:,} of the last {counts.every:,}" if counts.every > 1 else ""
        reads = f": {counts.all_but_reads:,} of the last {counts.every:,}" if every else ""
    return {
        "trust": f"asks before every call{every}",
        "trust_and_read": f"asks before all except reads{reads}",
        "not_now": "asks before every call",
    }


class NamedList(Struct, frozen=True, kw_only=True):
    """Some things of one kind under a heading; all of it is untrusted text."""

    heading: str
    rows: tuple[tuple[str, str], ...]
    """Each with what it is for: `PreToolUse Bash` and the command."""


def has_trust_facts(subject: JsonObject) -> bool:
    """Return whether a question records what it asks; one that does not says it in its prompt alone."""
    return isinstance(subject.get("files"), list) and isinstance(subject.get("hooks"), list)


def trust_acts(subject: JsonObject) -> tuple[NamedList, ...]:
    """Return what would run and where words would go."""
    return tuple(part for part in (_hooks(subject), _servers(subject), _pipelines(subject)) if part.rows)


def trust_files(subject: JsonObject) -> tuple[NamedList, ...]:
    """Return the files that the answer covers."""
    files = [name for name in _items(subject.get("files")) if isinstance(name, str)][:_MAX_FILES]
    by_folder: dict[str, list[str]] = {}
    for path in files:
        folder, slash, name = path.rpartition("/")
        by_folder.setdefault(folder + slash, []).append(one_line(name, _MAX_NAME_CELLS))
    rows = tuple(
        (one_line(folder, _MAX_NAME_CELLS), "   ".join(by_folder[folder])) for folder in sorted(by_folder)
    )
    return (
        (NamedList(heading=f"{len(files)} file{'s' if len(files) > 1 else ''}", rows=rows),) if rows else ()
    )


def _hooks(subject: JsonObject) -> NamedList:
    rows = [
        (_text(hook, "event", "matcher") or "hook", _command(hook.get("argv")))
        for hook in _objects(subject.get("hooks"))
    ]
    rows = [*_counted(rows, subject.get("hook_count"))]
    checker = subject.get("checker")
    if isinstance(checker, str) and checker:
        rows.append(("to check findings", checker[:MAX_COMMAND_CHARACTERS]))
    return NamedList(heading="would run", rows=tuple(rows))


def _servers(subject: JsonObject) -> NamedList:
    servers = sorted(_objects(subject.get("servers")), key=lambda server: server.get("used") is not True)
    rows = [
        (
            "conversation goes to" if server.get("used") is True else "also names",
            _text(server, "base_url", "model"),
        )
        for server in servers
    ]
    return NamedList(heading="model servers", rows=tuple(rows))


def _pipelines(subject: JsonObject) -> NamedList:
    count = subject.get("pipeline_commands")
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        return NamedList(heading="pipelines", rows=())
    lines = "1 line" if count == 1 else f"{count} lines"
    rows = (("when you start one", f"commands on {lines}"),)
    return NamedList(heading="pipelines", rows=rows)


def _counted(rows: list[tuple[str, str]], count: Json) -> tuple[tuple[str, str], ...]:
    more = count - len(rows) if isinstance(count, int) else 0
    return (*rows, ("and", f"{more} more")) if more > 0 else tuple(rows)


def _command(argv: Json) -> str:
    """Return a command as the shell gets it: `sh -c` in front of it says nothing."""
    words = [word for word in _items(argv) if isinstance(word, str)]
    text = words[2] if words[:2] == ["/bin/sh", "-c"] and len(words) == 3 else " ".join(words)
    return text[:MAX_COMMAND_CHARACTERS]


def _text(values: JsonObject, *names: str) -> str:
    texts = (values.get(name) for name in names)
    return " ".join(one_line(text, _MAX_NAME_CELLS) for text in texts if isinstance(text, str) and text)


def _items(value: Json) -> Iterable[Json]:
    return cast("list[Json]", value) if isinstance(value, list) else ()


def _objects(value: Json) -> Iterator[JsonObject]:
    yield from (item for item in _items(value) if isinstance(item, dict))
