"""Each way out of a box works without one and fails in it: as root and as another user, and by Landlock what it holds."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support.boxes import sandbox
from tests.support.escapes import ESCAPES
from tests.support.sizes import rarely

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
USERS = ("root", "other") if os.geteuid() == 0 else ("other",)
"""Who tries: where root runs the tests, it is itself and somebody else."""


@pytest.fixture
def world():
    """A folder that every user may enter, as that of pytest is not."""
    folder = Path(tempfile.mkdtemp(prefix="workbench-escapes-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def outcomes(world, how, user):
    """Make all attempts; return for each whether it worked, and what is known of it."""
    number = NOBODY if user == "other" and os.geteuid() == 0 else None
    if number is not None:
        os.chown(world, number, number)
    names = [escape.name for escape in ESCAPES if escape.only in ("", user)]
    request = {"folder": str(world), "user": number, "how": how, "names": names}
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.escape_driver"], input=json.dumps(request), text=True, cwd=ROOT,
        capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def escaped(found):
    return {name: facts for name, (has_escaped, facts) in found.items() if has_escaped}


def test_the_table_names_each_attempt_once():
    source = (ROOT / "tests/support/escape_attempts.py").read_text()
    names = [escape.name for escape in ESCAPES]
    assert len(set(names)) == len(names)
    assert all(f"def {name}(s)" in source for name in names)


@pytest.mark.parametrize("user", [USERS[0], *(rarely(user) for user in USERS[1:])])
def test_each_way_works_without_a_box(world, user):
    found = outcomes(world, "outside", user)
    unsure = {escape.name for escape in ESCAPES if escape.needs}
    assert {name: facts for name, (worked, facts) in found.items() if not worked and name not in unsure} == {}


@pytest.mark.parametrize("user", USERS)
def test_no_way_leads_out_of_bubblewrap(world, user):
    sandbox()
    assert escaped(outcomes(world, "bubblewrap", user)) == {}


def test_landlock_alone_holds_what_the_table_says(world):
    sandbox("landlock")
    found = outcomes(world, "landlock", USERS[0])
    unsure = {escape.name for escape in ESCAPES if escape.needs}
    held = {escape.name for escape in ESCAPES if escape.landlock and escape.only in ("", USERS[0])}
    assert held & set(escaped(found)) == set()
    assert {name for name, (worked, _) in found.items() if not worked} - unsure <= held
