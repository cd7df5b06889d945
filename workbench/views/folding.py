"""Calls that went well and stand one below the other as one block, for a compact conversation.

Owns which calls are taken together: never one that waits, runs, failed, was left in part or has words of a
human under it. Remembers between two looks what it made, so that what did not change stays the same object.
"""

from collections.abc import Collection, Iterator, Sequence

from workbench.views.blocks import Block, CallLine, CallRun, Output

LEAST = 2
"""Calls that make a run: one alone takes one line as well."""


class Folding:
    """The runs of one conversation, and which of them are open."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._runs: dict[str, CallRun] = {}

    def toggle(self, run_id: str) -> None:
        """Open or fold a run; nothing for any other block."""
        if run_id in self._runs:
            self._open ^= {run_id}

    def open_for(self, block_id: str) -> bool:
        """Open the run that hides a block; False if none does."""
        call_id = block_id.partition(":")[2]
        for run in self._runs.values():
            if run.is_folded and call_id in run.call_ids:
                self._open.add(run.id)
                return True
        return False

    def fold(
        self, blocks: Sequence[Block], changed: Collection[str] | None
    ) -> tuple[Sequence[Block], Collection[str] | None]:
        """Return the blocks with runs in the place of their calls, and everything that is different.

        Args:
            blocks: a whole conversation, in reading order.
            changed: ids that changed; None is another conversation.
        """
        if changed is None:
            self._open.clear()
            self._runs.clear()
        before, self._runs = self._runs, {}
        shown = tuple(self._shown(blocks, before))
        if changed is None:
            return shown, None
        different = set(changed)
        for key in before.keys() | self._runs.keys():
            if before.get(key) is not self._runs.get(key):
                different |= _ids(before.get(key)) | _ids(self._runs.get(key))
        return shown, different

    def _shown(self, blocks: Sequence[Block], before: dict[str, CallRun]) -> Iterator[Block]:
        for part in _parts(blocks):
            calls = [block for block in part if isinstance(block, CallLine)]
            if len(calls) < LEAST:
                yield from part
                continue
            made = self._run(calls)
            known = before.get(made.id)
            run = known if known is not None and known == made else made
            self._runs[run.id] = run
            yield run
            if not run.is_folded:
                yield from part

    def _run(self, calls: Sequence[CallLine]) -> CallRun:
        key = f"run:{calls[0].call_id}"
        return CallRun(
            id=key, at=calls[-1].at, call_ids=tuple(call.call_id for call in calls),
            seconds=sum(call.ran_ms for call in calls) / 1000, is_folded=key not in self._open,
        )  # fmt: skip


def _parts(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Yield what may be taken together, and every other block alone."""
    part: list[Block] = []
    for block in blocks:
        if _is_quiet(block) or (part and isinstance(block, Output)):
            part.append(block)
            continue
        if part:
            yield part
            part = []
        yield [block]
    if part:
        yield part


def _is_quiet(block: Block) -> bool:
    return isinstance(block, CallLine) and block.sign == "ok" and not block.note


def _ids(run: CallRun | None) -> set[str]:
    if run is None:
        return set()
    calls = {f"call:{key}" for key in run.call_ids} | {f"output:{key}" for key in run.call_ids}
    return {run.id} | calls
