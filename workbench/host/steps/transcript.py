"""The conversation of a session as text, for a summariser: what was asked, said, done and answered.

Owns its form and its bounds. It is made of what is recorded, so what was scrubbed stays out of it.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from workbench.domain.events import CallFinished, CallProposed, Event, PromptSubmitted, ReplyCompleted
from workbench.text.safe import one_line

LONGEST: Final = 200_000
"""Characters in all: about 50,000 tokens, which leaves room for the answer in any context that is relayed."""
_RESULT: Final = 2_000


def transcript(events: Sequence[Event]) -> str:
    """Return the conversation; of a long one the first fifth and the end."""
    whole = "\n\n".join(_lines(events))
    if len(whole) <= LONGEST:
        return whole
    head = LONGEST // 5
    left_out = len(whole) - LONGEST
    return f"{whole[:head]}\n\n… {left_out:,} characters left out …\n\n{whole[head - LONGEST :]}"


def _lines(events: Sequence[Event]) -> Iterator[str]:
    targets: dict[str | None, str] = {}
    for event in events:
        match event.body:
            case PromptSubmitted(text=text):
                yield f"USER: {text}"
            case ReplyCompleted(text=text):
                if text.strip():
                    yield f"AGENT: {text}"
            case CallProposed(tool=tool, target=target):
                targets[event.call_id] = f"{tool} {one_line(target, 300)}".rstrip()
            case CallFinished() as done:
                said = done.preview or done.error or done.summary
                shown = said if len(said) <= _RESULT else f"{said[:_RESULT]} …"
                yield f"TOOL {targets.get(event.call_id, 'call')}: {done.state}\n{shown}".rstrip()
            case _:
                continue
