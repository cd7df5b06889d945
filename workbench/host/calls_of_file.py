"""Calls that an agent made without asking here, as its own mode or rules allow: shown, not asked about."""

from msgspec import Struct

from workbench.domain.events import CallExecuting, CallFinished, CallProposed
from workbench.domain.rows import Call
from workbench.domain.values import Body, GateVerdict
from workbench.formats.records import ResultState
from workbench.formats.sanitize import sanitize_line
from workbench.host import redaction
from workbench.host.driver_context import SessionWriter, tool_limits
from workbench.supervised.tools import SessionTools
from workbench.text.safe import LINE_END_SYMBOL

BY_ITS_OWN_MODE = "its own mode"


class CallOutcome(Struct, frozen=True, kw_only=True):
    """What an agent says of a call that it made."""

    state: ResultState
    output: str = ""
    clean: str = ""
    """The output without its secrets."""
    error: str = ""


def unasked_call_bodies(
    writer: SessionWriter, tools: SessionTools, call: Call, outcome: CallOutcome
) -> tuple[Body, ...]:
    """Return what is recorded of a call that its agent made, or did not make, without asking here.

    One that was refused in the agent's own program never ran.
    """
    state = outcome.state
    is_refused = state in ("rejected", "expired")
    verdict = GateVerdict(
        outcome="denied" if is_refused else "allowed", step="agent", by=BY_ITS_OWN_MODE,
        reason="it was refused in the agent's own program" if is_refused else "the agent did not ask here",
    )  # fmt: skip
    proposed = CallProposed(
        tool=call.tool, verdict=verdict, parameters=call.parameters, parameters_ref=call.parameters_ref,
        provider_call_id=call.provider_call_id, cwd=call.cwd, target=_target(tools, call),
    )  # fmt: skip
    if is_refused:
        return (proposed,)
    limit = tool_limits(writer.context.recall_settings().config).tool_output_bytes
    kept = redaction.redact_output(outcome.output, outcome.clean, limit, writer.journal.blobs)
    finished = CallFinished(
        state=state, preview=kept.recorded, output_ref=kept.whole, output_bytes=kept.total_bytes,
        error=sanitize_line(outcome.error), metadata=kept.noted({"grade": "on its word"}),
    )  # fmt: skip
    return (proposed, finished) if state == "cancelled" else (proposed, CallExecuting(), finished)


def _target(tools: SessionTools, call: Call) -> str:
    tool = tools.get(call.tool)
    name = tool.descriptor.target_parameter if tool else None
    text = str(call.parameters.get(name, "")) if name else ""
    return redaction.redact_file_text(text.replace("\n", LINE_END_SYMBOL), 500)
