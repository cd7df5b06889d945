"""The calls of a turn that went well as one block, where the first of them stood, for a compact conversation.

Owns which calls are taken together: never one that waits, runs, failed, was left in part or has words of a
human under it. Remembers between two looks what it made, so that what did not change stays the same object.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from workbench.views.blocks import Block, CallLine, CallRun, Prompt

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
        for turn in _turns(blocks):
            calls = [block for block in turn if isinstance(block, CallLine) and _is_quiet(block)]
            if len(calls) < LEAST:
                yield from turn
                continue
            made = self._run(calls)
            known = before.get(made.id)
            run = known if known is not None and known == made else made
            self._runs[run.id] = run
            hidden = _ids(run) if run.is_folded else ()
            for block in turn:
                if block is calls[0]:
                    yield run
                if block.id not in hidden:
                    yield block

    def _run(self, calls: Sequence[CallLine]) -> CallRun:
        key = f"run:{calls[0].call_id}"
        return CallRun(
            id=key, at=calls[-1].at, call_ids=tuple(call.call_id for call in calls),
            seconds=sum(call.ran_ms for call in calls) / 1000, is_folded=key not in self._open,
        )  # fmt: skip


def _turns(blocks: Sequence[Block]) -> Iterator[Sequence[Block]]:
    """Yield what stands from one prompt to the next."""
    begins = [at for at, block in enumerate(blocks) if isinstance(block, Prompt)]
    for first, after in pairwise([0, *begins, len(blocks)]):
        yield blocks[first:after]


def _is_quiet(call: CallLine) -> bool:
    return call.sign == "ok" and not call.note


def _ids(run: CallRun | None) -> set[str]:
    if run is None:
        return set()
    calls = {f"call:{key}" for key in run.call_ids} | {f"output:{key}" for key in run.call_ids}
    return {run.id} | calls
