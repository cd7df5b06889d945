"""One action in full: facts, changes, question, parts of its command, warnings; the trust question in lists.

The lists are read from the recorded subject of the question, which its digest covers.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import ActionOpened, CallFinished
from workbench.domain.incidents import Incident
from workbench.domain.machines import ActionState
from workbench.domain.rows import Action, Call, Session, is_released
from workbench.domain.values import (
    HELD_BY,
    MAX_EXTENSIONS,
    PLACED_RULES,
    REOPENS,
    SPEND_LIMIT,
    ActionKind,
    Choice,
    GateVerdict,
    Hunk,
    Json,
    JsonObject,
    Place,
    SandboxBackend,
    SandboxLevel,
)
from workbench.text.canonical import dumps
from workbench.text.display import has_crlf
from workbench.text.human import counted, duration_text, sentence
from workbench.text.safe import has_hidden_characters, one_line, safe_text
from workbench.views.approvals import (
    MAX_TARGET_CELLS,
    MAX_TITLE_CELLS,
    NO_FOLDER,
    Folder,
    Urgency,
    action_words,
    seconds_left,
    urgency_for,
)
from workbench.views.file_changes import FileDetail, file_details
from workbench.views.hunk_selection import HunkSelection
from workbench.views.propose_again import ProposeAgain
from workbench.views.reopening import Reopening
from workbench.views.sandbox import SandboxPast, past_text, refusals_sentence
from workbench.views.status_icons import StatusName, action_status, call_status
from workbench.views.supervised import agent_title, own_question

# --- the trust question -----------------------------------------------------------------------------

MAX_COMMAND_CHARACTERS: Final = 4_000
_MAX_NAME_CELLS: Final = 120
_MAX_FILES: Final = 2_000
_FALLBACK: Final = "fallback of "
_USE_LABELS: Final = {
    "conversation": "conversation goes to",
    "ask": "workbench ask goes to",
    "pipelines": "pipelines ask",
}
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


def trust_choice_notes(counts: QuestionCounts | None, past: SandboxPast | None = None) -> dict[str, str]:
    """Return what each answer to the trust question asks about, and how often that was, where it is known.

    `past` is what the sandbox would have done with questions about commands.
    """
    every = reads = ""
    if counts is not None and counts.every > 1:
        every = f": your last {counts.every:,} calls would all have asked"
        reads = f": {counts.all_but_reads:,} of your last {counts.every:,} calls"
    return {
        "trust": f"asks before every call{every}",
        "trust_and_read": f"asks before all except reads{reads}",
        "trust_and_sandbox": "asks before all except reads and commands that run inside the sandbox"
        + (f": {past_text(past)}" if past is not None and past.spared else ""),
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
    """Return what would run, what would be allowed without asking, and where words would go."""
    return tuple(
        part
        for part in (
            _trust_hooks(subject),
            _trust_rules(subject),
            _model_servers(subject),
            _pipeline_commands(subject),
        )
        if part.rows
    )


def trust_files(subject: JsonObject) -> tuple[NamedList, ...]:
    """Return the files that the answer covers."""
    files = [name for name in _list_items(subject.get("files")) if isinstance(name, str)][:_MAX_FILES]
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


def _trust_hooks(subject: JsonObject) -> NamedList:
    rows = [
        (_joined_texts(hook, "event", "matcher") or "hook", _argv_text(hook.get("argv")))
        for hook in _object_items(subject.get("hooks"))
    ]
    rows = [*_with_rest(rows, subject.get("hook_count"))]
    rows += [
        (_joined_texts(command, "event", "matcher"), _argv_text(command.get("argv")))
        for command in _object_items(subject.get("key_commands"))
    ]
    checker = subject.get("checker")
    if isinstance(checker, str) and checker:
        rows.append(("to check findings", checker[:MAX_COMMAND_CHARACTERS]))
    return NamedList(heading="would run", rows=tuple(rows))


def _trust_rules(subject: JsonObject) -> NamedList:
    rows = [
        (_joined_texts(rule, "tool", "description"), _pattern_text(rule.get("pattern")))
        for rule in _object_items(subject.get("rules"))
    ]
    rows = [*_with_rest(rows, subject.get("rule_count"))]
    return NamedList(heading="would be allowed without asking", rows=tuple(rows))


def _pattern_text(pattern: object) -> str:
    return pattern[:MAX_COMMAND_CHARACTERS] if isinstance(pattern, str) else ""


def _model_servers(subject: JsonObject) -> NamedList:
    servers = sorted(_object_items(subject.get("servers")), key=lambda server: server.get("used") is not True)
    rows = [
        (label, _joined_texts(server, "base_url", "model") + _key_note(server))
        for server in servers
        for label in _server_labels(server)
    ]
    return NamedList(heading="model servers", rows=tuple(rows))


def _server_labels(server: JsonObject) -> tuple[str, ...]:
    """Return how a server is used, one label for each use; older questions record only whether it is."""
    if server.get("used") is not True:
        return ("also names",)
    uses = [use for use in _list_items(server.get("uses")) if isinstance(use, str)]
    return tuple(map(_use_label, uses)) or ("conversation goes to",)


def _use_label(use: str) -> str:
    name = use.removeprefix(_FALLBACK)
    return _USE_LABELS.get(use, f"if {one_line(name, _MAX_NAME_CELLS)} is overloaded")


def _key_note(server: JsonObject) -> str:
    key = _joined_texts(server, "key_env")
    return f" with the key in {key}" if key else ""


def _pipeline_commands(subject: JsonObject) -> NamedList:
    rows = [("starts as agents", name) for name in _list_items(subject.get("pipeline_programs"))] + [
        ("asks for the model", name) for name in _list_items(subject.get("pipeline_models"))
    ]
    shown = [(label, text[:MAX_COMMAND_CHARACTERS]) for label, text in rows if isinstance(text, str)]
    count = subject.get("pipeline_commands")
    if isinstance(count, int) and not isinstance(count, bool) and count > 0:
        shown.append(("when you start one", f"commands on {'1 line' if count == 1 else f'{count} lines'}"))
    return NamedList(heading="pipelines", rows=tuple(shown))


def _with_rest(rows: list[tuple[str, str]], count: Json) -> tuple[tuple[str, str], ...]:
    more = count - len(rows) if isinstance(count, int) else 0
    return (*rows, ("and", f"{more} more")) if more > 0 else tuple(rows)


def _argv_text(argv: Json) -> str:
    """Return a command as the shell gets it: `sh -c` in front of it says nothing."""
    words = [word for word in _list_items(argv) if isinstance(word, str)]
    text = words[2] if words[:2] == ["/bin/sh", "-c"] and len(words) == 3 else " ".join(words)
    return text[:MAX_COMMAND_CHARACTERS]


def _joined_texts(values: JsonObject, *names: str) -> str:
    texts = (values.get(name) for name in names)
    return " ".join(one_line(text, _MAX_NAME_CELLS) for text in texts if isinstance(text, str) and text)


def _list_items(value: Json) -> Iterable[Json]:
    return cast("list[Json]", value) if isinstance(value, list) else ()


def _object_items(value: Json) -> Iterator[JsonObject]:
    yield from (item for item in _list_items(value) if isinstance(item, dict))


# --- the detail -------------------------------------------------------------------------------------


class ActionWarning(Struct, frozen=True, kw_only=True):
    """A mark of the gate or the proposal, with its sentence."""

    word: str
    sentence: str


class CommandPartRow(Struct, frozen=True, kw_only=True):
    """One simple command of a line."""

    text: str
    does: str
    sign: StatusName
    says: str
    """What rules say of it: `R7 allows it`, `asks, no rule`, `never by rule`."""
    is_risky: bool = False


class CommandParts(Struct, frozen=True, kw_only=True):
    """A command taken apart."""

    rows: tuple[CommandPartRow, ...]
    notes: tuple[str, ...] = ()


class ActionDetail(Struct, frozen=True, kw_only=True):
    """Everything the detail of an action shows but the choice of hunks."""

    id: str
    digest: str
    kind: ActionKind
    verb: str
    tool: str
    target: str
    """One safe line."""
    sign: StatusName
    state_word: str
    session_id: str
    session_title: str
    turn_id: str | None = None
    files: tuple[FileDetail, ...] = ()
    has_bytes: bool = False
    """Whether its session holds the bytes of the files; a fork holds only the lines."""
    hunks: tuple[Hunk, ...] = ()
    added: int = 0
    removed: int = 0
    command: str | None = None
    cwd: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    """Name and raw text of every parameter that neither the diff nor the command shows."""
    prompt: str | None = None
    choices: tuple[Choice, ...] = ()
    choice_notes: Mapping[str, str] = {}
    """What a choice leads to, by its key."""
    chosen: str | None = None
    subject: tuple[tuple[str, str], ...] = ()
    acts: tuple[NamedList, ...] = ()
    """What an answer lets happen, before the choices."""
    covers: tuple[NamedList, ...] = ()
    """What an answer is about, below the choices."""
    warnings: tuple[ActionWarning, ...] = ()
    decision_sign: StatusName = "waiting"
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
    was_taken: HunkSelection | None = None
    is_undone: bool = False
    outcome: str = ""
    """What came of an approved one, one safe line: `ok`, `failed: exit 1`."""
    output: tuple[str, ...] = ()
    output_lines: int = 0
    """Of how many that were printed."""
    is_running: bool = False
    is_pending: bool = True
    is_stale: bool = False
    must_see_all: bool = False
    """It deletes or carries a warning: all of it must have been drawn before it is approved."""
    successor: str | None = None
    why_asked: str = ""
    """Why the gate did not let it pass by itself, one safe line; empty for what always asks."""
    why_no_rule: str = ""
    """Why no rule can ever cover it, as the gate said; empty where one may."""
    again: ProposeAgain | None = None
    """What its agent can be asked for; None for what did not expire, and in a recording."""
    reopening: Reopening | None = None
    """What of it can be proposed again without its agent; None where all was done, and in a recording."""
    folder: Folder = NO_FOLDER
    """Where it would be done."""
    finding: str = ""
    """The finding that its agent was asked to fix, one safe line."""
    parts: CommandParts | None = None
    """Its command taken apart; None until that was done, and where there is none."""
    place: Place | None = None
    """Where its command runs, as the row offers it or as it was decided; None of all else."""
    level: SandboxLevel | None = None
    """The level of the sandbox in which it could run; None where it cannot."""
    backend: SandboxBackend = "bubblewrap"
    """What would hold it there, as it was shown."""
    refused: str = ""
    """What the sandbox refused to it, one safe line: `the sandbox refused to write /etc/hosts`."""


def action_detail(
    action: Action,
    opened: ActionOpened,
    hunks: Sequence[Hunk],
    now: int,
    *,
    session: Session | None = None,
    call: Call | None = None,
    parameters: JsonObject | None = None,
    verdict: GateVerdict | None = None,
    bases: Mapping[str, tuple[str, ...]] | None = None,
    parts: CommandParts | None = None,
    is_own_text: bool = False,
    is_undone: bool = False,
    finished: CallFinished | None = None,
    streamed: str = "",
    again: ProposeAgain | None = None,
    reopening: Reopening | None = None,
    folder: Folder = NO_FOLDER,
    blocked_by: str = "",
    finding: str = "",
) -> ActionDetail:
    """Return an action in full.

    `hunks` and `parameters` come from `DataSource.exact_hunks` and `exact_parameters`; without parameters the
    recorded ones are shown. `bases` are the lines of files as they are now, by path; `is_own_text` says that
    `hunks` are what the user made of the proposal; `streamed` is what a command has printed so far;
    `blocked_by` is what has to end before an approved one runs, `finding` what the agent was asked to fix.
    """
    (sign, word), decided = action_status(action, call, is_undone=is_undone), action_status(action)
    left = seconds_left(action, now)
    proposed = opened.parameters if parameters is None else parameters
    files = tuple(
        replace(file, base=(bases or {}).get(file.path, ())) for file in file_details(opened, hunks)
    )
    command = _command_of(action, proposed)
    printed = _printed_lines(command, finished, streamed)
    verb, target = action_words(action, folder)
    return _with_lists(opened, ActionDetail(
        id=action.id, digest=action.digest, kind=action.kind, verb=verb, target=target,
        tool=one_line(action.tool or "", 64), sign=sign, state_word=word, session_id=action.session_id,
        session_title=agent_title(session, one_line(session.title, MAX_TITLE_CELLS)) if session else "",
        turn_id=action.turn_id,
        files=files, has_bytes=bool(action.files), hunks=tuple(hunks), command=command,
        added=sum(file.added for file in files) if is_own_text else action.added,
        removed=sum(file.removed for file in files) if is_own_text else action.removed,
        cwd=opened.cwd, parameters=_parameter_texts(proposed, DIFF_PARAMETERS if files else (), command),
        prompt=opened.prompt, choices=opened.choices, chosen=action.choice, subject=_subject(opened),
        bar=(*_status_sentences(action, is_own_text=is_own_text), *_again_sentences(again),
             *filter(None, [own_question(call)]),
             *([f"It runs after {blocked_by}."] if blocked_by else [])),
        again=again, reopening=reopening,
        warnings=_warnings(action, proposed, hunks),
        decision_sign=decided[0], decision_word=decided[1],
        left_seconds=left, urgency=urgency_for(left), expires_at=action.expires_at,
        extensions=action.extensions, decided_at=action.decided_at, decided_by=action.decided_by,
        reason=action.reason, folder=folder, finding=finding,
        was_taken=None if action.selection is None else HunkSelection.decided(hunks, action.selection),
        outcome="undone" if is_undone else "" if blocked_by else _outcome_line(action, call),
        is_undone=is_undone,
        is_running=sign == "running", output=printed.last, output_lines=printed.count,
        is_pending=action.state == "pending", is_stale=bool(action.stale_paths),
        must_see_all=_must_see_all(action, files), successor=action.successor,
        why_asked=_why_asked(action, verdict), why_no_rule=_why_no_rule(verdict), parts=parts,
        place=action.place, level=action.level, backend=opened.backend,
        refused=refusals_sentence(call) if call else "",
    ))  # fmt: skip


def with_choice_notes(
    detail: ActionDetail | None, counts: QuestionCounts | None, past: SandboxPast | None = None
) -> ActionDetail | None:
    """Return a trust question that waits with what each answer asks about; others as they are."""
    if detail is None or detail.kind != "trust" or not detail.is_pending:
        return detail
    return replace(detail, choice_notes=trust_choice_notes(counts, past))


class _Printed(Struct, frozen=True):
    last: tuple[str, ...] = ()
    count: int = 0


def _printed_lines(command: str | None, finished: CallFinished | None, streamed: str) -> _Printed:
    """Return the last lines of an output, and how many there were: what is kept may be less."""
    if not command:
        return _Printed()
    lines = (finished.preview if finished is not None else streamed).splitlines()
    counted = finished.metadata.get("output_lines") if finished is not None else None
    count = max(len(lines), counted if isinstance(counted, int) else 0)
    return _Printed(last=tuple(lines[-MAX_OUTPUT_LINES:]), count=count)


def _with_lists(opened: ActionOpened, detail: ActionDetail) -> ActionDetail:
    """Return a question that is about many things with lists of them; others as they are."""
    if PLACED_RULES in opened.subject:
        return _with_rule_list(opened.subject, detail)
    return _with_trust_lists(opened, detail)


_RULE_LIST_INDENT: Final = "  "
"""How lines of the words begin that list the rules, which the detail shows as a list of its own."""


def _with_rule_list(subject: JsonObject, detail: ActionDetail) -> ActionDetail:
    """Return the question where rules of older versions run their commands, each with what it needs."""
    rules = list(_object_items(subject.get(PLACED_RULES)))
    words = (detail.prompt or "").splitlines()
    prompt = "\n".join(line for line in words if not line.startswith(_RULE_LIST_INDENT))
    outside = sum(rule.get("proposed") == "outside" for rule in rules)
    heading = f"{counted(len(rules), 'rule')}, and what is proposed"
    return replace(
        detail, prompt=prompt, acts=(NamedList(heading=heading, rows=tuple(map(_rule_row, rules))),),
        choice_notes={
            "as_proposed": f"{len(rules) - outside} inside, {outside} outside",
            "all_inside": "what cannot work there asks each time",
            "all_outside": "they can do all that you can, as before",
            "not_now": "they stay inside; 6 shows them, and s there moves one",
        } if detail.is_pending else {},
    )  # fmt: skip


def _rule_row(rule: JsonObject) -> tuple[str, str]:
    place = _joined_texts(rule, "rule", "proposed")
    needs = rule.get("needs")
    why = f"\n{one_line(needs, _MAX_NAME_CELLS)}" if isinstance(needs, str) and needs else ""
    pattern = rule.get("pattern")
    return place, (pattern if isinstance(pattern, str) else "")[:MAX_COMMAND_CHARACTERS] + why


def _with_trust_lists(opened: ActionOpened, detail: ActionDetail) -> ActionDetail:
    """Return a trust question in lists, and of an answered one the answer alone; others as they are."""
    if opened.action_kind != "trust" or not has_trust_facts(opened.subject):
        return detail
    if not detail.is_pending:
        answers = tuple(choice for choice in detail.choices if choice.key == detail.chosen)
        return replace(detail, prompt=TRUST_ANSWERED, choices=answers)
    place = one_line(opened.target, MAX_TARGET_CELLS)
    origin = opened.subject.get("worktree_of")
    if isinstance(origin, str) and origin:
        place += f"\nIt is a git worktree of {one_line(origin, MAX_TARGET_CELLS)}, which you trust."
    files = trust_files(opened.subject)
    return replace(
        detail,
        prompt=f"{place}\n{TRUST_SENTENCE if files else NOTHING_TO_TRUST}",
        acts=trust_acts(opened.subject),
        covers=files,
    )


def _why_asked(action: Action, verdict: GateVerdict | None) -> str:
    if verdict is None or verdict.outcome != "ask":
        return ""
    reason = verdict.reason or f"no rule or setting allows {action.tool or action.verb} here"
    spoke = "" if verdict.by in ("", "default", HELD_BY) else f" ({verdict.by})"
    return one_line(f"{reason}{spoke}", 400)


def _why_no_rule(verdict: GateVerdict | None) -> str:
    if verdict is None or not verdict.reason.startswith("no rule can cover it"):
        return ""
    return one_line(verdict.reason, 120)


def why_not_answerable(detail: ActionDetail, verdict: Literal["approve", "reject", "extend", "edit"]) -> str:
    """Return why an answer is not possible now, else empty; approving a stale action asks for a new diff."""
    if not detail.is_pending:
        can_ask = detail.again is not None and not detail.again.why_not
        return f"it is {detail.state_word}{'; p asks the agent for it again' if can_ask else ''}"
    if verdict == "extend":
        if detail.expires_at is None:
            return "it does not expire"
        is_spent = detail.extensions >= MAX_EXTENSIONS
        return f"it was extended {detail.extensions} times, that is all" if is_spent else ""
    if verdict == "edit":
        if detail.kind == "files":
            return AS_FOUND
        if detail.is_stale:
            return "the file changed; make the new diff first"
        can_edit = any(
            file.change not in ("delete", "rename") and file.note != "binary" for file in detail.files
        )
        return "" if can_edit else "only the text of a file can be edited"
    return ""


AS_FOUND: Final = "files that were found are kept or put back as they are"
"""Why no part of them can be taken."""
MAX_OUTPUT_LINES = 8
DIFF_PARAMETERS = ("content", "old_string", "new_string", "patch")
"""Parameters that the diff shows already."""
WARNING_SENTENCES: Mapping[str, str] = {
    "scrubbed": "It holds what looks like a secret; the record leaves that out.",
    "padding": "It holds rows of blanks or empty lines with text behind them.",
    "long": "It holds a very long line.",
    "runs net": "It runs what it loads from the network.",
    "runs by itself": "Other programs run or obey this file without being asked to.",
    "odd name": "It creates a name that looks like another one, or that Windows takes for something else.",
    "trust ended": "Trust in this folder ended while its own checks were in force; no rule or grant counts "
    "until the trust question is answered.",
    "binary": "It changes a binary file; its bytes are not shown.",
    "latin-1": "A file is not UTF-8; it is shown as Latin-1 and written back byte for byte.",
    "deletes": "It deletes a file.",
    "executable": "It creates a file that can be run as a program.",
    "mixed scripts": "A word mixes letters of alphabets that look alike: it is not the name it seems to be.",
    "odd spaces": "It holds a space that is not the plain one: it separates no words.",
    "failed step": "A step of this run failed, and the run continues.",
}


def _warnings(action: Action, parameters: JsonObject, hunks: Sequence[Hunk]) -> tuple[ActionWarning, ...]:
    words = [warning for warning in action.warnings if warning != "stale"]
    sentences = dict(WARNING_SENTENCES)
    command = _command_of(action, parameters)
    if "hidden" not in words and command is not None and has_hidden_characters(command):
        words.insert(0, "hidden")
    if "hidden" in words:
        hidden = hidden_text_sentence(_texts_to_check(parameters, hunks))
        sentences["hidden"] = f"{hidden} No rule and no batch can approve this. a asks once more."
    return tuple(
        ActionWarning(word=one_line(word, 40), sentence=sentences.get(word, "Look twice.")) for word in words
    )


def _texts_to_check(parameters: JsonObject, hunks: Sequence[Hunk]) -> Iterator[str]:
    for value in parameters.values():
        yield value if isinstance(value, str) else json_text(value)
    added = [line for hunk in hunks for sign, line in hunk.lines if sign == "+"]
    is_crlf = all(line.endswith("\r") for line in added)
    yield from (line.removesuffix("\r") if is_crlf else line for line in added)


def _must_see_all(action: Action, files: Sequence[FileDetail]) -> bool:
    has_risk = any(warning != "stale" for warning in action.warnings)
    return has_risk or any(file.change == "delete" for file in files)


def _command_of(action: Action, parameters: JsonObject) -> str | None:
    command = parameters.get("command") if action.verb == "run" else None
    return command if isinstance(command, str) else None


def _parameter_texts(
    parameters: JsonObject, hidden: Sequence[str], command: str | None
) -> tuple[tuple[str, str], ...]:
    visible = {name: value for name, value in parameters.items() if name not in hidden}
    if command is not None:
        visible.pop("command", None)
    seconds = visible.get("timeout_seconds")
    if command is not None and isinstance(seconds, int | float) and not isinstance(seconds, bool):
        # In the words of the rest of the screen, in the place where it was.
        named = {"limit" if name == "timeout_seconds" else name: value for name, value in visible.items()}
        visible = {**named, "limit": f"{seconds:g} s" if seconds < 100 else duration_text(float(seconds))}
    return _named_texts(visible)


def _subject(opened: ActionOpened) -> tuple[tuple[str, str], ...]:
    """Return what a row is about; of trust, limits and found files the words say it all."""
    said_by_words = {SPEND_LIMIT, REOPENS, PLACED_RULES}
    if opened.action_kind in ("trust", "files") or not said_by_words.isdisjoint(opened.subject):
        return ()
    # A finding is known by its rule and its place; ids of its list and its agent say nothing.
    hidden = _FINDING_IDS if opened.action_kind == "finding" else frozenset[str]()
    return _named_texts({name: value for name, value in opened.subject.items() if name not in hidden})


_FINDING_IDS: Final = frozenset({"incident", "list", "child"})


def _named_texts(values: JsonObject) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, value if isinstance(value, str) else json_text(value)) for name, value in values.items()
    )


def _status_sentences(action: Action, *, is_own_text: bool) -> tuple[str, ...]:
    if action.state == "pending":
        return _STALE_SENTENCES if action.stale_paths else ()
    if action.edited and not is_own_text:
        by = decider_name(action.decided_by)
        own = "a text of their own" if by != "you" else "your own text"
        return (f"By {by}{decision_route_text(action.decided_by)}, with {own}.",
                "Below is what was proposed, not what was written.")  # fmt: skip
    if is_released(action):
        reason = one_line(action.reason or "", 200)
        return (f"{reason[:1].upper()}{reason[1:]}.",)
    why = f": “{one_line(action.reason, 200)}”" if action.reason else "."
    why += SEEN_SENTENCES.get(action.seen, "") if action.state == "approved" else ""
    by = decider_name(action.decided_by) + decision_route_text(action.decided_by)
    sentences: Mapping[ActionState, str] = {
        "approved": f"By {by}{why}",
        "rejected": f"By {by}{why}",
        "expired": "Nobody answered in time. Nothing was done.",
        "cancelled": f"The question was withdrawn{why}",
        "superseded": "Another one replaces it.",
    }
    return (sentences[action.state],)


def _again_sentences(again: ProposeAgain | None) -> tuple[str, ...]:
    """Return why an expired action cannot be asked for again; nothing where it can: a key does it."""
    return (sentence(again.why_not),) if again is not None and again.why_not else ()


SEEN_SENTENCES: Mapping[str | None, str] = {
    "part": " Not all of it was on the screen.",
    "by_id": " Named by its id.",
}


def decider_name(decided_by: str) -> str:
    """Return who decided, in words for people: which process it was they need not know."""
    name = decided_by.partition(" (")[0]
    return "you" if name == "user" else one_line(name or "nobody", 80)


def decision_route_text(decided_by: str) -> str:
    """Return what a human decided with, behind a comma, where it was no screen."""
    return ", with workbench approvals" if decided_by.startswith("user (cli") else ""


_STALE_SENTENCES = (
    "The file was changed by something else. What you see was made for the old text.",
    "a makes the new diff and shows it; nothing is written until you approve that one.",
)


def _outcome_line(action: Action, call: Call | None) -> str:
    if call is None or action.state != "approved":
        return ""
    _, word = call_status(call, action)
    why = call.error or (f"exit {call.exit_code}" if call.exit_code else "")
    return one_line(f"{word}: {why}" if why and call.state != "succeeded" else word, 200)


def finding_text(incident: Incident) -> str:
    """Return a finding for the head of a row: `F401 `os` imported but unused, src/a.py:3`."""
    message = one_line(incident.message or incident.description, 200)
    return f"{one_line(incident.rule, 80)} {message}, {one_line(incident.path, 200)}:{incident.line}"


def blocker_text(call: Call, action: Action | None) -> str:
    """Return a call that others wait for: `edit src/a.py, which waits for you`."""
    name = f"{action.verb} {one_line(action.target, 80)}" if action is not None else one_line(call.tool, 64)
    _, word = call_status(call, action)
    states = {"pending": "which waits for you", "executing": "which is running"}
    state = "which is stale" if word == "stale" else states.get(call.state, "which did not run yet")
    return f"{name}, {state}"


_HIDDEN_MARK: Final = re.compile("⟨U\\+([0-9A-F]{4,6})⟩")
_OVERRIDE: Final = "\u202e"
_OVERRIDDEN: Final = re.compile(f"([\\w.-]*){_OVERRIDE}([^\\s\"'\u202c]+)")
_MAX_NAMED_KINDS: Final = 3


def hidden_text_sentence(texts: Iterable[str]) -> str:
    """Return what texts hide; without any such character, that they hide something."""
    # What only ends all of its lines alike hides nothing by that.
    text = "\n".join(part.replace("\r\n", "\n") if has_crlf(part) else part for part in texts)
    counts = Counter(_HIDDEN_MARK.findall(safe_text(text)))
    if not counts:
        return "It holds characters that cannot be seen. They are shown as ⟨U+…⟩."
    named = [f"{count} {_character_name(code)}" for code, count in counts.most_common(_MAX_NAMED_KINDS)]
    more = len(counts) - _MAX_NAMED_KINDS
    marks = ", ".join(f"⟨U+{code}⟩" for code, _ in counts.most_common(_MAX_NAMED_KINDS))
    named += [f"{more} other kinds"] if more > 0 else []
    return f"{', '.join(named)}. Shown as {marks}{_as_printed(text)}."


def _character_name(code: str) -> str:
    return unicodedata.name(chr(int(code, 16)), f"control character {code}").lower()


def _as_printed(text: str) -> str:
    """Return what a terminal makes of the first word that turns the direction around."""
    match = _OVERRIDDEN.search(text)
    if match is None:
        return ""
    return f"; without that a terminal prints “{one_line(match[1] + match[2][::-1], 60)}”"


def json_text(value: Json) -> str:
    """Return a value as JSON; what is no JSON is written as Python writes it."""
    try:
        return dumps(value)
    except (ValueError, TypeError):
        return repr(value)
