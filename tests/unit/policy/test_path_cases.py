"""Wide tables of paths, in a workspace full of links, pipes and hard links: where they lead, and what is refused."""

import os
import socket
from pathlib import Path

import pytest

from workbench.cli import check
from workbench.policy.paths import GOVERNING_NAMES, HOME_NAMES

INSIDE = [
    ("read_file", "src/a.py"),
    ("read_file", "./src/a.py"),
    ("read_file", "{ws}/src/a.py"),
    ("read_file", "src/../src/a.py"),
    ("read_file", "src//a.py"),
    ("read_file", "inlink/a.py"),
    ("read_file", "alink"),
    ("read_file", "dot/src/a.py"),
    ("read_file", "self/src/a.py"),
    ("read_file", "up/work/src/a.py"),
    ("read_file", "../work/src/a.py"),
    ("create_file", "new.txt"),
    ("create_file", "src/new/deep/x.py"),
    ("create_file", "dangle_in"),
    ("list_dir", "."),
    ("list_dir", "{ws}"),
    ("list_dir", "src/"),
    ("read_file", "nonexist"),
    ("create_file", "a\\b/c"),
    ("create_file", ".../x"),
    ("create_file", "..x"),
    ("create_file", "x.."),
    ("create_file", "a/..b/c"),
    ("create_file", "é漢.txt"),
    ("create_file", "a b.txt"),
    ("create_file", ".gitignore"),
    ("create_file", ".github/workflows/x.yml"),
    ("create_file", ".env"),
    ("read_file", ".git/config"),
    ("read_file", ".git/hooks"),
    (
        "create_file",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    ),
    ("read_file", "hard"),
    ("create_file", ".gitattributes"),
    ("create_file", "Makefile"),
    ("create_file", "-rf"),
    ("create_file", "src/.gitkeep"),
    ("create_file", "x.git/y"),
    ("create_file", "git/config"),
    ("create_file", "sub/.bashrc"),
    ("replace_string_in_file", "src/a.py"),
    ("replace_string_in_file", "alink"),
    ("create_directory", "newdir"),
    ("list_dir", "src/deep/.."),
    ("create_file", "again/src/q"),
    ("read_file", "{ws}/../work/src/a.py"),
    ("grep_search", "src"),
    ("file_search", "."),
    ("context.read", "src/a.py"),
    ("create_file", "..%2f..%2fetc%2fpasswd"),
    ("create_file", "..\\..\\x"),
    ("create_file", "con"),
    ("create_file", "aux.txt"),
    ("create_file", "a:b"),
]
REFUSED = [
    ("create_file", "~/x"),
    ("create_file", "$HOME/x"),
    ("create_file", "C:\\x"),
    ("read_file", "~root/x"),
    ("read_file", "../outside/f"),
    ("read_file", "/etc/passwd"),
    ("read_file", "out/f"),
    ("read_file", "flink"),
    ("read_file", "dangle"),
    ("create_file", "dangle"),
    ("create_file", "dangle2"),
    ("read_file", "loop"),
    ("create_file", "loop"),
    ("read_file", "l1/x"),
    ("read_file", "loop/x"),
    ("read_file", "etc/passwd"),
    ("create_file", "etc/newfile"),
    ("create_file", "out/new"),
    ("create_file", "out/new/deep/x"),
    ("read_file", "../work2/f"),
    ("read_file", "{ws}2/f"),
    ("read_file", "{ws}/../work2/f"),
    ("list_dir", ".."),
    ("list_dir", "/"),
    ("list_dir", "../"),
    ("list_dir", "src/../.."),
    ("read_file", "src/../../outside/f"),
    ("read_file", "inlink/../../outside/f"),
    ("read_file", "out/../work/src/a.py/../../../outside/f"),
    ("read_file", ""),
    ("read_file", "a\x00b"),
    (
        "read_file",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    ),
    (
        "read_file",
        "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/",
    ),
    ("create_file", ".git/config"),
    ("create_file", ".git/hooks/pre-commit"),
    ("create_file", ".git"),
    ("create_file", ".GIT/config"),
    ("create_file", ".Git/hooks/x"),
    ("create_file", ".git./config"),
    ("create_file", ".git /config"),
    ("create_file", "git~1/config"),
    ("create_file", ".g\u200cit/config"),
    ("create_file", ".git::$INDEX_ALLOCATION/config"),
    ("create_file", "src/.git/config"),
    ("create_file", "g/config"),
    ("create_file", "self/.git/config"),
    ("create_file", ".workbench.json"),
    ("create_file", ".workbench/x"),
    ("create_file", ".WORKBENCH.json"),
    ("create_file", "workbench.yaml"),
    ("create_file", "wave.yaml"),
    ("create_file", ".wave/x"),
    ("create_file", "./.workbench.json"),
    ("create_file", "src/../.workbench.json"),
    ("create_file", "self/.workbench.json"),
    ("create_file", "hard"),
    ("replace_string_in_file", "hard"),
    ("read_file", "fifo"),
    ("create_file", "fifo"),
    ("read_file", "sock"),
    ("read_file", "/dev/null"),
    ("create_file", "."),
    ("create_file", "../work"),
    ("create_file", "{ws}"),
    ("read_file", "/etc/hostname"),
    ("read_file", "cwd/x"),
    ("read_file", "up/outside/f"),
    ("read_file", "/proc/self/environ"),
    ("read_file", "\ud800"),
    ("create_file", "//etc/passwd"),
    ("read_file", "/"),
    ("create_file", ".bashrc"),
    ("create_file", ".profile"),
    ("create_file", ".zshrc"),
    ("read_file", "dangle/x"),
    ("create_file", "dangle/x"),
    ("read_file", "src/a.py/../../../outside/f"),
    ("create_file", ".workbench.json."),
    ("create_file", "WORKBENCH.YAML"),
    ("create_file", "out"),
    ("create_file", "flink"),
    ("replace_string_in_file", "flink"),
    ("list_dir", "out"),
    ("grep_search", "out"),
    ("file_search", ".."),
    ("create_directory", "../x"),
    ("create_directory", ".git/x"),
    ("create_directory", "out/x"),
    ("create_file", ".bash_profile"),
    ("create_file", ".zshenv"),
    ("read_file", "up"),
    ("create_file", "up/x"),
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    base = tmp_path_factory.mktemp("paths").resolve()
    ws = base / "work"
    for folder in ("src/deep", ".git/hooks", "a\\b", "...", "~", "../work2", "../outside"):
        (ws / folder).mkdir(parents=True)
    (ws / "src/a.py").write_text("x")
    (base / "outside/f").write_text("x")
    (base / "work2/f").write_text("")
    links = {
        "out": f"{base}/outside", "flink": "../outside/f", "dangle": "/nonexistent/zz", "dangle2": "../nope",
        "loop": "loop", "l1": "l2", "l2": "l1", "inlink": "src", "self": str(ws), "alink": "src/a.py",
        "dangle_in": "newfile", "etc": "/etc", "dot": ".", "up": "..", "cwd": "/proc/self/cwd", "g": ".git",
        "again": "../work",
    }  # fmt: skip
    for name, target in links.items():
        (ws / name).symlink_to(target)
    os.mkfifo(ws / "fifo")
    os.link(base / "outside/f", ws / "hard")
    here = Path.cwd()
    os.chdir(ws)  # the name of a socket may not be long
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("sock")
    os.chdir(here)
    return ws


def ask(workspace, op, path):
    return check.check_path(
        {"workspace": str(workspace), "op": op, "path": path.replace("{ws}", str(workspace))}
    )


@pytest.mark.spec(64, 65)
@pytest.mark.parametrize(("op", "path"), INSIDE)
def test_a_path_that_leads_inside_is_let_pass(workspace, op, path):
    found = ask(workspace, op, path)
    assert found["verdict"] == "allow"
    assert found["resolved"] == str(workspace) or found["resolved"].startswith(f"{workspace}/")
    assert found["resolved"] == os.path.realpath(found["resolved"])


@pytest.mark.spec(66, 67)
@pytest.mark.parametrize(("op", "path"), REFUSED, ids=lambda text: ascii(text)[:40])
def test_a_path_that_leads_out_or_to_what_governs_is_refused(workspace, op, path):
    found = ask(workspace, op, path)
    assert found["verdict"] == "deny"
    assert found["reason"]
    assert found["resolved"] is None or Path(found["resolved"]).is_absolute()


@pytest.mark.parametrize("name", sorted(HOME_NAMES))
def test_every_start_up_file_of_a_home_is_refused_also_where_there_is_none_yet(name, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for given in (name, f"./{name.upper()}", f"{name}/x"):
        found = check.check_path({"workspace": str(tmp_path), "op": "create_file", "path": given})
        assert found["verdict"] == "deny"
    assert (
        check.check_path({"workspace": str(tmp_path), "op": "create_file", "path": f"x{name}"})["verdict"]
        == "allow"
    )


@pytest.mark.parametrize("name", GOVERNING_NAMES)
def test_everything_that_governs_a_workspace_is_refused_to_writers(name, tmp_path):
    for given in (name, f"{name}/x", name.upper(), f"a/../{name}"):
        case = {"workspace": str(tmp_path), "path": given}
        assert check.check_path({**case, "op": "create_file"})["verdict"] == "deny"
        assert check.check_path({**case, "op": "read_file"})["verdict"] == "allow"
