"""Files that run automatically or control agents: no granted command makes one, whatever it calls its words."""

import asyncio
import gzip
import os
import random
import shutil
import subprocess

import pytest

from tests.support.sizes import size
from tests.support.tables import each_row
from tests.unit.policy.gate_cases import context
from workbench.domain.values import PermissionPattern
from workbench.policy.autorun_files import AutorunNames
from workbench.policy.gate import GateCall, judge_call
from workbench.policy.shell import command_paths

GRANTED = (
    "git mv", "git add", "git clone", "git checkout", "mv", "cp", "ln", "mkdir", "touch", "gunzip", "gzip", "bunzip2", "xz", "prettier",
    "ruff format", "zip", "unlisted", "cat", "sed", "tee", "install", "rsync", "curl", "wget", "find", "apply_patch", "grep",
)  # fmt: skip
ALLOW = tuple(
    PermissionPattern(text=text, origin="config.json:1")
    for text in (
        *(f"Bash({program} *)" for program in GRANTED), "Bash(cp -r *)", "Bash(rsync -a *)", "Bash(curl -O *)", "Bash(sed -i *)",
        "Bash(cd *)",
        "Bash(ls *)",
        "Bash(git restore *)",
        "Bash(git rm *)",
        "Bash(tar -xf x.tar)", "Bash(curl -sO *)",
    )
)  # fmt: skip


async def no_hooks(_passed):
    return None


def judged(root, line):
    """Return the verdict about a line under grants for every program that is tried here."""
    call = GateCall(tool="run_in_terminal", parameters={"command": line})
    return asyncio.run(judge_call(call, context(root, allow=ALLOW), no_hooks)).verdict


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    made = tmp_path_factory.mktemp("destinations").resolve() / "work"
    for folder in ("src/d/.agents/skills", "src/vs", ".git/objects", ".git/refs", "docs"):
        (made / folder).mkdir(parents=True)
    for name in (
        "src/e.txt",
        "src/d/.agents/skills/x",
        "src/vs/tasks.json",
        ".env",
        "docs/a.md",
        ".git/HEAD",
    ):
        (made / name).write_text("x")
    return made


ASKS = [
    "git mv src/e.txt .envrc", "git mv src/e.txt .github/workflows/x.yml", "git mv src/e.txt .vscode/tasks.json", "git mv src/e.txt .mcp.json",
    "git mv src/d/.agents .", "mv src/d/.agents docs", "cp -r src/d/. .", "mv src/vs .vscode", "mv src .github", "mv src .claude",
    "ln -s src .vscode", "ln -s ../src docs/.cargo", "mv src/vs docs/.idea", "gunzip .envrc.gz", "gunzip -- .envrc.gz", "gunzip .workbench.json.gz",
    "gunzip docs/.workbench.json.gz", "gzip -d .mcp.json.gz", "gzip -dr .", "bunzip2 AGENTS.md.bz2", "xz -d .envrc.xz",
    "git clone https://h/x/.agents", "git clone https://h/x/.workbench.git", "git clone https://h/x/.vscode", "git clone https://h/.github",
    "git clone https://h/x y/.idea", "prettier --write .mcp.json", "ruff format .envrc", "zip .envrc src/e.txt", "unlisted .envrc",
    "unlisted docs/.workbench/x", "tee .envrc", "install src/e.txt .envrc", "mkdir .github", "mkdir -p docs/.wave", "curl -O https://h/.envrc",
    "curl -sO https://h/x/.mcp.json", "wget https://h/.envrc", "sed -i s/x/y/ .envrc", "git checkout HEAD -- .envrc", "touch docs/wave.yaml",
    "touch src/conс.py",
    "cp src/e.txt a.txt:ads",
    "mkdir CON",
    "mv src/e.txt docs/nul.txt",
    "git checkout evil -- '.envr[c]'", "git checkout evil -- '.github/work*'", "git checkout evil -- ':(glob)**/tasks.json'", "git checkout evil -- ':!docs'",
    "cp '?envrc' x", "prettier --write '.github/**/*.yml'", "prettier --write '**/agents*'", "cd .vscode && ln -s ../src/e.txt", "cd .github/workflows && touch x",
    "cd .husky && unlisted", "ln -s src lib && cp src/e.txt lib/hooks", "mv src lib && cp docs/a.md lib/hooks/x && mv lib src", "git clone https://h/x/.vscode//.git",
    "cp -r src/vs lib && cd lib && touch x", "ln -s /x/.envrc", "git mv src lib && touch lib/hooks",
    "tar -xf x.tar", "apply_patch x", "apply_patch < x", "cat src/applypatch", "cat x | apply_patch", "unlisted apply_patch",
]  # fmt: skip
PASSES = [
    "git mv src/e.txt src/f.txt", "mv src/vs src/ws", "cp src/e.txt docs", "ln -s src lib", "gunzip src/x.gz", "gzip -d src/x.tar.gz",
    "git clone https://h/x/y", "prettier --write src", "ruff format src", "zip x.zip src/e.txt", "unlisted src/e.txt", "mkdir -p src/new",
    "cat .github/workflows/x.yml", "cat .envrc", "sed -n 1,3p .github/workflows/x.yml", "git add .envrc", "grep x .mcp.json",
    "cp src/e.txt docs && cat docs/a.md", "mv src/e.txt docs/e.txt && git add docs/e.txt", "cd .github && ls", "git restore --staged .envrc", "git rm --cached .envrc",
    "prettier --check .mcp.json", "prettier --write 'src/**/*.ts'", "mv src/vs src/ws && cat src/e.txt", "cp src/e.txt src/vs && cat src/vs",
    "curl https://h/x/.github/workflows/x.yml", "find .github -name x", "cat docs/.agents/notes.md",
]  # fmt: skip


@each_row("line", ASKS)
def test_no_grant_makes_or_changes_a_file_that_runs_automatically(root, line):
    verdict = judged(root, line)
    assert verdict.outcome == "ask", verdict.reason
    assert "no rule can cover it" in verdict.reason


@each_row("line", PASSES)
def test_reading_such_a_file_and_writing_another_stays_granted(root, line):
    verdict = judged(root, line)
    assert verdict.outcome == "allowed", verdict.reason


SHOWN = [
    "git cat-file -p HEAD:.env", "git show HEAD:.env", "git show HEAD:./.env", "git show :0:.env", "git log -L1,3:.env", "git log -p -- '.en[v]'",
    "git log -p -- ':(top).env'", "git log -p -- ':(top,glob)**/*'", "git show HEAD:docs/../.env", "git blame .env",
    "git archive HEAD", "git archive HEAD src", "tar -cf x.tar .", "zip -r x.zip .", "zip -r x.zip src", "cp -r src/. docs", "mv src lib",
    "rsync -a src docs", "git mv src lib", "ln -s src lib", "zip -r x.zip linked", "tar -chf x.tar linked",
    "tar -chf x.tar pointed", "git cat-file -p 1a2b3c4d", "git rev-parse HEAD:.env", "tar -C src -cf x.tar .",
]  # fmt: skip
UNSHOWN = [
    "git log -p", "git log --format='%h:%s *'", "git show HEAD:docs/a.md", "git log -L1,3:docs/a.md", "tar -cf x.tar docs", "zip -r x.zip docs",
    "cp -r docs lib", "mv docs lib", "git log -p -- 'docs/[id].md'", "git archive HEAD docs", "git log -p -- ':!docs/a.md'", "git add 'docs/*.md'", "tar -tf x.tar", "git show HEAD",
]  # fmt: skip


@pytest.fixture(scope="module")
def secretive(root):
    (root / "src/.env.local").write_text("x")
    (root / "linked").mkdir()
    (root / "linked/l").symlink_to("../src")
    (root / "linked/again").symlink_to(".")
    (root / "pointed").mkdir()
    (root / "pointed/k").symlink_to("../.env")
    (root / "docs/[id].md").write_text("x")
    return root


def judged_with(root, line, *deny):
    """Return the verdict about a line that is granted word by word, with denials."""
    where = context(
        root,
        allow=(PermissionPattern(text=f"Bash({line})", origin="config.json:1"),),
        deny=tuple(PermissionPattern(text=text, origin="config.json:2") for text in deny),
    )
    call = GateCall(tool="run_in_terminal", parameters={"command": line})
    return asyncio.run(judge_call(call, where, no_hooks)).verdict


@each_row("line", SHOWN)
def test_a_file_that_may_not_be_read_is_neither_shown_by_git_nor_packed(secretive, line):
    assert judged_with(secretive, line).outcome == "allowed"
    verdict = judged_with(secretive, line, "Read(.env*)")
    assert (verdict.outcome, "read" in verdict.reason) == ("ask", True), verdict.reason


@each_row("line", UNSHOWN)
def test_other_files_are_shown_and_packed_as_before(secretive, line):
    assert judged_with(secretive, line, "Read(.env*)").outcome == "allowed"


def test_a_folder_that_holds_the_hooks_of_git_is_not_moved(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text("[core]\n\thooksPath = src/hooks\n")
    (tmp_path / "src/hooks").mkdir(parents=True)
    for line in ("mv src lib", "rm -r src", "git mv src lib"):
        assert "git runs it" in judged_with(tmp_path, line).reason, line
    assert judged_with(tmp_path, "mv other lib").outcome == "allowed"


def test_a_folder_with_too_many_files_to_compare_asks(tmp_path):
    for number in range(command_paths._MOST_PACKED + 1):
        (tmp_path / "many" / f"{number}").parent.mkdir(exist_ok=True)
        (tmp_path / "many" / f"{number}").touch()
    assert judged_with(tmp_path, "cp -r many more").outcome == "allowed"
    assert "too many files" in judged_with(tmp_path, "cp -r many more", "Read(.env*)").reason


# --- what really happens -----------------------------------------------------------------------------


NAMES = (
    ".envrc", ".vscode", ".github", ".github/workflows", "workflows", "tasks.json", ".mcp.json", ".agents", ".workbench.json", "wave.yaml",
    ".cargo", "config.toml", "src", "src/d", "docs", ".", "..", "src/.", "src/d/", "x", "docs/x.gz", ".envrc.gz", "agents.md",
)  # fmt: skip
FORMS = (
    "mv {} {}", "mv -T {} {}", "mv -t {} {}", "cp {} {}", "cp -T {} {}", "git mv {} {}", "git mv -f {} {}", "ln -s {} {}", "ln {} {}", "ln -s {}",
    "mkdir -p {}", "mkdir -p {}/{}", "touch {}", "touch {}/{}", "gunzip -f {}", "gzip -df {}", "gzip {}", "cp {} {} {}", "mv {} {}/{}",
    "cp -n -- {} {}", "tee {} {}", "zip -q {} {}", "mv {} {} && mv {} {}", "cd {} && mv {} {}", "gzip {}; mv {} {}", "install {} {}",
)  # fmt: skip
"""Lines that write, with names drawn into them."""
LINES = size("WORKBENCH_DESTINATIONS", 250, 20_000)


def closed_files(root):
    """Return the files below a folder that run automatically or control agents."""
    names = AutorunNames(str(root))
    found = set()
    for current, _, files in os.walk(root):
        if "/.git" not in current.removeprefix(str(root)):
            found |= {f"{current}/{name}" for name in files if names.file_reason(f"{current}/{name}")}
    return found


def plant(top):
    """Make a workspace in which each kind of name is a file or a folder."""
    root = top / "work"
    for folder in ("src/d", "docs", "vscode", "github/workflows"):
        (root / folder).mkdir(parents=True)
    for name in (
        "src/tasks.json",
        "src/d/config.toml",
        "docs/x",
        "vscode/tasks.json",
        "github/workflows/x.yml",
        "x",
        "tasks.json",
        "workflows",
    ):
        (root / name).write_text("x")
    (root / "docs/x.gz").write_bytes(gzip.compress(b"x"))
    subprocess.run(["git", "init", "-q", root], check=True)
    subprocess.run(["git", "-C", root, "add", "."], check=True)
    return root


def test_granted_lines_make_no_such_file_when_they_are_run(tmp_path):
    chance = random.Random(size("WORKBENCH_DESTINATIONS_SEED", 33, 33))
    plain = (
        "src",
        "docs",
        "x",
        "vscode",
        "github",
        "tasks.json",
        "docs/x",
        "src/d",
        "docs/x.gz",
        "workflows",
    )
    run = 0
    root = plant(tmp_path)
    for _ in range(LINES):
        form = chance.choice(FORMS)
        line = form.format(
            *(chance.choice(NAMES if chance.random() < 0.4 else plain) for _ in range(form.count("{}")))
        )
        if judged(root, line).outcome != "allowed":
            continue
        run += 1
        before = closed_files(root)
        subprocess.run(
            ["bash", "-c", line], cwd=root, capture_output=True, check=False, stdin=subprocess.DEVNULL
        )
        assert closed_files(root) <= before, line
        if not (root / "src/d").exists() or not (root / "docs/x").exists():
            shutil.rmtree(tmp_path / "work")
            root = plant(tmp_path)
    assert run > LINES / 8, "too few lines were granted to say anything"
