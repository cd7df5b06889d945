"""A workspace, recordings and a console for the command line; each test has its own home already."""

import io
import json
import sys
from pathlib import Path

import pytest

from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch

sys.path.insert(0, str(Path(__file__).parent))


class Stream(io.StringIO):
    encoding = "utf-8"


class Screen(Stream):
    """A stream with a terminal behind it: `shown` is what is on its last line."""

    def isatty(self):
        return True

    @property
    def shown(self):
        cells, place = [], 0
        for letter in self.getvalue().rpartition("\n")[2]:
            if letter == "\r":
                place = 0
                continue
            cells[place : place + 1] = [letter]
            place += 1
        return "".join(cells).rstrip()


class Shell:
    """Runs commands and keeps what the last one said."""

    def __init__(self, folder):
        self.folder = folder
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.out = self.err = ""

    def __call__(self, *words):
        console = Console(Stream(), Stream())
        code = dispatch(list(words), console)
        self.out, self.err = console.out.getvalue(), console.err.getvalue()
        return code

    def json(self, *words):
        self(*words)
        return json.loads(self.out)

    def recording(self, *exchanges):
        path = self.folder / "recording.json"
        path.write_text(json.dumps({"recording": 1, "model": "m", "exchanges": list(exchanges)}))
        return str(path)


@pytest.fixture
def shell(tmp_path, monkeypatch):
    found = Shell(tmp_path)
    monkeypatch.chdir(found.workspace)
    return found
