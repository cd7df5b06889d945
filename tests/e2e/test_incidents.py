"""Real findings of ruff, worked off by the installed program: answered, killed between, and counted three ways."""

import json
import signal
import subprocess

from tests.support.incident_lists import RUFF, asked, edit, told
from tests.support.stage import recording
from tests.support.waits import PATIENCE, until
from workbench.journal.home import Home
from workbench.journal.journal import Journal

MODULES = ("os", "sys", "json", "re", "csv", "math", "time", "uuid")
FILES = {
    "src/a.py": "".join(f"import {name}\n" for name in MODULES[:4]) + "\n\ndef f(x):\n    return x == None\n",
    "src/b.py": "".join(f"import {name}\n" for name in MODULES[4:]) + "\n\ndef g(x):\n    return x != None\n",
    "src/café.py": "def h(x, y):\n    if None == x:\n        return y\n    return y == None\n",
}
COMPARISONS = {("src/a.py", "x == None"): "x is None", ("src/b.py", "x != None"): "x is not None",
               ("src/café.py", "None == x"): "x is None", ("src/café.py", "y == None"): "y is None"}  # fmt: skip
REJECTED = ("import csv\n", "y == None")


def script():
    exchanges = []
    for number, name in enumerate(MODULES):
        path = "src/a.py" if number < 4 else "src/b.py"
        exchanges += [asked(f"`{name}` imported", edit(name, f"import {name}\n", "", path)), told(name)]
    for number, ((path, old), new) in enumerate(COMPARISONS.items()):
        # Two of one rule in one file are told apart by their order: the later line is asked about later.
        exchanges += [asked(f"File: {path}\nLine: ", edit(f"n{number}", old, new, path)), told(f"n{number}")]
    return recording(*exchanges)


def git(shop, *words):
    name = ("-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "core.quotepath=off")
    return subprocess.run(
        ["git", *name, *words], cwd=shop.project, capture_output=True, text=True, check=True
    ).stdout


def ruff(shop):
    return json.loads(
        subprocess.run(
            ["sh", "-c", RUFF], cwd=shop.project, capture_output=True, text=True, check=False
        ).stdout
    )


def asks(shop, run):
    """Wait for the next question of a program; return what waits, which is nothing where it has ended."""

    def look():
        has_ended = run.poll() is not None
        with Journal.open(Home.open(shop.home)) as journal:
            waiting = [action for action in journal.actions(states=("pending",)) if action.kind == "tool"]
        return (waiting,) if waiting or has_ended else ()

    return until(look)[0]


def answer(shop, run):
    """Answer the next question of a program; return whether there was one before it ended."""
    waiting = asks(shop, run)
    if not waiting:
        return False
    (action,) = waiting
    removed = "".join(line for hunk in opened(shop, action) for sign, line in hunk.lines if sign == "-")
    is_refused = any(text.strip() in removed for text in REJECTED)
    words = ("reject", action.id, "--reason", "leave it") if is_refused else ("approve", action.id)
    shop.call("approvals", *words)
    return True


def opened(shop, action):
    with Journal.open(Home.open(shop.home)) as journal:
        return journal.event_at(action.opened_at).body.hunks


def test_ten_findings_are_solved_two_rejected_and_ruff_git_and_the_result_agree(shop):
    for name, content in FILES.items():
        path = shop.project / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    git(shop, "init", "-q", ".")
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "faults")
    shop.recording.write_text(json.dumps(script()))
    assert len(ruff(shop)) == 12
    run = shop.start(
        "incidents", "run", "--checker", RUFF, "--recording", str(shop.recording), "--max-turns", "1"
    )
    for _ in range(5):
        assert answer(shop, run)
    # With a question open: a kill between an answer and what it allows is in `tests/faults`.
    assert asks(shop, run)
    run.send_signal(signal.SIGKILL)
    run.communicate(timeout=PATIENCE)
    run = shop.start("incidents", "resume", "--json")
    while answer(shop, run):
        pass
    out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 1, err
    result = json.loads(out)
    assert result["counts"] == {"fixed": 10, "rejected": 2}
    assert result["status"] == "Completed"
    rejected = [row["incident_id"] for row in result["incidents"] if row["outcome"] == "rejected"]
    rows = {row["id"]: row for row in shop.json("incidents", "show")}
    left = sorted(
        (entry["code"], entry["filename"].removeprefix(f"{shop.project.resolve()}/")) for entry in ruff(shop)
    )
    assert left == sorted((rows[key]["rule"], rows[key]["path"]) for key in rejected)
    assert left == [("E711", "src/café.py"), ("F401", "src/b.py")]
    assert git(shop, "diff", "--name-only").split("\n")[:-1] == result["files_modified"] == sorted(FILES)
    counted = [tuple(map(int, line.split("\t")[:2])) for line in git(shop, "diff", "--numstat").splitlines()]
    assert (sum(added for added, _ in counted), sum(gone for _, gone in counted)) == (3, 10)
    prompts = sum(row["prompts"] for row in result["incidents"])
    assert prompts == 12 and result["metadata"]["tool_calls_count"] == 12
    assert (shop.project / "src/b.py").read_text().startswith("import csv\n\n\n")
