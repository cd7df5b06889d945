"""Programs of others as oracles: given by pip, unpacked beside the tests and never installed."""

import os
import subprocess
import sys
import zipfile

import pytest


def unpacked(folder, packages, *options):
    """Return the folder with some packages unpacked, none of what they bring along.

    Where pip gives none the test is skipped, unless NEED_ORACLES says that it must not be.
    """
    asked = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
             *options, "-d", str(folder), *packages]  # fmt: skip
    done = subprocess.run(asked, capture_output=True, text=True, timeout=300)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or len(wheels) != len(packages):
        why = f"pip gives no {' or '.join(packages)}: {done.stderr[-300:]}"
        if os.environ.get("NEED_ORACLES"):
            pytest.fail(why)
        pytest.skip(why)
    for wheel in wheels:
        zipfile.ZipFile(wheel).extractall(folder / "all")
    return folder / "all"
