"""The program as a wheel in an interpreter of its own: what a user has after `pip install`, without the network.

The wheel is built from this checkout by the declared backend; what it depends on is taken from the
interpreter that runs the tests, and nothing of the checkout can be imported there.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

import apsw
import textual

CHECKOUT = Path(__file__).resolve().parents[2]


def install(folder: Path) -> Path:
    """Build the wheel, install it into a new environment, and return the program's path.

    WORKBENCH_PROGRAM names one that is installed already, which is tried instead: that of a release.
    """
    if released := os.environ.get("WORKBENCH_PROGRAM"):
        return Path(released)
    _call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=CHECKOUT)
    (wheel,) = folder.glob("*.whl")
    place = folder / "environment"
    venv.create(place, symlinks=True, with_pip=False)
    python = place / "bin" / "python"
    _call(
        sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "--no-cache-dir",
        "install", "--quiet", "--no-deps", "--no-index", wheel,
    )  # fmt: skip
    (site,) = place.glob("lib/python3*/site-packages")
    found = {str(Path(module.__file__).resolve().parents[1]) for module in (apsw, textual)}
    (site / "dependencies.pth").write_text("\n".join(sorted(found)) + "\n")
    where = _call(python, "-c", "import workbench; print(workbench.__file__)", cwd=folder).strip()
    assert Path(where).is_relative_to(site), where
    return place / "bin" / "workbench"


def _call(*words, cwd=None):
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=env, capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout
