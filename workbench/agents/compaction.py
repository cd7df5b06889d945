"""Compaction: what a model is asked so that a summary can stand for a long conversation. Pure.

Sessions and steps of pipelines ask with the same words.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from workbench.domain.events import (
    CallFinished,
    CallProposed,
    ConversationCompacted,
    Event,
    PromptSubmitted,
    ReplyCompleted,
)
from workbench.text.safe import one_line

MAX_TRANSCRIPT: Final = 200_000
"""Characters: about 50,000 tokens, which leaves room for the answer in any context that is relayed."""
_MAX_RESULT: Final = 2_000
_SUMMARY_PROMPT: Final = """\
The conversation below comes near the limit of its context. Write a checkpoint with which another agent, \
who sees nothing of it, continues the task: what was asked, what is done and where it is, what was \
decided and why, what failed, and what is to be done next. Name files and commands exactly. Use no \
tools.{more}

<conversation>
{transcript}
</conversation>"""
_HUMAN_REQUEST: Final = "\n\nThe human says what matters most in it: {words}"
CONTINUATION_HEAD: Final = (
    "Note of the workbench: the conversation until here was long and is replaced by this checkpoint of it. "
    "The files are as they were left. Continue from there and do not start again."
)
"""What stands before a summary in the conversation that goes on."""


def summary_prompt(transcript: str, words: str = "") -> str:
    """Return the question for a summary; `words` are what a human wants it to keep."""
    more = _HUMAN_REQUEST.format(words=words) if words.strip() else ""
    return _SUMMARY_PROMPT.format(transcript=transcript, more=more)


def session_transcript(events: Sequence[Event], limit: int = MAX_TRANSCRIPT) -> str:
    """Return the conversation from its last summary on; of a long one the first fifth and the end."""
    newest = max((n for n, e in enumerate(events) if isinstance(e.body, ConversationCompacted)), default=0)
    whole = "\n\n".join(_transcript_paragraphs(events[newest:]))
    if len(whole) <= limit:
        return whole
    head = limit // 5
    left_out = len(whole) - limit
    return f"{whole[:head]}\n\n… {left_out:,} characters left out …\n\n{whole[head - limit :]}"


def _transcript_paragraphs(events: Sequence[Event]) -> Iterator[str]:
    targets: dict[str | None, str] = {}
    for event in events:
        body = event.body
        if isinstance(body, ConversationCompacted):
            yield f"CHECKPOINT OF WHAT WAS BEFORE: {body.summary}"
        elif isinstance(body, PromptSubmitted):
            yield f"USER: {body.text}"
        elif isinstance(body, ReplyCompleted) and body.text.strip():
            yield f"AGENT: {body.text}"
        elif isinstance(body, CallProposed):
            targets[event.call_id] = f"{body.tool} {one_line(body.target, 300)}".rstrip()
        elif isinstance(body, CallFinished):
            result = body.preview or body.error or body.summary
            excerpt = result if len(result) <= _MAX_RESULT else f"{result[:_MAX_RESULT]} …"
            yield f"TOOL {targets.get(event.call_id, 'call')}: {body.state}\n{excerpt}".rstrip()
