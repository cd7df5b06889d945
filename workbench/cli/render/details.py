"""One action in full: its facts, what it would do, its warnings in words, the decision and what came of it.

Pure. What it is given is what was shown or recorded; it never reads a blob.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from workbench.changes.model import FileChange
from workbench.cli.render.diff import diff_lines, file_lines
from workbench.cli.render.facts import Facts, action_facts, call_facts, decision_facts
from workbench.cli.render.rows import MICROS, Asked, action_row, call_row, clock_time
from workbench.cli.signs import Signs
from workbench.domain.codec import plain
from workbench.domain.events import ActionOpened
from workbench.domain.rows import Action, Call
from workbench.domain.values import Hunk, Json, Taken
from workbench.text.human import duration
from workbench.text.safe import one_line, safe

_WARNINGS: Mapping[str, str] = {
    "scrubbed": "It holds what looks like a secret; the record leaves that out.",
    "hidden": "It holds characters that cannot be seen; they are shown as ⟨U+…⟩.",
    "padding": "It holds rows of blanks or empty lines with text behind them.",
    "long": "It holds a very long line.",
    "runs net": "It runs what it loads from the network.",
    "runs by itself": "Other programs run or obey this file without being asked to.",
    "trust ended": "Trust in this folder ended while its own checks were in force; no rule or grant counts "
    "until the trust question is answered.",
    "binary": "It changes a binary file; its bytes are not shown.",
    "latin-1": "A file is no UTF-8; it is shown as Latin-1 and written back byte for byte.",
    "deletes": "It deletes a file.",
    "mixed scripts": "A word mixes letters of alphabets that look alike: it is not the name it seems to be.",
    "failed step": "A step of this run failed, and the run goes on.",
    "stale": "A file changed since this was proposed.",
}
_IN_HUNKS = frozenset({"content", "old_string", "new_string"})
"""Parameters that the diff shows already."""

_LONGEST = 4_000


def detail_facts(
    action: Action,
    opened: ActionOpened,
    parameters: Mapping[str, Json],
    hunks: Sequence[Hunk],
    call: Call | None,
) -> Facts:
    """Return an action in full as JSON."""
    return {
        **action_facts(action),
        "verb": action.verb,
        "cwd": opened.cwd,
        "prompt": opened.prompt,
        "choices": plain(opened.choices),
        "parameters": plain(parameters),
        "files": [
            {"path": file.path, "change": _kind(file.base, file.after), "mode": file.mode}
            for file in opened.files
        ],
        "hunks": plain(tuple(hunks)),
        "stale_paths": list(action.stale_paths),
        "extensions": action.extensions,
        **({"subject": plain(action.subject)} if action.kind == "trust" else {}),
        "decision": decision_facts(action),
        "outcome": call_facts(call) if call else None,
    }


def detail_lines(
    row: Asked,
    opened: ActionOpened,
    parameters: Mapping[str, Json],
    hunks: Sequence[Hunk],
    changes: Sequence[FileChange],
    signs: Signs,
    now: int,
    *,
    is_whole: bool = False,
) -> list[str]:
    """Return an action in full as lines for a person; `is_whole` cuts no text of it, however long."""
    action = row.action
    return [
        action_row(row, signs, now),
        *_facts(action, opened, now),
        *_warnings(action, signs),
        *_question(opened),
        *_parameters(parameters, has_diff=bool(hunks), longest=None if is_whole else _LONGEST),
        *file_lines(changes),
        *diff_lines(hunks),
        *_decision(action, now),
        *([call_row(row.call, signs)] if row.call and action.state == "approved" else []),
    ]


def _facts(action: Action, opened: ActionOpened, now: int) -> list[str]:
    lines = [
        f"  id       {action.id}",
        f"  asked    {clock_time(action.created_at, now)} in {one_line(opened.cwd, 160)}",
    ]
    if action.expires_at is not None and action.state == "pending":
        seconds = max(0.0, (action.expires_at - now) / MICROS)
        lines.append(f"  expires  {clock_time(action.expires_at, now)}, {duration(seconds)} left")
    return lines


def _warnings(action: Action, signs: Signs) -> list[str]:
    lines = [
        f"! {warning}: {_WARNINGS.get(warning, 'look twice.')}"
        for warning in action.warnings
        if warning != "stale"
    ]
    if action.stale_paths:
        paths = ", ".join(one_line(path, 120) for path in action.stale_paths)
        lines.append(f"{signs.of('stale')} stale: {_WARNINGS['stale']} {paths}")
        lines.append(
            f"  workbench approvals refresh {action.id} makes the new diff; nothing is written by that."
        )
    return lines


def _question(opened: ActionOpened) -> list[str]:
    lines = safe(opened.prompt).splitlines() if opened.prompt else []
    failed = opened.subject.get("failed")
    lines += [f"  {one_line(part, 400)}" for part in str(failed).split("; ")] if failed else []
    return lines + [
        f"  {one_line(choice.key, 40)}: {one_line(choice.label, 160)}" for choice in opened.choices
    ]


def _parameters(parameters: Mapping[str, Json], *, has_diff: bool, longest: int | None) -> Iterable[str]:
    for name, value in parameters.items():
        if has_diff and name in _IN_HUNKS:
            continue
        text = value if isinstance(value, str) else str(plain(value))
        yield from _parameter(name, text, longest)


def _parameter(name: str, text: str, longest: int | None) -> list[str]:
    head, rest = f"  {one_line(name, 40)}: ", ""
    if longest is not None and len(text) > longest:
        text, rest = text[:longest], f"… {len(text)} characters, the rest is in --json"
    if "\n" not in text:
        return [head + safe(text) + rest]
    lines = safe(text).removesuffix("\n").split("\n")
    return [
        f"{head.rstrip()} {len(lines)} lines" if len(lines) > 1 else head.rstrip(),
        *(f"{number:>5}  {line}" for number, line in enumerate(lines, 1)),
        *([f"    {rest}"] if rest else []),
    ]


def _decision(action: Action, now: int) -> list[str]:
    if action.state == "pending":
        return []
    lines = [f"{action.state} by {action.decided_by or 'nobody'} at {clock_time(action.decided_at, now)}"]
    if action.selection is not None:
        lines.append(f"  took {taken_words(action.selection)}")
    lines += [f"  edited {one_line(path, 160)}" for path in sorted(action.edited or ())]
    lines += [f"  {SEEN[action.seen]}"] if action.seen in SEEN else []
    for name, value in (("choice", action.choice), ("answer", action.text), ("reason", action.reason)):
        lines += [f"  {name}: {safe(value)}"] if value else []
    return [*lines, *([f"  {action.successor} stands in for it"] if action.successor else [])]


SEEN: Final[Mapping[str | None, str]] = {
    "part": "not all of it was on the screen",
    "by_id": "named by its id",
}
"""How much was drawn of what was approved, where that was not all of it."""


def taken_words(selection: Sequence[Taken]) -> str:
    """Return a selection in words: `hunks 1 and 3`, `lines 2, 3 of hunk 1`, `nothing`."""
    parts = [
        f"hunk {taken.hunk}"
        if taken.lines is None
        else f"lines {', '.join(map(str, taken.lines))} of hunk {taken.hunk}"
        for taken in selection
    ]
    return " and ".join(parts) or "nothing"


def _kind(base: str | None, after: str | None) -> str:
    if base is None:
        return "create"
    return "delete" if after is None else "modify"
