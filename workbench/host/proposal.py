"""From a call that the gate let through to the exact thing a human is asked about.

Owns stacking (a proposal on a path that an earlier open call changes is computed on that call's
after-image), sealing, the digest and the warnings. Never writes to the workspace.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from workbench.changes.answer import ImagesGone, images, outcome
from workbench.changes.digest import action_digest, digest_rows
from workbench.changes.hunks import counts, decode, hunks, is_binary
from workbench.changes.model import FileChange
from workbench.changes.result import plan
from workbench.domain.codec import plain
from workbench.domain.events import ActionOpened, CallProposed
from workbench.domain.rows import Call
from workbench.domain.values import FilePlan, Hunk, JsonObject, Verdict
from workbench.effects.files import FileImage
from workbench.host import record
from workbench.host.desk import Desk
from workbench.host.dossier import Dossier, dossier
from workbench.policy.gate import Passed
from workbench.text import canonical
from workbench.text.scripts import is_mixed_host
from workbench.text.shown import Where, oddities, strings
from workbench.tools.base import ActTool, CommitTool, Draft, Place, WriteTool

LARGEST_INLINE_HUNKS = 262_144
"""Bytes of hunks kept in the event itself; larger ones go to a recorded blob."""

MICROS_PER_MINUTE = 60_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a call would do: exact bytes, and which earlier calls it builds on."""

    passed: Passed
    changes: tuple[FileChange, ...] = ()
    on_top_of: tuple[str, ...] = ()
    draft: Draft | None = None
    """The commit that the changes belong to."""
    refusal: str = ""
    """Why it cannot be done, where the agent is told so only after a human answered."""


def propose(desk: Desk, call: Call, passed: Passed, place: Place) -> Proposal:
    """Compute what a call would change, on top of the earlier open calls of its turn.

    Raises:
        ToolRefused: the tool cannot do this, in words for the model and the human.
    """
    tool = desk.kit.tools.get(passed.descriptor.id)
    if isinstance(tool, ActTool):
        tool.check(passed.grounded, place)
    if isinstance(tool, CommitTool):
        draft = tool.draft(passed.grounded, place)
        return Proposal(passed=passed, changes=draft.changes, draft=draft)
    if not isinstance(tool, WriteTool):
        return Proposal(passed=passed)
    stack = _Stack(desk, call)
    changes = tool.propose(passed.grounded, stack.base)
    return Proposal(passed=passed, changes=changes, on_top_of=tuple(dict.fromkeys(stack.used)))


class _Stack:
    """The workspace as it will be when every earlier open call of the turn was taken as shown."""

    def __init__(self, desk: Desk, call: Call) -> None:
        self._root = desk.kit.root
        self._above: dict[str, tuple[str, FileChange]] = {}
        self.used: list[str] = []
        for earlier in _earlier_open(desk, call):
            if isinstance(desk.kit.tools.get(earlier.tool), CommitTool):
                continue
            for change in _outcome_of(desk, dossier(desk.kit.journal, earlier.id)):
                self._above[change.path] = (earlier.id, change)

    def base(self, path: str) -> FileImage | None:
        """Return the file that a proposal on `path` starts from."""
        found = self._above.get(path)
        if found is None:
            return self._root.image(path)
        call_id, change = found
        self.used.append(call_id)
        if change.after is None:
            return None
        return FileImage(data=change.after, mode=change.mode, size=len(change.after), links=1)


def _earlier_open(desk: Desk, call: Call) -> Iterator[Call]:
    for other in desk.kit.journal.calls(desk.session_id, states=("pending", "approved", "executing")):
        if other.turn_id == call.turn_id and other.ordinal < call.ordinal and other.id != call.id:
            yield other


def _outcome_of(desk: Desk, file: Dossier) -> tuple[FileChange, ...]:
    """Return what an open call will have changed when it is taken as it stands now."""
    blobs = desk.kit.journal.blobs
    try:
        if file.opened is None:
            return images(file.files, blobs)
        approved = file.approved
        edited = edited_bytes(desk, approved.edited) if approved else None
        return outcome(file.opened, blobs, approved.selection if approved else None, edited)[0]
    except (ImagesGone, ValueError):
        return ()


def edited_bytes(desk: Desk, edited: Mapping[str, str] | None) -> dict[str, bytes] | None:
    """Return the bytes that a user wrote instead of the proposed ones.

    Raises:
        ImagesGone: they are not there any more.
    """
    if not edited:
        return None
    found: dict[str, bytes] = {}
    for path, ref in edited.items():
        data = desk.unseal(ref)
        if data is None:
            raise ImagesGone(path)
        found[path] = data
    return found


# --- what is recorded of it ------------------------------------------------------------------------


def sealed_plan(desk: Desk, changes: tuple[FileChange, ...]) -> tuple[FilePlan, ...]:
    """Seal both images of every file and return the plan that names them."""
    blobs = desk.kit.journal.blobs
    return tuple(
        replace(
            row,
            base_ref=None if change.before is None else blobs.seal(change.before),
            after_ref=None if change.after is None else blobs.seal(change.after),
        )
        for change, row in zip(changes, plan(changes, blobs.keyed), strict=True)
    )


def proposed_body(
    desk: Desk,
    call: Call,
    proposal: Proposal | None,
    verdict: Verdict,
    exact: JsonObject,
    replaces: str | None = None,
) -> CallProposed:
    """Return the `call.proposed` of a verdict; an allowed change carries its own plan."""
    recorded, ref = record.parameters(exact, desk.kit.journal.blobs)
    is_allowed = verdict.outcome == "allowed" and proposal is not None
    return CallProposed(
        tool=proposal.passed.descriptor.id if proposal else call.tool, verdict=verdict, parameters=recorded,
        parameters_ref=ref, provider_call_id=call.provider_call_id, replaces=replaces,
        target=_target(proposal) if proposal else "",
        on_top_of=proposal.on_top_of if proposal else (),
        files=sealed_plan(desk, proposal.changes) if is_allowed and proposal else (),
    )  # fmt: skip


def opened_body(
    desk: Desk, proposal: Proposal, exact: JsonObject, window_minutes: float, supersedes: str | None = None
) -> ActionOpened:
    """Return the `action.opened` that asks a human about a proposal."""
    blobs, descriptor, now = desk.kit.journal.blobs, proposal.passed.descriptor, desk.kit.journal.now()
    files = sealed_plan(desk, proposal.changes)
    recorded, parameters_ref = record.parameters(exact, blobs)
    exact_hunks = hunks(proposal.changes)
    prompt = _prompt(proposal)
    shown, was_scrubbed = record.hunks(exact_hunks)
    inline, hunks_ref = _kept(desk, shown)
    added, removed = counts(exact_hunks)
    return ActionOpened(
        action_kind="tool", tool=descriptor.id, target=_target(proposal), verb=descriptor.verb,
        digest=action_digest(
            blobs.keyed, kind="tool", tool=descriptor.id, parameters=exact, cwd=desk.kit.workspace,
            files=digest_rows(files), prompt=prompt,
        ),
        created_at=now, expires_at=now + round(window_minutes * MICROS_PER_MINUTE), cwd=desk.kit.workspace,
        parameters=recorded, parameters_ref=parameters_ref, files=files, hunks=inline, hunks_ref=hunks_ref,
        added=added, removed=removed, supersedes=supersedes, prompt=prompt,
        subject=proposal.draft.subject if proposal.draft else {},
        warnings=tuple(_warnings(proposal, exact, was_scrubbed)),
    )  # fmt: skip


def _prompt(proposal: Proposal) -> str | None:
    """Return what a human reads besides the change itself."""
    if proposal.refusal:
        return f"{record.scrubbed_line(proposal.refusal, 4_000)}\n\n{_TELLS}"
    return proposal.draft.words if proposal.draft else None


_TELLS = "Nothing is written. The agent may not read this: approve to tell it why, reject to tell it nothing."


def _kept(desk: Desk, shown: tuple[Hunk, ...]) -> tuple[tuple[Hunk, ...], str | None]:
    data = canonical.dumps(plain(shown)).encode()
    if len(data) <= LARGEST_INLINE_HUNKS:
        return shown, None
    return (), desk.kit.journal.blobs.record(data)


def _target(proposal: Proposal) -> str:
    """Return what is acted on, scrubbed and short enough for a list."""
    if proposal.draft is not None:
        return record.target(proposal.draft.target)
    passed = proposal.passed
    name = passed.descriptor.target_parameter
    if name is None:
        return passed.descriptor.id
    exact = passed.targets[name].relative if name in passed.targets else str(passed.parameters.get(name, ""))
    return record.target(exact)


def _warnings(proposal: Proposal, exact: JsonObject, was_scrubbed: bool) -> Iterator[str]:
    if was_scrubbed:
        yield "scrubbed"
    yield from proposal.passed.marks
    yield from dict.fromkeys(_oddities(proposal.passed, exact))
    if proposal.passed.view is not None:
        yield from (mark for mark in proposal.passed.view.marks if mark == "runs net")
    sides = [
        side for change in proposal.changes for side in (change.before, change.after) if side is not None
    ]
    if any(is_binary(side) for side in sides):
        yield "binary"
    elif any(decode(side)[1] for side in sides):
        yield "latin-1"
    if any(change.after is None for change in proposal.changes):
        yield "deletes"


def _oddities(passed: Passed, exact: JsonObject) -> Iterator[str]:
    """Yield what a reader would not see of the parameters by looking."""
    for name, value in exact.items():
        is_command = name == passed.descriptor.command_parameter
        where: Where = "approval_command" if is_command else "diff_preview"
        for text in strings(value):
            yield from (oddity for oddity in oddities(text, where) if is_command or oddity != "long")
            if name == passed.descriptor.url_parameter and is_mixed_host(text):
                yield "mixed scripts"
