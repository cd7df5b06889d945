"""`workbench approvals list` and `show`: the queue of waiting actions, and one action in full."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.changes.decision import action_hunks, exact_parameters, sealed_changes
from workbench.changes.diff import FileChange, is_binary_content
from workbench.cli.arguments import add_action_argument, add_json_option
from workbench.cli.console import Console, StatusIcons
from workbench.cli.context import find_action, short_id
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import JsonFields, action_json, call_json, decision_json
from workbench.cli.rows import ActionRow, action_line, call_line, clock_time
from workbench.domain.codec import to_json_value
from workbench.domain.events import ActionOpened
from workbench.domain.rows import Action, Call
from workbench.domain.values import SYSTEM_SESSION, Hunk, Json, SelectedHunk
from workbench.effects.files import workspace_path
from workbench.journal.journal import Journal
from workbench.journal.proposals import ProposalMissing, proposal_of, recorded_hunks
from workbench.text.human import SECOND_MICROS, duration_text, size_text
from workbench.text.safe import LINE_END_SYMBOL, marked_spaces, one_line, safe_text
from workbench.views.action_detail import DIFF_PARAMETERS, WARNING_SENTENCES
from workbench.views.approvals import queue_rows
from workbench.views.long_lines import ShortLine, left_out_text, short_lines

_NEVER = 1 << 62


def waiting_actions(journal: Journal, workspace: str | None = None) -> list[Action]:
    """Return what waits, least time first; of one workspace if one is named."""
    pending = journal.actions(states=("pending",))
    return [
        with_line_ends(journal, action)
        for action in sorted(
            _in_workspace(journal, pending, workspace),
            key=lambda action: (action.expires_at or _NEVER, action.opened_at),
        )
    ]


def with_line_ends(journal: Journal, action: Action) -> Action:
    """Return a command that waits with `⏎` where its lines end; older versions recorded a blank there."""
    if action.state != "pending" or action.verb != "run" or LINE_END_SYMBOL in action.target:
        return action
    try:
        command = proposal_of(journal, action).parameters.get("command")
    except ProposalMissing:
        return action
    if not isinstance(command, str) or "\n" not in command:
        return action
    return replace(action, target=command.replace("\n", LINE_END_SYMBOL))


def decided_actions(journal: Journal, workspace: str | None = None) -> list[Action]:
    """Return what does not wait any more, newest decision first."""
    others = (action for action in journal.actions() if action.state != "pending")
    return sorted(_in_workspace(journal, others, workspace), key=lambda action: -(action.decided_at or 0))


def read_action_row(journal: Journal, action: Action, *, with_hunks: bool = False) -> ActionRow:
    """Return an action with its session's title, its call and, if wanted, how many hunks it has."""
    session = journal.session(action.session_id) if action.session_id != SYSTEM_SESSION else None
    return ActionRow(
        action=action,
        lines=action.target.rstrip(LINE_END_SYMBOL).count(LINE_END_SYMBOL) + 1 if action.verb == "run" else 1,
        title=session.title if session else "",
        hunks=_hunk_count(journal, action) if with_hunks and action.files else 0,
        call=journal.call(action.call_id) if action.call_id else None,
        key=short_id(journal, action.id, "action"),
    )


def action_workspace(journal: Journal, action: Action) -> str:
    """Return the workspace that an action is about."""
    named = action.subject.get("workspace")
    if isinstance(named, str):
        return named
    session = journal.session(action.session_id)
    return session.workspace if session else ""


def _in_workspace(journal: Journal, actions: Iterable[Action], workspace: str | None) -> Iterable[Action]:
    if workspace is None:
        return actions
    return (action for action in actions if action_workspace(journal, action) == workspace)


def _hunk_count(journal: Journal, action: Action) -> int:
    try:
        return len(recorded_hunks(journal, proposal_of(journal, action)))
    except ProposalMissing:
        return 0


def filter_actions(journal: Journal, actions: Sequence[Action], words: str) -> list[Action]:
    """Return the actions whose rows pass a filter as the queue of the screen takes it."""
    found = {action.session_id: journal.session(action.session_id) for action in actions}
    sessions = {key: session for key, session in found.items() if session is not None}
    kept = {row.id for row in queue_rows(actions, sessions, journal.now(), text_filter=words)}
    return [action for action in actions if action.id in kept]


LIST_EXAMPLE = """workbench approvals list --json
workbench approvals list --filter 'agent:codex folder:shop -risk:any'"""


def configure_list(parser: ArgumentParser) -> None:
    parser.add_argument("--here", action="store_true", help="only of this workspace")
    parser.add_argument("--decided", action="store_true", help="decided actions too, newest first")
    parser.add_argument(
        "--filter",
        default="",
        metavar="WORDS",
        help="only with these words; agent:NAME, folder:NAME, risk:NAME (or any) narrow, with - leave out",
    )
    add_json_option(parser, "print a JSON array")


def execute_list(options: Namespace, console: Console) -> int:
    workspace = workspace_path(options.directory) if options.here or options.directory else None
    with open_journal(expires_due=True) as journal:
        actions = waiting_actions(journal, workspace)
        if options.decided:
            actions += decided_actions(journal, workspace)
        now, words = journal.now(), options.filter
        actions = filter_actions(journal, actions, words) if words else actions
        rows = [action_line(read_action_row(journal, action), console.signs, now) for action in actions]
        facts = [action_json(action) for action in actions]
    return console.result(
        facts, rows or ["Nothing that waits matches." if words else "Nothing waits."], is_json=options.json
    )


SHOW_EXAMPLE = "workbench approvals show 3f2a"


class ProposalDetail(Struct, frozen=True, kw_only=True):
    """What is shown of an action's proposal."""

    opened: ActionOpened
    parameters: Mapping[str, Json]
    hunks: tuple[Hunk, ...]
    changes: tuple[FileChange, ...] = ()
    """Exact bytes; none of what was decided."""


def configure_show(parser: ArgumentParser) -> None:
    add_action_argument(parser)
    parser.add_argument(
        "--full", action="store_true", help="long lines whole, not only their changed parts; long values too"
    )
    add_json_option(parser, "print a JSON object, with all lines whole")


def execute_show(options: Namespace, console: Console) -> int:
    with open_journal(expires_due=True) as journal:
        action = find_action(journal, options.id)
        detail = proposal_detail(journal, action)
        call = journal.call(action.call_id) if action.call_id else None
        facts = detail_json(action, detail.opened, detail.parameters, detail.hunks, call)
        lines = proposal_lines(
            journal, action, console, detail, is_whole=options.full, has_whole_lines=options.full
        )
        return console.result(facts, lines, is_json=options.json)


def proposal_detail(journal: Journal, action: Action) -> ProposalDetail:
    """Return what there is to show of an action."""
    opened_body = proposal_of(journal, action)
    if action.state != "pending":
        return ProposalDetail(
            opened=opened_body, parameters=opened_body.parameters, hunks=recorded_hunks(journal, opened_body)
        )
    blobs = journal.blobs
    return ProposalDetail(
        opened=opened_body,
        parameters=exact_parameters(opened_body.parameters, opened_body.parameters_ref, blobs),
        hunks=action_hunks(opened_body, blobs),
        changes=sealed_changes(opened_body.files, blobs),
    )


def proposal_lines(
    journal: Journal,
    action: Action,
    console: Console,
    detail: ProposalDetail,
    *,
    is_whole: bool = False,
    has_whole_lines: bool = False,
) -> list[str]:
    """Return the lines that show an action to a person.

    Args:
        journal: that has it.
        action: the action.
        console: that prints the lines.
        detail: its proposal.
        is_whole: whether its values are shown whole, however long.
        has_whole_lines: whether very long lines of the diff are too, and not only their changed parts.
    """
    row = read_action_row(journal, action)
    return detail_lines(
        row, detail.opened, detail.parameters, detail.hunks, detail.changes, console.signs, journal.now(),
        is_whole=is_whole, has_whole_lines=has_whole_lines,
    )  # fmt: skip


_WARNING_TEXTS: Mapping[str, str] = {
    **WARNING_SENTENCES,
    "hidden": "It holds characters that cannot be seen; they are shown as ⟨U+…⟩.",
    "stale": "A file changed since this was proposed.",
}
_LONGEST_PARAMETER = 4_000


def detail_json(
    action: Action,
    opened: ActionOpened,
    parameters: Mapping[str, Json],
    hunks: Sequence[Hunk],
    call: Call | None,
) -> JsonFields:
    """Return an action in full as JSON."""
    return {
        **action_json(action),
        "verb": action.verb,
        "cwd": opened.cwd,
        "prompt": opened.prompt,
        "choices": to_json_value(opened.choices),
        "parameters": to_json_value(parameters),
        "files": [
            {
                "path": file.path,
                "change": _change_kind(file.base, file.after),
                "mode": file.mode,
                **({"moved_from": file.moved_from} if file.moved_from is not None else {}),
            }
            for file in opened.files
        ],
        "hunks": to_json_value(tuple(hunks)),
        "stale_paths": list(action.stale_paths),
        "extensions": action.extensions,
        **({"subject": to_json_value(action.subject)} if action.kind == "trust" else {}),
        "decision": decision_json(action),
        "outcome": call_json(call) if call else None,
    }


def detail_lines(
    row: ActionRow,
    opened: ActionOpened,
    parameters: Mapping[str, Json],
    hunks: Sequence[Hunk],
    changes: Sequence[FileChange],
    signs: StatusIcons,
    now: int,
    *,
    is_whole: bool = False,
    has_whole_lines: bool = False,
) -> list[str]:
    """Return an action in full as lines for a person; `proposal_lines` says what the flags mean."""
    action = row.action
    # Of a long line one version may have been taken alone: it was then added or removed as a whole.
    has_chosen_lines = any(piece.lines is not None for piece in action.selection or ())
    return [
        action_line(row, signs, now),
        *_fact_lines(action, opened, now),
        *_warning_lines(action, signs),
        *_question_lines(opened),
        *_all_parameter_lines(
            parameters, has_diff=bool(hunks), longest=None if is_whole else _LONGEST_PARAMETER
        ),
        *file_change_lines(changes),
        *diff_lines(hunks, has_whole_lines=has_whole_lines or has_chosen_lines),
        *_decision_lines(action, now),
        *([call_line(row.call, signs)] if row.call and action.state == "approved" else []),
    ]


def _fact_lines(action: Action, opened: ActionOpened, now: int) -> list[str]:
    lines = [
        f"  id       {action.id}",
        f"  asked    {clock_time(action.created_at, now)} in {one_line(opened.cwd, 160)}",
    ]
    if action.expires_at is not None and action.state == "pending":
        seconds = max(0.0, (action.expires_at - now) / SECOND_MICROS)
        lines.append(f"  expires  {clock_time(action.expires_at, now)}, {duration_text(seconds)} left")
    return lines


def _warning_lines(action: Action, signs: StatusIcons) -> list[str]:
    lines = [
        f"! {warning}: {_WARNING_TEXTS.get(warning, 'look twice.')}"
        for warning in action.warnings
        if warning != "stale"
    ]
    if action.stale_paths:
        paths = ", ".join(one_line(path, 120) for path in action.stale_paths)
        lines.append(f"{signs.of('stale')} stale: {_WARNING_TEXTS['stale']} {paths}")
        lines.append(
            f"  workbench approvals refresh {action.id} makes the new diff; nothing is written by that."
        )
    return lines


def _question_lines(opened: ActionOpened) -> list[str]:
    lines = safe_text(opened.prompt).splitlines() if opened.prompt else []
    failed = opened.subject.get("failed")
    lines += [f"  {one_line(part, 400)}" for part in str(failed).split("; ")] if failed else []
    return lines + [
        f"  {one_line(choice.key, 40)}: {one_line(choice.label, 160)}" for choice in opened.choices
    ]


def _all_parameter_lines(
    parameters: Mapping[str, Json], *, has_diff: bool, longest: int | None
) -> Iterable[str]:
    for name, value in parameters.items():
        if has_diff and name in DIFF_PARAMETERS:
            continue
        text = value if isinstance(value, str) else str(to_json_value(value))
        yield from _parameter_lines(name, text, longest)


def _parameter_lines(name: str, text: str, longest: int | None) -> list[str]:
    head, rest = f"  {one_line(name, 40)}: ", ""
    text = marked_spaces(text) if name in ("command", "path", "new_path") else text
    if longest is not None and len(text) > longest:
        text, rest = text[:longest], f"… {len(text)} characters, the rest is in --json"
    if "\n" not in text:
        return [head + safe_text(text) + rest]
    lines = safe_text(text).removesuffix("\n").split("\n")
    return [
        f"{head.rstrip()} {len(lines)} lines" if len(lines) > 1 else head.rstrip(),
        *(f"{number:>5}  {line}" for number, line in enumerate(lines, 1)),
        *([f"    {rest}"] if rest else []),
    ]


def _decision_lines(action: Action, now: int) -> list[str]:
    if action.state == "pending":
        return []
    lines = [f"{action.state} by {action.decided_by or 'nobody'} at {clock_time(action.decided_at, now)}"]
    if action.selection is not None:
        lines.append(f"  took {selection_text(action.selection)}")
    lines += [f"  edited {one_line(path, 160)}" for path in sorted(action.edited or ())]
    lines += [f"  {SEEN_LABELS[action.seen]}"] if action.seen in SEEN_LABELS else []
    for name, value in (("choice", action.choice), ("answer", action.text), ("reason", action.reason)):
        lines += [f"  {name}: {safe_text(value)}"] if value else []
    return [*lines, *([f"  {action.successor} replaces it"] if action.successor else [])]


SEEN_LABELS: Final[Mapping[str | None, str]] = {
    "part": "not all of it was on the screen",
    "by_id": "named by its id",
}
"""How much was drawn of what was approved, where that was not all of it."""


def selection_text(selection: Sequence[SelectedHunk]) -> str:
    """Return a selection in words: `hunks 1 and 3`, `lines 2, 3 of hunk 1`, `nothing`."""
    parts = [
        f"hunk {selected.hunk}"
        if selected.lines is None
        else f"lines {', '.join(map(str, selected.lines))} of hunk {selected.hunk}"
        for selected in selection
    ]
    return " and ".join(parts) or "nothing"


def _change_kind(base: str | None, after: str | None) -> str:
    if base is None:
        return "create"
    return "delete" if after is None else "modify"


PATH_CELLS = 200


def diff_lines(hunks: Sequence[Hunk], *, has_whole_lines: bool = False) -> list[str]:
    """Return hunks as lines, each file under its path; of very long lines the changed parts, or the whole."""
    lines: list[str] = []
    path = None
    for hunk in hunks:
        if hunk.path != path:
            path = hunk.path
            lines.append(one_line(path, PATH_CELLS))
        lines += _hunk_lines(hunk, len(hunks), has_whole_lines=has_whole_lines)
    return lines


def _hunk_lines(hunk: Hunk, total: int, *, has_whole_lines: bool) -> list[str]:
    old, new = f"-{hunk.old_start},{hunk.old_count}", f"+{hunk.new_start},{hunk.new_count}"
    is_crlf = all(text.endswith("\r") for sign, text in hunk.lines if sign != "\\")
    ends = "  lines end in CR LF" if is_crlf else ""
    return [
        f"  hunk {hunk.index} of {total}  @@ {old} {new} @@{ends}",
        *_numbered_lines(hunk, is_crlf=is_crlf, has_whole_lines=has_whole_lines),
    ]


def hunk_headings(hunks: Sequence[Hunk]) -> list[str]:
    """Return one line a hunk: number, path, place, and its first changed line."""
    return [
        f"hunk {hunk.index}, {one_line(hunk.path, PATH_CELLS)} line {hunk.new_start}: {_first_change(hunk)}"
        for hunk in hunks
    ]


def file_change_lines(changes: Iterable[FileChange]) -> list[str]:
    """Return a line for every file that is new, moved, deleted, binary or changes no line."""
    lines: list[str] = []
    rows = tuple(changes)
    left = {change.moved_from for change in rows}
    for change in rows:
        if change.path in left:
            continue
        fact = _file_fact(change)
        if fact:
            lines.append(f"{one_line(change.path, PATH_CELLS)}: {fact}")
    return lines


def _numbered_lines(hunk: Hunk, *, is_crlf: bool, has_whole_lines: bool) -> list[str]:
    rows = [(sign, text.removesuffix("\r") if is_crlf else text) for sign, text in hunk.lines]
    short: Mapping[int, ShortLine] = {} if has_whole_lines else short_lines(rows)
    counts = accumulate(sign in "+-" for sign, _ in rows)
    heads = [
        f"{count if sign in '+-' else '':>5}  {sign}" for count, (sign, _) in zip(counts, rows, strict=True)
    ]
    lines: list[str] = []
    for index, (sign, text) in enumerate(rows):
        line = short.get(index)
        other = index if line is None or line.counterpart is None else line.counterpart
        if sign == "\\":
            lines.append("       \\ no newline at the end of the file")
        elif line is None:
            lines.append(heads[index] + safe_text(text))
        elif other == index or _has_note(rows, index) != _has_note(rows, other):
            lines += _part_lines(line, [(heads[index], text, line)])
        elif index < other:
            lines += _part_lines(line, [(heads[n], rows[n][1], short[n]) for n in (index, other)])
    return lines


def _has_note(rows: Sequence[tuple[str, str]], index: int) -> bool:
    return index + 1 < len(rows) and rows[index + 1][0] == "\\"


def _part_lines(line: ShortLine, versions: Sequence[tuple[str, str, ShortLine]]) -> Iterator[str]:
    """Yield the shown parts of a long line, each as it is and as it will be, and counts of what is not."""
    for part, count in enumerate(line.left_out):
        if count:
            # Where the signs of lines stand: no text of a line can look like it.
            yield f"       {left_out_text(count)}"
        if part < len(line.shown):
            for head, text, version in versions:
                start, end = version.shown[part]
                yield head + safe_text(text[start:end])


def _first_change(hunk: Hunk) -> str:
    return next((f"{sign} {one_line(text.strip(), 60)}" for sign, text in hunk.lines if sign in "+-"), "")


def _file_fact(change: FileChange) -> str:
    before, after = change.before, change.after
    if change.moved_from is not None:
        kind = ", binary" if is_binary_content(after) else ""
        return f"moved from {one_line(change.moved_from, PATH_CELLS)}{kind}, {_size_text(after)}"
    if is_binary_content(before) or is_binary_content(after):
        return f"binary, {_size_text(before)} before, {_size_text(after)} after"
    if before is None:
        return f"new file, {_size_text(after)}"
    if after is None:
        return f"deleted, it had {_size_text(before)}"
    return "no line changes" if before == after else ""


def _size_text(data: bytes | None) -> str:
    return "nothing" if data is None else size_text(len(data))
