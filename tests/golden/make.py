"""Make golden sessions anew: `python -m tests.golden.make [NAME…]` writes them beside this file.

Owns nothing but the way from a scenario to files. What it writes is the same on every machine and at any
time; a test makes each one again and compares.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from tests.golden import (  # noqa: F401 -- they fill the table
    answers,
    incidents,
    lasting,
    moving,
    nested,
    releases,
    reviews,
    running,
    supervising,
    unsafe,
)
from tests.golden.run_staging import RunScene
from tests.golden.scenario import SCENARIOS
from tests.golden.staging import Scene
from tests.support.golden import FOLDER


def make(name):
    """Play one scenario in a folder of its own and return what came of it."""
    scenario = SCENARIOS[name]
    stage, said = (scenario.stage or Scene, scenario.exchanges)
    if scenario.steps is not None:
        stage, said = RunScene, scenario.steps
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        scene = stage(name, Path(folder).resolve(), said, files=scenario.files, config=scenario.config)
        try:
            scene.play(scenario.play)
            return scene.made()
        finally:
            scene.journal.close()


def write(name):
    """Write one golden session in place of what is there."""
    made = make(name)
    shutil.rmtree(FOLDER / name, ignore_errors=True)
    for path, data in made.files.items():
        target = FOLDER / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return len(made.files["session.jsonl"])


def main(names):
    """Write the named golden sessions, or all."""
    unknown = [name for name in names if name not in SCENARIOS]
    if unknown:
        sys.exit(f"No golden session is called {', '.join(unknown)}; there are {', '.join(SCENARIOS)}.")
    for name in names or SCENARIOS:
        print(f"{name}: {write(name):,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
