"""A session as one HTML page to read: prompts, replies, calls, questions, diffs, tokens, sub-agents.

The page is written as the session is read, so that a long one takes no more memory than a short one. It
allows only its own script and style sheet (`page.js`, `page.css` beside this file), by their digests, loads
nothing, and reads as it is where scripts do not run.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Final, assert_never, cast

from msgspec import Struct, field

from workbench.domain import events as e
from workbench.domain.retired_prompts import retired_prompt_ids
from workbench.domain.rows import Session
from workbench.domain.values import Json, JsonObject, ReplyCall, Usage
from workbench.render.transcript.call_block import (
    CHANGE_WORDS,
    CallRecords,
    TranscriptSource,
    call_html,
    question_html,
)
from workbench.render.transcript.markup import (
    anchor_html,
    element_id,
    json_html,
    line_html,
    pre_html,
    prose_html,
    safe_html,
    time_html,
)
from workbench.render.transcript.outline import Outline, OutlineEntry
from workbench.text.human import SECOND_MICROS, counted, duration_text, token_text
from workbench.text.safe import one_line
from workbench.views.event_text import event_line
from workbench.views.notices import NoticeBody, is_bookkeeping, notice_of
from workbench.views.sessions import session_title
from workbench.views.status_icons import action_status
from workbench.views.stream_buffers import ReplyBuffer

_ASSETS: Final = Path(__file__).resolve().parent
_MOST_LEVELS: Final = 8
"""Sub-agents of sub-agents that stand inside one another; deeper ones are named."""
_MOST_OPEN_FILES: Final = 5
"""Changed files up to which their list is not folded."""
_COMPACTION: Final = ".compaction"
_OUTCOME_WORDS: Final[Mapping[str, str]] = {
    "done": "Turn ended", "interrupted": "Turn was stopped", "limit": "Turn reached its limit",
    "error": "Turn failed", "unattended": "Turn ended: nobody answered",
}  # fmt: skip
_HEAD: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#conversation">To the conversation</a>
<div id="page">
<h1>{title}</h1>
"""
_BAR: Final = """<form id="bar" role="search" hidden>
<input id="find" type="search" placeholder="Search this page" aria-label="Search this page"
 autocomplete="off">
<output id="count" for="find" aria-live="polite"></output>
<button id="previous" type="button" aria-label="Previous match">↑</button>
<button id="next" type="button" aria-label="Next match">↓</button>
<button id="unfold" type="button" aria-pressed="false">open all</button>
<button id="theme" type="button" title="Colours of the page">colours: auto</button>
</form>
"""
_FOOT: Final = """</div>
<p id="said" role="status"></p>
<footer>
<p id="keys" hidden><kbd>/</kbd> search <kbd>n</kbd> <kbd>N</kbd> next, previous match
<kbd>j</kbd> <kbd>k</kbd> next, previous prompt <kbd>o</kbd> open all. # copies the link to a message.</p>
<p>A session recorded by workbench. Times are UTC. Secrets that were recognised are replaced.
This page loads nothing.</p>
</footer>
<script>{script}</script>
</body>
</html>
"""


def transcript_parts(source: TranscriptSource, session: Session) -> Iterator[str]:
    """Yield the page of a session, piece by piece."""
    script, style = ((_ASSETS / name).read_text(encoding="utf-8") for name in ("page.js", "page.css"))
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    title = escape(one_line(session_title(session), 200))
    yield _HEAD.format(policy=escape(policy), title=title, style=style)
    yield from _facts_html(session)
    yield from _files_html(source, session)
    yield "</div>\n"
    yield _BAR
    yield '<main id="conversation" tabindex="-1">\n'
    outline = Outline()
    is_empty = True
    for part in _SessionPage(source, session, {session.id}, 0, outline).parts():
        is_empty = is_empty and not part
        yield part
    if is_empty:
        yield '<p class="note">Nothing was said yet.</p>\n'
    yield "</main>\n"
    yield from outline.parts()
    yield _FOOT.format(script=script)


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


def _facts_html(session: Session) -> Iterator[str]:
    lasted = (session.updated_at - session.created_at) / SECOND_MICROS
    facts = (
        ("Folder", safe_html(session.workspace)), ("From", safe_html(session.origin or "")),
        ("Model", safe_html(" · ".join(filter(None, (session.model, session.provider))))),
        ("Started", time_html(session.created_at)),
        ("Lasted", duration_text(lasted) if lasted > 0 else ""),
        ("Status", safe_html(session.origin_status or session.status)),
        ("Tokens", usage_text(session.usage, None) or "none recorded"),
        ("Tags", safe_html(", ".join(session.tags))), ("Session", safe_html(session.id)),
    )  # fmt: skip
    yield '<div id="about">\n<dl class="facts">\n'
    yield from (f"<div><dt>{name}</dt> <dd>{value}</dd></div>\n" for name, value in facts if value)
    yield "</dl>\n"


def usage_text(usage: Usage, cost: float | None) -> str:
    """Return tokens and money in words; empty where nothing was counted."""
    if not usage.total_tokens and not usage.cost_microdollars:
        return ""
    cached = [
        f"{token_text(count)} {word}"
        for count, word in (
            (usage.cache_read_tokens, "from the cache"), (usage.cache_write_tokens, "written to it")
        )
        if count
    ]  # fmt: skip
    money = f"${usage.cost_microdollars / 1_000_000:,.4f}" if usage.cost_microdollars else ""
    money = money or (f"{cost:,.4f} by the prices set" if cost else "")
    sent = f"{token_text(usage.input_tokens)} tokens in"
    sent += f" ({', '.join(cached)})" if cached else ""
    return ", ".join(filter(None, (sent, f"{token_text(usage.output_tokens)} out", money)))


class _ChangedFile(Struct):
    change: str
    anchor: str
    times: int = 0
    added: int = 0
    removed: int = 0


def _files_html(source: TranscriptSource, session: Session) -> Iterator[str]:
    folder = f"{session.workspace.rstrip('/')}/"
    files: dict[str, _ChangedFile] = {}
    for key in _family(source, session):
        for event in source.file_changes(key):
            if isinstance(event.body, e.FileChanged):
                anchor = element_id("c", event.call_id or "")
                path = event.body.path.removeprefix(folder)
                file = files.setdefault(path, _ChangedFile(event.body.change, anchor))
                file.times += 1
                file.added += event.body.added
                file.removed += event.body.removed
                if event.body.change == "delete":
                    file.change = "delete"
    if not files:
        return
    added, removed = (sum(getattr(file, name) for file in files.values()) for name in ("added", "removed"))
    about = f"{counted(len(files), 'file')} changed, +{added:,} −{removed:,}"
    is_open = " open" if len(files) <= _MOST_OPEN_FILES else ""
    yield f'<details id="files"{is_open}><summary>{about}</summary>\n<ul>\n'
    for path, file in sorted(files.items()):
        often = f", {file.times} times" if file.times > 1 else ""
        yield (
            f'<li><a href="#{file.anchor}"><code>{safe_html(path)}</code></a> <span class="note">'
            f"{CHANGE_WORDS[file.change]} +{file.added} −{file.removed}{often}</span></li>\n"
        )
    yield "</ul>\n</details>\n"


def _family(source: TranscriptSource, session: Session) -> list[str]:
    """Return the ids of a session and of all that it started."""
    keys = [session.id]
    for key in keys:
        keys += (child.id for child in source.children(key) if child.id not in keys)
    return keys


class _Turn(Struct):
    number: int = 0
    began: int | None = None
    usage: Usage = Usage()
    cost: float | None = None
    replies: dict[int, ReplyBuffer] = field(default_factory=dict[int, ReplyBuffer])
    """What was streamed and not said in whole yet, by round."""
    round: int = 1


class _SessionPage:
    """The messages of one session, and inside them those of its sub-agents."""

    def __init__(
        self, source: TranscriptSource, session: Session, shown: set[str], level: int, outline: Outline
    ) -> None:
        self._source, self._session, self._shown, self._level = source, session, shown, level
        self._outline = outline
        self._prefix = f"{element_id('s', session.id)}-" if level else ""
        self._turn = _Turn()
        self._calls: set[str] = set()
        self._kept = 0
        self._retired: frozenset[str] = frozenset()

    def parts(self) -> Iterator[str]:
        """Yield what happened, in order."""
        if self._session.system_prompt:
            yield _folded("kept", "System prompt", pre_html(self._session.system_prompt))
        self._retired = retired_prompt_ids(self._source.events(self._session.id))
        for event in self._source.events(self._session.id):
            if is_bookkeeping(event) and not event.kind.endswith(_COMPACTION):
                self._kept += 1
                continue
            yield from self._with_kept_before(self._event(event))
        yield from self._with_kept_before(("",))
        yield from self._cut_off()
        for child in self._source.children(self._session.id):
            yield from self._child(child.id)

    def _event(self, event: e.Event) -> Iterable[str]:
        match event.body:
            case e.TurnEvent() as body:
                return self._turn_event(event, body)
            case e.PromptSubmitted() as body:
                return self._prompt(event, body)
            case e.CallProposed():
                return self._call(event.call_id or "", None)
            case e.ActionOpened() as body:
                return self._question(event, body)
            case e.Unknown() as body:
                return self._unknown(event, body)
            case (
                e.RunRequested() | e.RunCancelRequested() | e.StepRetryRequested() | e.RunStarted()
                | e.RunChanged() | e.StepChanged() | e.ContractChecked() | e.ArtifactStored()
                | e.UndoRequested()
                | e.PatchRequested() | e.ForkRequested() | e.InterruptRequested() | e.CallRepeated()
            ):  # fmt: skip
                return self._line(event)
            case (
                e.SessionCreated() | e.SessionStatusChanged() | e.SessionChanged() | e.ContinueRequested()
                | e.AgentConnected() | e.AgentGone()
                | e.CompactionRequested() | e.MarkAdded() | e.WorkspaceTrusted() | e.IncidentsListed()
                | e.IncidentsRequested() | e.IncidentsCancelRequested() | e.IncidentDismissed()
                | e.IncidentStarted() | e.IncidentChecked() | e.IncidentEnded()
            ) as body:  # fmt: skip
                return self._notice(event, body)
            case (
                e.SessionDeleted() | e.LeaseTaken() | e.LeaseReleased() | e.PromptWithdrawn()
                | e.PromptsReordered() | e.RefreshRequested() | e.ContextCollected() | e.CallExecuting()
                | e.ProcessStarted() | e.OutputStreamed() | e.FileChanged() | e.CallFinished()
                | e.SandboxRefused()
                | e.ActionApproved() | e.ActionRejected() | e.ActionExpired() | e.ActionSuperseded()
                | e.ActionCancelled() | e.ActionBecameStale() | e.AnswerRefused() | e.RuleAdded()
                | e.RuleUsed() | e.RuleRevoked() | e.RulePlaced() | e.WorkspaceTrustRevoked() | e.AgentsHeld()
                | e.AgentsReleased() | e.SecurityNoted()
            ):  # fmt: skip
                return ()
            case _:
                assert_never(event.body)

    def _turn_event(self, event: e.Event, body: e.TurnBody) -> Iterable[str]:
        match body:
            case e.TurnStarted():
                return self._turn_started(event, body)
            case e.TextStreamed() | e.ThinkingStreamed():
                return self._streamed(event, body)
            case e.ReplyCompleted():
                return self._reply(event, body)
            case e.TurnEnded():
                return self._turn_ended(event, body)
            case e.ErrorRaised():
                return self._error(event, body)
            case e.HookRan():
                return self._line(event)
            case e.ConversationCompacted():
                return self._notice(event, body)
            case e.CommandSuggested() | e.ProgressReported():
                return ()
            case _:
                assert_never(body)

    def _with_kept_before(self, parts: Iterable[str]) -> Iterator[str]:
        for part in parts:
            if self._kept:
                yield f'<p class="note">{counted(self._kept, "record")} that the agent wrote for itself</p>\n'
                self._kept = 0
            yield part

    # --- what was said ------------------------------------------------------------------------------

    def _message(self, event: e.Event, kind: str, who: str, inner: Iterable[str]) -> Iterator[str]:
        key = self._message_key(event)
        yield (
            f'<article class="message {kind}" id="{key}"><header><h2>{who}</h2>{time_html(event.at)}'
            f"{anchor_html(key, 'message')}</header>\n"
        )
        yield from inner
        yield "</article>\n"

    def _message_key(self, event: e.Event) -> str:
        return f"{self._prefix}m{event.sequence_number}"

    def _prompt(self, event: e.Event, body: e.PromptSubmitted) -> Iterator[str]:
        who = "Task" if self._level else "You"
        if event.id in self._retired:
            who += " (not sent: taken back or edited)"
        elif not self._level:
            self._outline.add(OutlineEntry(self._message_key(event), body.text.strip()))
        yield from self._message(event, "prompt", who, [prose_html(body.text)])

    def _turn_started(self, event: e.Event, body: e.TurnStarted) -> Iterator[str]:
        if body.round == 1:
            yield from self._cut_off()
            self._turn = _Turn(number=self._turn.number + 1, began=event.at)
        self._turn.round = body.round

    def _streamed(self, event: e.Event, body: e.TextStreamed | e.ThinkingStreamed) -> Iterable[str]:
        reply = self._turn.replies.setdefault(self._turn.round, ReplyBuffer())
        if isinstance(body, e.TextStreamed):
            reply.add_text(body.block, body.offset, body.text)
        else:
            reply.add_thinking(body.block, body.offset, body.text, event.at)
        return ()

    def _reply(self, event: e.Event, body: e.ReplyCompleted) -> Iterator[str]:
        streamed = self._turn.replies.pop(body.round, ReplyBuffer())
        self._turn.usage = self._turn.usage.plus(body.usage)
        cost = self._source.cost(self._session, body)
        self._turn.cost = self._turn.cost if cost is None else (self._turn.cost or 0) + cost
        inner: list[str] = []
        if body.thinking:
            took = f" for {duration_text(seconds)}" if (seconds := streamed.thought_seconds) else ""
            first = line_html(body.thinking.strip().replace("**", "").partition("\n")[0], 90)
            inner.append(_folded("thought", f"Thought{took}: {first}", prose_html(body.thinking)))
        if body.text:
            inner.append(prose_html(body.text))
        if inner:
            model = f' <small class="note">{line_html(body.model, 60)}</small>' if body.model else ""
            yield from self._message(event, "reply", f"Agent{model}", inner)
        for call in body.calls:
            yield from self._call(call.call_id, call)

    def _cut_off(self) -> Iterator[str]:
        for reply in self._turn.replies.values():
            if text := "".join(reply.text.values()):
                head = "<header><h2>Agent, cut off</h2></header>"
                yield f'<article class="message reply">{head}{prose_html(text)}</article>\n'
        self._turn.replies = {}

    def _turn_ended(self, event: e.Event, body: e.TurnEnded) -> Iterator[str]:
        yield from self._cut_off()
        took = (
            "" if self._turn.began is None else duration_text((event.at - self._turn.began) / SECOND_MICROS)
        )
        detail = line_html(body.detail, 200)
        facts = (_OUTCOME_WORDS[body.outcome], detail, took, usage_text(self._turn.usage, self._turn.cost))
        yield f'<p class="turn">{" · ".join(fact for fact in facts if fact)}</p>\n'

    # --- calls and questions ---------------------------------------------------------------------------

    def _call(self, call_id: str, asked: ReplyCall | None) -> Iterator[str]:
        if call_id in self._calls:
            return
        self._calls.add(call_id)
        call = self._source.call(call_id)
        if call is None:
            if asked is not None:
                tool = line_html(asked.tool, 64)
                yield f'<p class="note">Asked for <b>{tool}</b>; nothing more is recorded of it.</p>\n'
            return
        records = CallRecords.of(self._source.call_events(call_id))
        arguments: JsonObject = asked.arguments if asked is not None else {}
        yield from call_html(self._source, call, records, arguments, self._child(records.child_session))

    def _question(self, event: e.Event, body: e.ActionOpened) -> Iterator[str]:
        row = self._source.action(event.action_id or "")
        if row is not None and row.state != "superseded":
            anchor = element_id("c", event.call_id) if event.call_id else self._message_key(event)
            words = f"{body.verb} {self._short_path(body.target)}"
            self._outline.add(OutlineEntry(anchor, words, action_status(row)[0]))
        if event.call_id is None:
            inner = [*question_html(body, row)]
            if not body.prompt:
                inner.insert(0, f"<p>{line_html(f'{body.verb} {body.target}', 400)}</p>\n")
            yield from self._message(event, "question", "Question", inner)

    def _short_path(self, path: str) -> str:
        return path.removeprefix(f"{self._session.workspace.rstrip('/')}/")

    def _child(self, session_id: str) -> Iterator[str]:
        child = self._source.session(session_id) if session_id and session_id not in self._shown else None
        if child is None:
            return
        self._shown.add(child.id)
        about = " · ".join(filter(None, (line_html(child.model, 60), usage_text(child.usage, None))))
        name = "Step" if child.kind == "step" else "Run" if child.kind == "pipeline" else "Sub-agent"
        title = f'{line_html(session_title(child), 160)} <span class="note">{about}</span>'
        yield f'<details class="child" id="{element_id("s", child.id)}">'
        yield f'<summary><b>{name}</b> {title}</summary>\n<div class="body">\n'
        if self._level >= _MOST_LEVELS:
            key = safe_html(child.id)
            yield f'<p class="note">Session {key} is not shown: it is {self._level} levels deep.</p>\n'
        else:
            yield from _SessionPage(self._source, child, self._shown, self._level + 1, self._outline).parts()
        yield "</div>\n</details>\n"

    # --- everything else ---------------------------------------------------------------------------------

    def _error(self, event: e.Event, body: e.ErrorRaised) -> Iterator[str]:
        advice = "\n".join(filter(None, (body.details, body.remedy)))
        more = pre_html(advice) if advice else ""
        yield (
            f'<div class="error" role="note"><b class="failed">Error</b> {time_html(event.at)} '
            f"{safe_html(body.message)}{more}</div>\n"
        )

    def _line(self, event: e.Event) -> Iterator[str]:
        action = self._source.action(event.action_id) if event.action_id else None
        words = line_html(event_line(event, action, None), 400)
        yield f'<p class="note">{time_html(event.at)} {words}</p>\n'
        if isinstance(event.body, e.StepChanged) and event.body.session_id:
            yield from self._child(event.body.session_id)

    def _unknown(self, event: e.Event, body: e.Unknown) -> Iterator[str]:
        words = f"Something that this version does not know: {line_html(event.kind, 80)}"
        if event.kind.endswith(_COMPACTION):
            words = "Summary of what was said before"
        yield _folded("kept", words, json_html(_joined_text(body.content)))

    def _notice(self, event: e.Event, body: NoticeBody) -> Iterator[str]:
        notice = notice_of(body, was_stopped=False)
        if notice is not None and notice[0] != "unknown":
            yield f'<p class="note">{time_html(event.at)} {line_html(notice[1], 400)}</p>\n'


def _folded(kind: str, words: str, inner: str) -> str:
    return f'<details class="{kind}"><summary>{words}</summary>{inner}</details>\n'


def _joined_text(content: Json) -> Json:
    """Return a text that is kept in pieces as one; anything else as it is."""
    if not isinstance(content, list):
        return content
    pieces = cast("list[Json]", content)
    return "".join(pieces) if all(isinstance(piece, str) for piece in pieces) else pieces
