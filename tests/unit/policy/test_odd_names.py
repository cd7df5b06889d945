"""No grant covers creating a name that looks like another one or that another system reads as something else."""

import random

import pytest

from tests.unit.policy.gate_cases import context
from tests.unit.policy.test_gate import call, judged
from workbench.domain.values import PermissionPattern
from workbench.policy.odd_names import ODD_NAME_MARK, new_name_reason

GRANTED = (
    PermissionPattern(text="Write(**)", origin="mine"),
    PermissionPattern(text="Edit(**)", origin="mine"),
)
DEVICES = ("con", "prn", "aux", "nul", "conin$", "conout$", "com1", "lpt9", "com\u00b9")
LETTERS = {
    "a": "\u0430",
    "c": "\u0441",
    "e": "\u0435",
    "o": "\u043e",
    "p": "\u0440",
    "x": "\u0445",
    "A": "\u0391",
}
WORDS = ("package", "config", "parser", "export", "compact")


def cased(random_, text):
    return "".join(random_.choice((letter, letter.upper())) for letter in text)


def odd(random_):
    """Return an odd name and a word of the reason."""
    kind = random_.randrange(4)
    if kind == 0:
        word = random_.choice(WORDS)
        at = random_.choice([number for number, letter in enumerate(word) if letter in LETTERS])
        return word[:at] + LETTERS[word[at]] + word[at + 1 :] + ".py", "mixes letters"
    if kind == 1:
        end = random_.choice(("", ".txt", ".tar.gz", " .c", ":x"))
        return cased(random_, random_.choice(DEVICES)) + end, "a device"
    if kind == 2:
        return random_.choice(WORDS) + random_.choice((":ads", ".txt:ads", ".txt::$DATA")), "a stream"
    return random_.choice(WORDS) + random_.choice((".", " ", ". .")), "drops the end"


def made(tmp_path, tool, path, **parameters):
    return judged(call(tool, path=path, **parameters), context(tmp_path, allow=GRANTED))


@pytest.mark.parametrize("seed", range(60))
def test_odd_names_are_asked_about_at_every_depth_until_they_exist(tmp_path, seed):
    random_ = random.Random(seed)
    name, reason = odd(random_)
    folders = random_.choices(("src", "a b", "d-1"), k=random_.randrange(3))
    parts = [*folders, name, *random_.choices(("more", "x.py"), k=random_.randrange(2))]
    path = "/".join(parts)
    tool, more = random_.choice((("create_file", {"content": "x"}), ("create_directory", {})))
    judgement = made(tmp_path, tool, path, **more)
    assert judgement.verdict.outcome == "ask", path
    assert "no rule can allow creating" in judgement.verdict.reason and reason in judgement.verdict.reason
    assert judgement.passed.marks == (ODD_NAME_MARK,)
    (tmp_path / "/".join(folders) / name).mkdir(parents=True)
    assert new_name_reason(str(tmp_path / path), str(tmp_path)) == ""
    usual = "/".join(part if part != name else f"{random_.choice(WORDS)}.py" for part in parts)
    assert made(tmp_path, "create_file", usual, content="x").verdict.outcome == "allowed", usual


@pytest.mark.parametrize(
    "name",
    [
        "con\u0441.py",
        "src/console.py",
        "auxiliary.c",
        "nulls",
        "com10",
        "lpt.txt",
        "\u0441\u043b\u043e\u0432\u043e.py",
        "a.b-c_d",
    ],
)
def test_usual_names_are_usual(tmp_path, name):
    assert bool(new_name_reason(str(tmp_path / name), str(tmp_path))) == ("\u0441.py" in name)


def test_reading_and_changing_what_exists_is_not_asked_about(tmp_path):
    (tmp_path / "a.txt:ads").write_text("x")
    judgement = made(tmp_path, "replace_string_in_file", "a.txt:ads", new="y")
    assert judgement.verdict.outcome == "allowed"
    reading = judged(call("read_file", path="con"), context(tmp_path, read_only="auto"))
    assert reading.passed.marks == ()


def test_names_above_the_workspace_are_not_looked_at(tmp_path):
    root = tmp_path / "a:b"
    assert new_name_reason(str(root / "x.py"), str(root)) == ""
    assert new_name_reason(str(root), str(root)) == ""
