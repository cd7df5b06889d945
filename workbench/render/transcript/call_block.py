"""A tool call and a question as folded parts of the page: arguments, who answered what, diff and output."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol

from msgspec import Struct, field

from workbench.domain import events as e
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import SANDBOX_SPEAKER, BlobRef, Hunk, JsonObject, SandboxUse
from workbench.render.transcript.markup import (
    anchor_html,
    diff_html,
    element_id,
    line_html,
    pre_html,
    safe_html,
    time_html,
    values_html,
)
from workbench.text.human import SECOND_MICROS, duration_text, sentence, size_text
from workbench.views.action_detail import decider_name, decision_route_text
from workbench.views.call_summary import call_summary
from workbench.views.sandbox import refusals_sentence, sandbox_use_text
from workbench.views.status_icons import ACTION_STATUSES, ICONS, StatusName, call_status
from workbench.views.stream_buffers import OutputBuffer
from workbench.views.tools import call_target, shown_tool

MOST_OUTPUT: Final = 200_000
"""Characters of an output that stand in the page; of a longer one its recorded preview does."""
STATUS_CLASSES: Final[dict[StatusName, str]] = {
    "ok": "ok", "partly": "ok", "failed": "failed", "rejected": "failed", "waiting": "waiting",
    "stale": "waiting", "expired": "waiting", "unknown": "waiting",
}  # fmt: skip


class TranscriptSource(Protocol):
    """Where a page has its session from."""

    def events(self, session_id: str) -> Iterable[e.Event]:
        """Yield the events of a session in order, without holding all of them."""
        ...

    def file_changes(self, session_id: str) -> Iterable[e.Event]:
        """Yield the events of a session that say what file changed."""
        ...

    def session(self, session_id: str) -> Session | None: ...

    def children(self, session_id: str) -> Sequence[Session]:
        """Return the sessions that a session started, oldest first."""
        ...

    def call(self, call_id: str) -> Call | None: ...

    def action(self, action_id: str) -> Action | None: ...

    def call_events(self, call_id: str) -> Sequence[e.Event]: ...

    def recorded_text(self, ref: BlobRef) -> str | None:
        """Return a recorded text; None where it is no longer kept."""
        ...

    def hunks(self, opened: e.ActionOpened) -> Sequence[Hunk]:
        """Return the recorded hunks of a question, also where they are kept beside it."""
        ...

    def hunks_of_change(self, changed: e.FileChanged) -> Sequence[Hunk]:
        """Return what a change did to its file without secrets; none where it is not known."""
        ...

    def cost(self, session: Session, reply: e.ReplyCompleted) -> float | None:
        """Return what a reply cost in the user's currency; None where no price is known."""
        ...


class CallRecords(Struct):
    """What the events of a call say, sorted for the page."""

    proposed: e.CallProposed | None = None
    finished: e.CallFinished | None = None
    changes: list[e.FileChanged] = field(default_factory=list[e.FileChanged])
    questions: list[tuple[str, e.ActionOpened]] = field(default_factory=list[tuple[str, e.ActionOpened]])
    output: OutputBuffer = field(default_factory=OutputBuffer)
    sandbox: SandboxUse | None = None
    """What the command could touch, where that is known."""

    @classmethod
    def of(cls, events: Iterable[e.Event]) -> "CallRecords":
        records = cls()
        for event in events:
            body = event.body
            if isinstance(body, e.CallProposed):
                records.proposed = body
            elif isinstance(body, e.CallFinished):
                records.finished = body
            elif isinstance(body, e.CallExecuting):
                records.sandbox = body.sandbox
            elif isinstance(body, e.FileChanged):
                records.changes.append(body)
            elif isinstance(body, e.ActionOpened):
                records.questions.append((event.action_id or "", body))
            elif isinstance(body, e.OutputStreamed):
                records.output.add(body.offset, body.text)
        return records

    @property
    def child_session(self) -> str:
        """Return the id of the session that the call started; empty if none is known."""
        child = self.finished.metadata.get("child_session") if self.finished else None
        return child if isinstance(child, str) else ""


def call_html(
    source: TranscriptSource, call: Call, records: CallRecords, arguments: JsonObject, inner: Iterable[str]
) -> Iterator[str]:
    """Yield a call as a folded block; `inner` is what it started."""
    action = source.action(call.action_id) if call.action_id else None
    hunks = _hunks_of_call(source, records)
    is_whole = records.finished is not None and records.finished.state == "succeeded"
    yield f'<details class="call" id="{element_id("c", call.id)}"><summary>'
    yield f"{_call_summary(call, action, hunks)}</summary>\n"
    yield anchor_html(element_id("c", call.id), "call") + time_html(call.requested_at)
    yield from _gate_html(records.proposed)
    yield from _sandbox_html(call, records)
    for action_id, opened in records.questions:
        row = source.action(action_id)
        yield from question_html(opened, row)
        if not is_whole and (proposed := source.hunks(opened)):
            yield f"<h3>Proposed</h3>\n{diff_html(proposed)}"
    values = arguments or call.parameters
    if values:
        yield f"<h3>Arguments</h3>\n{values_html(values)}"
    if hunks and is_whole:
        yield f"<h3>Changes</h3>\n{diff_html(hunks)}"
    yield from _unseen_changes(records.changes, hunks)
    yield from _output_html(source, records)
    yield from inner
    yield "</details>\n"


def _call_summary(call: Call, action: Action | None, hunks: Sequence[Hunk]) -> str:
    name, word = call_status(call, action)
    signs = [sign for hunk in hunks for sign, _ in hunk.lines]
    counts = f"+{signs.count('+')} −{signs.count('-')}" if hunks else ""
    right = call_summary(call, action, ()).right
    facts = " · ".join(dict.fromkeys(part for part in (word, counts, call.place or "", right) if part))
    icon = f'<span class="{STATUS_CLASSES.get(name, "note")}" aria-hidden="true">{ICONS[name].unicode}</span>'
    tool, target = line_html(shown_tool(call.tool), 64), line_html(call_target(call), 200)
    return f'{icon} <b>{tool}</b> <code>{target}</code> <span class="right">{line_html(facts, 120)}</span>'


def _hunks_of_call(source: TranscriptSource, records: CallRecords) -> Sequence[Hunk]:
    written = [
        hunk
        for changed in _without_moves(records.changes)
        for hunk in changed.hunks or source.hunks_of_change(changed)
    ]
    return written or [hunk for _, opened in records.questions for hunk in source.hunks(opened)]


def _without_moves(changes: Sequence[e.FileChanged]) -> list[e.FileChanged]:
    """Return the changes without both ends of each move, whose bytes stay the same."""
    left = {changed.moved_from for changed in changes}
    return [changed for changed in changes if changed.moved_from is None and changed.path not in left]


def _unseen_changes(changes: Sequence[e.FileChanged], hunks: Sequence[Hunk]) -> Iterator[str]:
    shown = {hunk.path for hunk in hunks}
    moves = [changed for changed in changes if changed.moved_from is not None]
    for moved in moves:
        old, new = safe_html(moved.moved_from or ""), safe_html(moved.path)
        yield f'<p class="note">moved <code>{old}</code> to <code>{new}</code></p>\n'
    for changed in _without_moves(changes):
        if changed.path not in shown:
            words, path = CHANGE_WORDS[changed.change], safe_html(changed.path)
            yield f'<p class="note">{words} <code>{path}</code> +{changed.added} −{changed.removed}</p>\n'


CHANGE_WORDS: Final = {"create": "created", "modify": "changed", "delete": "deleted"}


def _gate_html(proposed: e.CallProposed | None) -> Iterator[str]:
    if proposed is None:
        return
    verdict = proposed.verdict
    if verdict.outcome in ("denied", "refused"):
        why = f": {line_html(verdict.reason, 400)}" if verdict.reason else ""
        if (verdict.step, verdict.by) == ("ask", "the human"):  # as forks of earlier versions hold it
            yield f'<p class="decision note">Rejected by you{why}</p>\n'
            return
        yield f'<p class="decision failed">Not allowed by {line_html(verdict.by, 120)}{why}</p>\n'
    elif verdict.by == SANDBOX_SPEAKER:
        yield f'<p class="decision note">Allowed by the sandbox: {line_html(verdict.reason, 400)}</p>\n'
    elif verdict.rule:
        yield f'<p class="decision note">Allowed by rule {line_html(verdict.rule, 40)}</p>\n'
    if proposed.asks_itself:
        yield '<p class="decision note">The agent asks itself too, by its own rules</p>\n'


def _sandbox_html(call: Call, records: CallRecords) -> Iterator[str]:
    if records.sandbox is not None:
        yield f'<p class="decision note">Ran {line_html(sandbox_use_text(records.sandbox), 120)}</p>\n'
    if call.refusals:
        yield f'<p class="decision failed">{line_html(sentence(refusals_sentence(call)), 600)}</p>\n'


def question_html(opened: e.ActionOpened, action: Action | None) -> Iterator[str]:
    """Yield what was asked, and who answered what, when and after how long."""
    if opened.prompt:
        yield f'<p class="decision"><b>{safe_html(opened.prompt)}</b></p>\n'
    chosen = action.choice if action else None
    if opened.choices:
        yield '<ul class="choices">'
        for choice in opened.choices:
            label = safe_html(choice.label or choice.key)
            yield f"<li><b>{label} ✓</b></li>" if choice.key == chosen else f"<li>{label}</li>"
        yield "</ul>\n"
    yield f'<p class="decision">Asked {time_html(opened.created_at)}'
    if action is None or action.state == "pending":
        yield ', <span class="waiting">not answered</span></p>\n'
        return
    yield f", {_answer_html(action)}</p>\n"


def _answer_html(action: Action) -> str:
    name, word = ACTION_STATUSES[action.state]
    is_answer = action.state in ("approved", "rejected")
    by = f" by {line_html(decider_name(action.decided_by), 80)}" if is_answer else ""
    route = line_html(decision_route_text(action.decided_by), 80) if is_answer else ""
    said = [f'<span class="{STATUS_CLASSES.get(name, "note")}">{word}{by}{route}</span>']
    if action.decided_at is not None:
        waited = duration_text(max(0, action.decided_at - action.created_at) / SECOND_MICROS)
        said.append(f"{time_html(action.decided_at)} after {waited}")
    if action.choice:
        said.append(f"chose “{safe_html(action.choice)}”")
    said += [f"“{safe_html(text)}”" for text in (action.text, action.reason) if text]
    return ", ".join(said)


def _output_html(source: TranscriptSource, records: CallRecords) -> Iterator[str]:
    finished = records.finished
    if finished is None:
        if records.output.text:
            yield f"<h3>Output until it was lost</h3>\n{pre_html(records.output.text)}"
        return
    whole = source.recorded_text(finished.output_ref) if finished.output_ref else None
    text = whole if whole is not None and len(whole) <= MOST_OUTPUT else finished.preview
    if text:
        about = f" <small>{size_text(finished.output_bytes)}</small>" if finished.output_bytes else ""
        yield f"<h3>Output{about}</h3>\n{pre_html(text)}"
    if finished.error and finished.error.strip() not in text:
        yield f"<h3>Error</h3>\n{pre_html(finished.error)}"
