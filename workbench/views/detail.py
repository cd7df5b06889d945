"""One action in full: its facts, what it would do file by file, its question, its warnings in words.

Made of what was proposed and of the exact hunks; it never reads a blob and never decides what may be
answered, it says why a thing cannot be.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from workbench.domain.events import ActionOpened, CallFinished
from workbench.domain.machines import ActionState
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import (
    MAX_EXTENSIONS,
    ActionKind,
    Choice,
    FilePlan,
    Hunk,
    JsonObject,
    Verdict,
)
from workbench.records import dataclass
from workbench.text.human import duration
from workbench.text.safe import has_hidden, one_line
from workbench.views.hidden import hidden_sentence
from workbench.views.plain import json_text
from workbench.views.queue import TARGET_CELLS, TITLE_CELLS, Urgency, seconds_left, urgency
from workbench.views.ruling import CommandParts
from workbench.views.selection import TakenState
from workbench.views.signs import Meaning, action_sign, call_sign

Change = Literal["create", "modify", "delete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDetail:
    """What an action does to one file, with its hunks numbered over the whole action."""

    path: str
    """As proposed; not made safe."""
    change: Change
    hunks: tuple[Hunk, ...] = ()
    added: int = 0
    removed: int = 0
    base: tuple[str, ...] = ()
    """Its lines as they are now, for more context than hunks hold; empty where nobody asked for it."""
    note: str = ""
    """Why there are no hunks to see: `binary`, `new and empty`, `deleted`, `only its mode changes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """A mark of the gate or the proposal, with its sentence."""

    word: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionDetail:
    """Everything the detail of an action shows but the choice of hunks."""

    id: str
    digest: str
    """Of what is shown; the answer carries it."""
    kind: ActionKind
    verb: str
    tool: str
    target: str
    """One safe line."""
    sign: Meaning
    state_word: str
    session_id: str
    session_title: str
    turn_id: str | None = None
    files: tuple[FileDetail, ...] = ()
    hunks: tuple[Hunk, ...] = ()
    """Of all files, in order of their index."""
    added: int = 0
    removed: int = 0
    command: str | None = None
    """What would run, raw; None if it is no command."""
    cwd: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    """Name and raw text of every parameter that neither the diff nor the command shows."""
    prompt: str | None = None
    """What a gate, question or trust row asks, raw."""
    choices: tuple[Choice, ...] = ()
    chosen: str | None = None
    """The choice it was answered with."""
    subject: tuple[tuple[str, str], ...] = ()
    """What a trust, gate or finding row is about, as name and raw text."""
    warnings: tuple[Risk, ...] = ()
    decision_sign: Meaning = "waiting"
    decision_word: str = ""
    """How it was decided, whatever came of it since: `approved` of one that has failed."""
    bar: tuple[str, ...] = ()
    """Up to two lines over the diff: stale, expired, withdrawn, answered elsewhere."""
    left_seconds: float | None = None
    urgency: Urgency = "calm"
    expires_at: int | None = None
    extensions: int = 0
    decided_at: int | None = None
    decided_by: str = ""
    reason: str | None = None
    was_taken: TakenState | None = None
    """What was taken and left of one that was approved in part."""
    is_undone: bool = False
    """What it wrote was taken back."""
    outcome: str = ""
    """What came of an approved one, one safe line: `ok`, `failed: exit 1`."""
    output: tuple[str, ...] = ()
    """The last lines that a command of it printed, raw."""
    output_lines: int = 0
    """Of how many that were kept for the agent; more were printed where the middle was left out."""
    is_pending: bool = True
    is_stale: bool = False
    must_see_all: bool = False
    """It deletes or carries a warning: all of it must have been on screen before it is approved."""
    successor: str | None = None
    why_asked: str = ""
    """Why the gate did not let it pass by itself, one safe line; empty for what always asks."""

    why_no_rule: str = ""
    """Why no rule can ever cover it, as the gate said; empty where one may."""
    parts: CommandParts | None = None
    """Its command taken apart; None until that was done, and where there is none."""


def detail(
    action: Action,
    opened: ActionOpened,
    hunks: Sequence[Hunk],
    now: int,
    *,
    session: Session | None = None,
    call: Call | None = None,
    parameters: JsonObject | None = None,
    verdict: Verdict | None = None,
    bases: Mapping[str, tuple[str, ...]] | None = None,
    parts: CommandParts | None = None,
    is_own_text: bool = False,
    is_undone: bool = False,
    finished: CallFinished | None = None,
) -> ActionDetail:
    """Return an action in full.

    Args:
        action: its row.
        opened: its proposal as recorded.
        hunks: `Source.exact_hunks`.
        now: the moment, in microseconds.
        session: whose action it is.
        call: what came of it.
        parameters: `Source.exact_parameters`; None shows the recorded ones.
        verdict: what the gate said of its call.
        bases: by path, the lines of files as they are now.
        parts: its command taken apart, as soon as that was done.
        is_own_text: whether `hunks` are what the user made of the proposal.
        is_undone: whether what it wrote was taken back.
        finished: how its call ended, where it ran a command.
    """
    sign, word = action_sign(action, call, is_undone=is_undone)
    decision_sign, decision_word = action_sign(action)
    left = seconds_left(action, now)
    given = opened.parameters if parameters is None else parameters
    files = tuple(replace(file, base=(bases or {}).get(file.path, ())) for file in _files(opened, hunks))
    command = _command(action, given)
    printed = finished.preview.splitlines() if finished is not None and command else []
    return ActionDetail(
        id=action.id, digest=action.digest, kind=action.kind, verb=action.verb,
        tool=one_line(action.tool or "", 64),
        target=one_line(action.target, TARGET_CELLS), sign=sign, state_word=word,
        session_id=action.session_id,
        session_title=one_line(session.title, TITLE_CELLS) if session else "", turn_id=action.turn_id,
        files=files, hunks=tuple(hunks), command=command,
        added=sum(file.added for file in files) if is_own_text else action.added,
        removed=sum(file.removed for file in files) if is_own_text else action.removed,
        cwd=opened.cwd, parameters=_parameters(given, _HIDDEN if files else (), command),
        prompt=opened.prompt,
        choices=opened.choices, chosen=action.choice, subject=_subject(opened),
        bar=_bar(action, is_own_text=is_own_text),
        warnings=_risks(action, given, hunks),
        decision_sign=decision_sign, decision_word=decision_word,
        left_seconds=left, urgency=urgency(left), expires_at=action.expires_at, extensions=action.extensions,
        decided_at=action.decided_at, decided_by=action.decided_by, reason=action.reason,
        was_taken=None if action.selection is None else TakenState.decided(hunks, action.selection),
        outcome="undone" if is_undone else _outcome(action, call), is_undone=is_undone,
        output=tuple(printed[-MOST_OUTPUT:]), output_lines=len(printed), is_pending=action.state == "pending",
        is_stale=bool(action.stale_paths),
        must_see_all=_must_see_all(action, files), successor=action.successor,
        why_asked=_why_asked(action, verdict), why_no_rule=_why_no_rule(verdict), parts=parts,
    )  # fmt: skip


def _why_asked(action: Action, verdict: Verdict | None) -> str:
    if verdict is None or verdict.outcome != "ask":
        return ""
    reason = verdict.reason or f"no rule or setting lets {action.tool or action.verb} pass here"
    spoke = "" if verdict.by in ("", "default") else f" ({verdict.by})"
    return one_line(f"{reason}{spoke}", 200)


def _why_no_rule(verdict: Verdict | None) -> str:
    if verdict is None or not verdict.reason.startswith("no rule can cover it"):
        return ""
    return one_line(verdict.reason, 120)


def why_not(detail: ActionDetail, verdict: Literal["approve", "reject", "extend", "edit"]) -> str:
    """Return why an answer is not possible now, empty if it is: the reason of a faint key.

    Of a stale action `approve` is possible: it asks for the new diff.
    """
    if not detail.is_pending:
        return f"it is {detail.state_word}"
    if verdict == "extend":
        if detail.expires_at is None:
            return "it does not expire"
        is_spent = detail.extensions >= MAX_EXTENSIONS
        return f"it was extended {detail.extensions} times, that is all" if is_spent else ""
    if verdict == "edit":
        if detail.is_stale:
            return "the file changed; make the new diff first"
        can_edit = any(file.change != "delete" and file.note != "binary" for file in detail.files)
        return "" if can_edit else "only the text of a file can be edited"
    return ""


MOST_OUTPUT = 8
"""Lines of what a command printed that stand beside how it was decided."""
_HIDDEN = ("content", "old_string", "new_string")
"""Parameters that the diff shows."""

_SENTENCES: Mapping[str, str] = {
    "scrubbed": "It holds what looks like a secret; the record leaves that out.",
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
}


def _risks(action: Action, given: JsonObject, hunks: Sequence[Hunk]) -> tuple[Risk, ...]:
    words = [warning for warning in action.warnings if warning != "stale"]
    sentences = dict(_SENTENCES)
    command = _command(action, given)
    if "hidden" not in words and command is not None and has_hidden(command):
        words.insert(0, "hidden")
    if "hidden" in words:
        found = hidden_sentence(_all_text(given, hunks))
        sentences["hidden"] = f"{found} No rule and no batch can approve this. a asks once more."
    return tuple(Risk(word=one_line(word, 40), sentence=sentences.get(word, "Look twice.")) for word in words)


def _all_text(given: JsonObject, hunks: Sequence[Hunk]) -> Iterator[str]:
    for value in given.values():
        yield value if isinstance(value, str) else json_text(value)
    added = [line for hunk in hunks for sign, line in hunk.lines if sign == "+"]
    is_crlf = all(line.endswith("\r") for line in added)
    yield from (line.removesuffix("\r") if is_crlf else line for line in added)


def _must_see_all(action: Action, files: Sequence[FileDetail]) -> bool:
    has_risk = any(warning != "stale" for warning in action.warnings)
    return has_risk or any(file.change == "delete" for file in files)


def _files(opened: ActionOpened, hunks: Sequence[Hunk]) -> tuple[FileDetail, ...]:
    by_path: dict[str, list[Hunk]] = {}
    for hunk in hunks:
        by_path.setdefault(hunk.path, []).append(hunk)
    found = [
        _file(plan, by_path.pop(plan.path, []), is_binary="binary" in opened.warnings)
        for plan in opened.files
    ]
    return (*found, *(_shown(path, "modify", rest, "") for path, rest in by_path.items()))


def _file(plan: FilePlan, hunks: Sequence[Hunk], *, is_binary: bool) -> FileDetail:
    change = "create" if plan.base is None else "delete" if plan.after is None else "modify"
    if hunks:
        note = ""
    elif plan.base is not None and plan.base == plan.after:
        note = "only its mode changes"
    elif is_binary:
        note = "binary"
    else:
        note = {"create": "new and empty", "delete": "deleted, it was empty"}.get(change, "no lines to show")
    return _shown(plan.path, change, hunks, note)


def _shown(path: str, change: Change, hunks: Sequence[Hunk], note: str) -> FileDetail:
    signs = [sign for hunk in hunks for sign, _ in hunk.lines]
    return FileDetail(
        path=path, change=change, hunks=tuple(hunks), added=signs.count("+"), removed=signs.count("-"),
        note=note
    )  # fmt: skip


def _command(action: Action, parameters: JsonObject) -> str | None:
    command = parameters.get("command") if action.verb == "run" else None
    return command if isinstance(command, str) else None


def _parameters(given: JsonObject, hidden: Sequence[str], command: str | None) -> tuple[tuple[str, str], ...]:
    shown = {name: value for name, value in given.items() if name not in hidden}
    if command is not None:
        shown.pop("command", None)
    seconds = shown.get("timeout_seconds")
    if command is not None and isinstance(seconds, int | float) and not isinstance(seconds, bool):
        # In the words of the rest of the screen, in the place where it was.
        named = {"limit" if name == "timeout_seconds" else name: value for name, value in shown.items()}
        shown = {**named, "limit": f"{seconds:g} s" if seconds < 100 else duration(float(seconds))}
    return _texts(shown)


def _subject(opened: ActionOpened) -> tuple[tuple[str, str], ...]:
    """Return what a row is about; of a trust question its words say all that a human can judge."""
    return () if opened.action_kind == "trust" else _texts(opened.subject)


def _texts(values: JsonObject) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, value if isinstance(value, str) else json_text(value)) for name, value in values.items()
    )


def _bar(action: Action, *, is_own_text: bool) -> tuple[str, ...]:
    if action.state == "pending":
        return _STALE if action.stale_paths else ()
    if action.edited and not is_own_text:
        by = who(action.decided_by)
        own = "a text of their own" if by != "you" else "your own text"
        return (f"By {by}{way(action.decided_by)}, with {own}.",
                "Below is what was proposed, not what was written.")  # fmt: skip
    why = f": “{one_line(action.reason, 200)}”" if action.reason else "."
    why += SEEN.get(action.seen, "") if action.state == "approved" else ""
    by = who(action.decided_by) + way(action.decided_by)
    sentences: Mapping[ActionState, str] = {
        "approved": f"By {by}{why}",
        "rejected": f"By {by}{why}",
        "expired": "Nobody answered in time. Nothing was done.",
        "cancelled": f"The question was withdrawn{why}",
        "superseded": "Another one stands in for it.",
    }
    return (sentences[action.state],)


SEEN: Mapping[str | None, str] = {"part": " Not all of it was on the screen.", "by_id": " Named by its id."}
"""What is said of how much of an approved action was drawn, where that was not all of it."""


def who(decided_by: str) -> str:
    """Return who decided, in words for people: which process it was they need not know."""
    name = decided_by.partition(" (")[0]
    return "you" if name == "user" else one_line(name or "nobody", 80)


def way(decided_by: str) -> str:
    """Return what a human decided with, behind a comma, where it was no screen."""
    return ", with workbench approvals" if decided_by.startswith("user (cli") else ""


_STALE = (
    "The file was changed by something else. What you see was made for the old text.",
    "a makes the new diff and shows it; nothing is written until you approve that one.",
)


def _outcome(action: Action, call: Call | None) -> str:
    if call is None or action.state != "approved":
        return ""
    _, word = call_sign(call, action)
    why = call.error or (f"exit {call.exit_code}" if call.exit_code else "")
    return one_line(f"{word}: {why}" if why and call.state != "succeeded" else word, 200)
