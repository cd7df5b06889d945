"""A session as Markdown, to be read by people: what was said, asked, decided, run and changed, in order.

Pure. Owns the layout. Hidden characters become visible marks, and no text of a session can end the fence it
stands in.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import Hunk
from workbench.text.human import duration, iso
from workbench.text.safe import one_line, safe


def write(
    session: Session, events: Sequence[Event], calls: Sequence[Call], actions: Sequence[Action]
) -> Iterator[str]:
    """Yield a session as blocks of Markdown; texts are the recorded, scrubbed ones."""
    rows, asked = {call.id: call for call in calls}, {action.id: action for action in actions}
    yield f"# {_inline(session.title, 200) or session.id}"
    yield "\n".join(_facts(session))
    for event in events:
        block = _block(event, rows, asked)
        if block:
            yield block


def _facts(session: Session) -> Iterator[str]:
    facts = (
        ("Session", session.id), ("Workspace", session.workspace), ("Model", session.model),
        ("Provider", session.provider), ("From", session.origin or ""), ("Status", session.status),
        ("Begun", iso(session.created_at)), ("Tags", ", ".join(session.tags)),
    )  # fmt: skip
    yield from (f"- {name}: {_inline(value, 400)}" for name, value in facts if value)
    used = session.usage
    yield f"- Tokens: {used.input_tokens} in, {used.output_tokens} out"


def _block(event: Event, calls: Mapping[str, Call], actions: Mapping[str, Action]) -> str:
    match event.body:
        case e.PromptSubmitted(text=said):
            return f"## You\n\n{_prose(said)}"
        case e.ReplyCompleted() as body if body.text or body.thinking:
            thought = f"<details><summary>Thought</summary>\n\n{fence(body.thinking)}\n\n</details>\n\n"
            return f"## Agent\n\n{thought if body.thinking else ''}{_prose(body.text)}".rstrip()
        case e.ActionOpened(hunks=hunks) if hunks:
            return f"### Proposed: {_inline(event.body.target, 200)}\n\n{diff(hunks)}"
        case e.CallFinished() as body:
            return _call(calls.get(event.call_id or ""), body)
        case e.FileChanged() as body:
            head = f"Changed {_code(body.path)} ({body.change}, +{body.added} −{body.removed})"
            return f"{head}\n\n{diff(body.hunks)}" if body.hunks else head
        case e.ErrorRaised(message=message):
            return f"**Error:** {_inline(message, 2_000)}"
        case _:
            return _decided(event, actions)


def _decided(event: Event, actions: Mapping[str, Action]) -> str:
    action = actions.get(event.action_id or "")
    match event.body:
        case e.ActionApproved(reason=reason) | e.ActionRejected(reason=reason) if action is not None:
            word = "Approved" if isinstance(event.body, e.ActionApproved) else "Rejected"
            why = f": “{_inline(reason, 2_000)}”" if reason else ""
            return f"**{word}** {_code(action.target)}{why}"
        case e.ActionExpired() if action is not None:
            return f"**Expired** {_code(action.target)}"
        case _:
            return ""


def _call(call: Call | None, body: e.CallFinished) -> str:
    name = f"{_code(call.tool)} {_code(call.target)}" if call else "A call"
    took = f", {duration(body.duration_ms / 1000)}" if body.duration_ms else ""
    code = f", exit {body.exit_code}" if body.exit_code is not None else ""
    said = body.preview or body.error
    head = f"### {name}: {body.state}{code}{took}"
    return f"{head}\n\n{fence(said)}" if said else head


def diff(hunks: Sequence[Hunk]) -> str:
    """Return hunks as a fenced diff."""
    lines: list[str] = []
    for hunk in hunks:
        old, new = f"{hunk.old_start},{hunk.old_count}", f"{hunk.new_start},{hunk.new_count}"
        lines.append(f"@@ -{old} +{new} @@")
        lines += [f"{sign}{text}" for sign, text in hunk.lines]
    return fence("\n".join(lines), "diff")


def fence(text: str, language: str = "") -> str:
    """Return a text in a fence longer than any in it."""
    longest = max((len(found) for found in re.findall(r"`{3,}", text)), default=2)
    bar = "`" * max(3, longest + 1)
    return f"{bar}{language}\n{safe(text)}\n{bar}"


def _prose(text: str) -> str:
    """Return a text that was written as Markdown, with a fence that it leaves open closed."""
    clean = safe(text).strip("\n")
    bars: list[str] = re.findall(r"^ {0,3}(`{3,}|~{3,})", clean, re.MULTILINE)
    return f"{clean}\n{bars[-1]}" if len(bars) % 2 else clean


def _inline(text: str | None, most: int) -> str:
    return re.sub(r"([\\`*_<>\[\]])", r"\\\1", one_line(text or "", most))


def _code(text: str) -> str:
    clean = one_line(text, 200).replace("`", "ˋ")
    return f"`{clean}`" if clean else ""
