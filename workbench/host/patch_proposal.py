"""A patch of a human: its check, the request for it, and the call that proposes it.

The call is judged and approved like an agent's edit, but no grant answers it. No model is asked, and nothing
is written here.
"""

# | dies | found | next driver | executed |
# |---|---|---|---|
# | S before the request commits | an empty session | nothing; the human applies it again | 0 |
# | H before the proposal (`patch.before_propose`) | the request | proposes it, from the files of then | 0 |
# | H in the transaction of the proposal | rolled back | as above | 0 |
# | H after it (`patch.proposed`) | action pending | waits; the window runs by the clock | 0 |
# | later | as every other call | executed once after its approval | ≤ 1 |
#
# The call has the id of its request, so that hooks that ran for it are not run again.

from collections.abc import Callable, Sequence

from msgspec import Struct

from workbench.agents.planner import ProposePatch
from workbench.changes.diff import FileChange
from workbench.changes.unified_diff import PatchFile, PatchUnusable, all_paths, find_strip, patched_changes
from workbench.domain.events import PatchRequested
from workbench.domain.rows import Action, Call
from workbench.domain.tools import PATCH_TOOL
from workbench.domain.values import Actor, JsonObject, Refused
from workbench.effects.fault_points import fault_point
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import Root
from workbench.formats.unified_diff_reader import PatchBroken, read_unified_diff
from workbench.host import redaction
from workbench.host.driver_context import SessionWriter
from workbench.host.gate_runner import judge_and_propose, proposal_events
from workbench.host.reopening import hooks_that_ran, wait_for_proposal
from workbench.host.session_requests import create_session
from workbench.host.undo import UNDO_WAIT_SECONDS
from workbench.journal.journal import Journal
from workbench.text.human import sentence
from workbench.tools.patch_apply import patch_call_paths, patch_parameters

NOT_PROPOSED = "Nothing was proposed."
_NOT_CHOSEN = "none"


class CheckedPatch(Struct, frozen=True, kw_only=True):
    """A patch that fits the workspace as it is now."""

    name: str
    """The file that it came from; empty for standard input."""
    strip: int
    changes: tuple[FileChange, ...]
    parameters: JsonObject


ChooseStrip = Callable[[Sequence[tuple[int, tuple[str, ...]]]], int]
"""Returns the strip level that a human wants, given the paths of each that fits."""


def check_patch(
    workspace: str, name: str, data: bytes, strip: int | None, choose: ChooseStrip
) -> CheckedPatch:
    """Return a patch with its strip level and what it would change; raises PatchUnusable.

    `strip` None: the level that fits is taken, and `choose` is asked where two do.
    """
    try:
        files = read_unified_diff(data)
        with Root(workspace) as root:
            if strip is None:
                strip = _found_strip(files, root, choose)
            changes = patched_changes(files, strip, root.image)
    except PatchBroken as error:
        raise PatchUnusable((f"it cannot be read: {error}",)) from None
    except FileRefused as error:
        raise PatchUnusable((f"{error.path}: {error.why}",)) from None
    parameters = patch_parameters(data, strip)
    return CheckedPatch(name=name, strip=strip, changes=changes, parameters=parameters)


def _found_strip(files: Sequence[PatchFile], root: Root, choose: ChooseStrip) -> int:
    found = find_strip(files, root.image)
    if not found.fitting:
        raise PatchUnusable(found.problems)
    if len(found.fitting) == 1:
        return found.fitting[0]
    return choose([(strip, all_paths(files, strip)) for strip in found.fitting])


def request_patch(
    journal: Journal, workspace: str, patch: CheckedPatch, asked: tuple[str, str], actor: Actor
) -> tuple[str, str]:
    """Ask for a patch in a session of its own; return the ids of the session and of the request.

    `asked`: the provider and the model that the session has for what may be said in it later.
    """
    provider, model = (name or _NOT_CHOSEN for name in asked)
    session_id = create_session(
        journal, workspace=workspace, provider=provider, model=model, actor=actor,
        title=f"patch {patch.name}".strip(),
    )  # fmt: skip
    recorded, ref = redaction.redact_parameters(patch.parameters, journal.blobs)
    body = PatchRequested(
        name=redaction.redact_line(patch.name, 120), parameters=recorded, parameters_ref=ref
    )
    event = journal.event(body, session_id, actor)
    journal.append([event])
    return session_id, event.id


def wait_until_proposed(journal: Journal, request: str) -> Action:
    """Wait for the row of a patch and return it; raises Refused with the gate's reason where none comes."""
    found = wait_for_proposal(journal, request)
    if isinstance(found, Action):
        return found
    if found is not None:
        remedy = "Take this out of the patch, or change what forbids it."
        raise Refused(NOT_PROPOSED, sentence(found), remedy)
    why = f"No background process has answered for {UNDO_WAIT_SECONDS:.0f} s."
    raise Refused(NOT_PROPOSED, why, "It is asked for all the same; see workbench host status.")


async def propose_patch(writer: SessionWriter, effect: ProposePatch) -> None:
    """Propose the changes of a patch, or record why they cannot be proposed any more."""
    fault_point("patch.before_propose")
    body = _request(writer, effect.request_id)
    exact = writer.exact(body.parameters, body.parameters_ref)
    row = Call(
        id=effect.request_id, session_id=writer.session_id, turn_id=None, ordinal=0,
        provider_call_id=f"patch-{effect.request_id}", tool=PATCH_TOOL, state="pending",
        requested_at=writer.journal.now(), parameters=body.parameters, parameters_ref=body.parameters_ref,
        paths=patch_call_paths(exact),
    )  # fmt: skip
    verdict, proposal = await judge_and_propose(writer, row, exact, hooks_that_ran(writer, row.id))
    await writer.append(*await proposal_events(writer, row, verdict, proposal, exact))
    fault_point("patch.proposed")


def _request(writer: SessionWriter, request_id: str) -> PatchRequested:
    bodies = (event.body for event in writer.journal.events(writer.session_id) if event.id == request_id)
    return next(body for body in bodies if isinstance(body, PatchRequested))
