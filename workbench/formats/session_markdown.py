"""A session as Markdown."""

import re
from collections.abc import Iterator, Mapping, Sequence

from workbench.domain import events as e
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import Hunk
from workbench.formats.safe_markdown import harmless_markdown
from workbench.text.human import duration_text, iso_time
from workbench.text.safe import one_line, safe_text


def markdown_blocks(
    session: Session, events: Sequence[e.Event], calls: Sequence[Call], actions: Sequence[Action]
) -> Iterator[str]:
    """Yield a session as blocks of Markdown; texts are the recorded, scrubbed ones."""
    rows, asked = {call.id: call for call in calls}, {action.id: action for action in actions}
    yield f"# {_inline_code(session.title, 200) or session.id}"
    yield "\n".join(_facts_block(session))
    for event in events:
        block = _event_block(event, rows, asked)
        if block:
            yield block


def _facts_block(session: Session) -> Iterator[str]:
    facts = (
        ("Session", session.id), ("Workspace", session.workspace), ("Model", session.model),
        ("Provider", session.provider), ("From", session.origin or ""), ("Status", session.status),
        ("Started", iso_time(session.created_at)), ("Tags", ", ".join(session.tags)),
    )  # fmt: skip
    yield from (f"- {name}: {_inline_code(value, 400)}" for name, value in facts if value)
    used = session.usage
    yield f"- Tokens: {used.input_tokens} in, {used.output_tokens} out"


def _event_block(event: e.Event, calls: Mapping[str, Call], actions: Mapping[str, Action]) -> str:
    match event.body:
        case e.PromptSubmitted(text=text):
            return f"## You\n\n{_closed_prose(text)}"
        case e.ReplyCompleted() as body if body.text or body.thinking:
            thought = f"<details><summary>Thought</summary>\n\n{fenced_text(body.thinking)}\n\n</details>\n\n"
            return f"## Agent\n\n{thought if body.thinking else ''}{_closed_prose(body.text)}".rstrip()
        case e.ActionOpened(hunks=hunks) if hunks:
            word = "Found" if event.body.action_kind == "files" else "Proposed"
            return f"### {word}: {_inline_code(event.body.target, 200)}\n\n{fenced_diff(hunks)}"
        case e.CallFinished() as body:
            return _call_block(calls.get(event.call_id or ""), body)
        case e.FileChanged() as body:
            head = f"Changed {_code_span(body.path)} ({body.change}, +{body.added} −{body.removed})"
            return f"{head}\n\n{fenced_diff(body.hunks)}" if body.hunks else head
        case e.ErrorRaised(message=message):
            return f"**Error:** {_inline_code(message, 2_000)}"
        case _:
            return _decision_block(event, actions)


def _decision_block(event: e.Event, actions: Mapping[str, Action]) -> str:
    action = actions.get(event.action_id or "")
    match event.body:
        case e.ActionApproved(reason=reason) | e.ActionRejected(reason=reason) if action is not None:
            word = "Approved" if isinstance(event.body, e.ActionApproved) else "Rejected"
            why = f": “{_inline_code(reason, 2_000)}”" if reason else ""
            return f"**{word}** {_code_span(action.target)}{why}"
        case e.ActionExpired() if action is not None:
            return f"**Expired** {_code_span(action.target)}"
        case _:
            return ""


def _call_block(call: Call | None, body: e.CallFinished) -> str:
    name = f"{_code_span(call.tool)} {_code_span(call.target)}" if call else "A call"
    took = f", {duration_text(body.duration_ms / 1000)}" if body.duration_ms else ""
    code = f", exit {body.exit_code}" if body.exit_code is not None else ""
    text = body.preview or body.error
    head = f"### {name}: {body.state}{code}{took}"
    return f"{head}\n\n{fenced_text(text)}" if text else head


def fenced_diff(hunks: Sequence[Hunk]) -> str:
    lines: list[str] = []
    for hunk in hunks:
        old, new = f"{hunk.old_start},{hunk.old_count}", f"{hunk.new_start},{hunk.new_count}"
        lines.append(f"@@ -{old} +{new} @@")
        lines += [f"{sign}{text}" for sign, text in hunk.lines]
    return fenced_text("\n".join(lines), "diff")


def fenced_text(text: str, language: str = "") -> str:
    """Return a text in a fence longer than any in it."""
    longest = max((len(fence) for fence in re.findall(r"`{3,}", text)), default=2)
    bar = "`" * max(3, longest + 1)
    return f"{bar}{language}\n{safe_text(text)}\n{bar}"


def _closed_prose(text: str) -> str:
    """Return a text that was written as Markdown, harmless, and whole: what follows it is read by itself."""
    return harmless_markdown(safe_text(text).strip("\n"), fenced_text)


def _inline_code(text: str | None, most: int) -> str:
    return re.sub(r"([\\`*_<>\[\]])", r"\\\1", one_line(text or "", most))


def _code_span(text: str) -> str:
    clean = one_line(text, 200).replace("`", "ˋ")
    return f"`{clean}`" if clean else ""
