"""What the documents for contributors name must be there."""

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`([a-z_/]+\.py)(?::([A-Za-z_.]+))?`")
MOST_BYTES = 12_000


def names_of(path):
    """Return what a module defines, with the members of its classes."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{member.name}" for member in node.body if hasattr(member, "name"))
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_each_file_and_name_of_the_architecture_exists():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    missing = [
        f"{file}:{name}"
        for file, name in NAMED.findall(text)
        if not (path := ROOT / "workbench" / file).exists() or (name and name not in set(names_of(path)))
    ]
    assert len(NAMED.findall(text)) > 50
    assert missing == []
    assert len(text.encode()) <= MOST_BYTES


def test_each_benchmark_and_screenshot_script_finds_what_it_names():
    scripts = [
        f"{folder}.{path.stem}"
        for folder in ("benchmarks", "screenshots")
        for path in (ROOT / folder).glob("*.py")
    ]
    assert len(scripts) > 20
    done = subprocess.run(
        [sys.executable, "-c", f"import {', '.join(scripts)}"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
