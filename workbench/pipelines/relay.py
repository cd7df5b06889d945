"""Relay: a step's conversation is full, a summariser writes a checkpoint, a fresh one goes on from it.

Owns when that is (S1 `relay`, `handover.compaction`), who writes it, and the words of both prompts. It runs
nothing: the coordinator does.
"""

from dataclasses import dataclass
from typing import Final

from workbench.pipelines.model import Manifest, Step

MOST: Final = 8
"""Relays of one attempt: an agent that fills that many conversations gets nowhere."""
PART: Final = "checkpoint"
"""What the summariser's part of a step is called, and the artifact that it leaves."""
SUMMARIZER: Final = "summarizer"
_PERCENT: Final = 80

_ASKED: Final = """\
The conversation below comes near the limit of its context. Write a checkpoint with which another agent, \
who sees nothing of it, goes on with the task: what was asked, what is done and where it is, what was \
decided and why, what failed, and what is to be done next. Name files and commands exactly. Use no tools.

<conversation>
{transcript}
</conversation>"""

_CONTINUED: Final = """\
{prompt}

This work was begun before; the files in your folder are as it left them. Go on from this checkpoint and \
do not begin again:

{checkpoint}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    """When and by whom the conversation of a step is put into a checkpoint."""

    percent: int
    """Of the context, used by the newest reply."""
    window: int
    """Tokens of the context; 0 takes what is known of the model."""
    persona: str
    """Empty: the step's own."""


def of_step(step: Step, manifest: Manifest | None) -> Relay:
    """Return the relay of a step: its own compaction, else the manifest's, else 80 % by its own persona."""
    runtime = manifest.runtime if manifest else None
    own = step.compaction
    wanted = (own.persona if own else "") or (runtime.summarizer if runtime else "")
    is_known = manifest is not None and SUMMARIZER in manifest.personas
    return Relay(
        percent=own.percent if own else runtime.relay_percent if runtime else _PERCENT,
        window=runtime.context_window if runtime else 0,
        persona=wanted or (SUMMARIZER if is_known else ""),
    )


def asked(transcript: str) -> str:
    """Return what the summariser is asked."""
    return _ASKED.format(transcript=transcript)


def continued(prompt: str, checkpoint: str) -> str:
    """Return the prompt of the conversation that goes on."""
    return _CONTINUED.format(prompt=prompt, checkpoint=checkpoint.strip())
