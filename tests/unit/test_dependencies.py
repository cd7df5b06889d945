"""What the program is installed with: what judges calls has an upper bound, and the tested versions lie below it."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
JUDGES = {"google-re2", "jsonschema", "tree-sitter", "tree-sitter-bash"}


def version(text):
    return tuple(int(part) for part in text.split("."))


def test_what_judges_calls_has_an_upper_bound_above_the_tested_version():
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    bounds = dict(re.findall(r"^([\w-]+)\S*<([\d.]+)", "\n".join(wanted), re.MULTILINE))
    tested = dict(re.findall(r"^([\w-]+)==([\d.]+)", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    assert bounds.keys() >= JUDGES
    assert [name for name in JUDGES if version(tested[name]) >= version(bounds[name])] == []


def test_every_dependency_has_a_tested_version():
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.match(r"[\w.-]+", one)[0].replace(".", "-").lower() for one in wanted}
    tested = {
        line.partition("==")[0].replace(".", "-")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
    }
    assert names - {name.lower() for name in tested} == set()
