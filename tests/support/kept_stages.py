"""Stages on which an agent has asked for things and rests, each driven once and copied for every test after the first.

A folder is bound to its path by digests and the key of its workspace. So a stage has one folder for all tests, which
is put back as it was; while a stage is still open there, another one is driven in the folder that the test names.
"""

import itertools
import json
import shutil
from pathlib import Path

from tests.support.stage import Stage
from workbench.effects.clock import ManualClock


class KeptStage:
    """One stage as it was when its agent rested."""

    def __init__(self, folder):
        self.live, self.kept = folder / "stage", folder / "kept"
        self.session_id, self.last_id, self.open = "", 0, None


class KeptStages:
    """The stages that tests have asked for, in a folder of a run of tests."""

    def __init__(self, folder: Path):
        self._folder, self._numbers, self._known = folder, itertools.count(), {}

    def stage(self, script, files, more, drive):
        """Return a stage in a folder of its own, or None while an earlier one is open there.

        Args:
            script: Of the recorded agent.
            files: Of the workspace.
            more: Other arguments of `Stage`, which JSON can write.
            drive: Drives a new stage until it rests.
        """
        name = json.dumps(
            [script, {name: str(content) for name, content in files.items()}, more], sort_keys=True
        )
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = KeptStage(self._folder / str(next(self._numbers)))
            self._make(known, script, files, more, drive)
        elif known.open is not None and not known.open.journal.notifier._is_closed:
            return None
        if known.live.exists():
            shutil.rmtree(known.live)
        shutil.copytree(known.kept, known.live, symlinks=True)
        made = Stage(known.live, script, clock=_clock_after(known.last_id), files=files, **more)
        made.session_id = known.session_id
        known.open = made
        return made

    def _make(self, known, script, files, more, drive):
        stage = Stage(known.live, script, clock=ManualClock(), files=files, **more)
        try:
            drive(stage)
            known.session_id = stage.session_id
            assert not stage.journal.clock.monotonic(), "the clock moved while the agent worked"
            known.last_id = int(stage.journal.clock.new_id().rpartition("-")[2])
        finally:
            stage.journal.close()
        known.live.rename(known.kept)


def _clock_after(last_id):
    clock = ManualClock()
    clock._ids = itertools.count(last_id)
    return clock
