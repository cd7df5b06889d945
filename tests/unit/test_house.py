"""The house rules that no linter knows: lengths, doors to the outside, what an import may load."""

import ast
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "workbench"
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "examples" not in path.parts)
FUNCTION, CLASS, FILE, MEDIAN = 50, 300, 400, 8


def source(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def counted(path):
    """Return the numbers of lines that hold something and belong to no docstring."""
    text = path.read_text(encoding="utf-8")
    lines = {n for n, line in enumerate(text.splitlines(), 1) if line.strip()}
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            lines -= set(range(node.lineno, node.end_lineno + 1))
    return lines


def spans(path, kinds):
    lines = counted(path)
    for node in ast.walk(source(path)):
        if isinstance(node, kinds):
            yield node.name, len(lines & set(range(node.lineno, node.end_lineno + 1)))


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_lengths(path):
    long = [name for name, length in spans(path, FUNCTIONS) if length > FUNCTION]
    long += [name for name, length in spans(path, (ast.ClassDef,)) if length > CLASS]
    assert (long, len(counted(path)) <= FILE) == ([], True)


def test_functions_are_short():
    lengths = [length for path in FILES for _, length in spans(path, FUNCTIONS)]
    assert statistics.median(lengths) <= MEDIAN


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_module_says_what_it_owns(path):
    text = ast.get_docstring(source(path)) or ""
    assert 1 <= len(text.splitlines()) <= 12


def names_called(path):
    for node in ast.walk(source(path)):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


@pytest.mark.parametrize(
    "path", [p for p in FILES if "effects" not in p.parts], ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_only_effects_write_files(path):
    for name, call in names_called(path):
        tail = name.rpartition(".")[2]
        assert tail not in {
            "write_text",
            "write_bytes",
            "mkdir",
            "rename",
            "replace_file",
            "symlink_to",
            "makedirs",
            "rmtree",
        }, name
        if tail == "open" and name in {"open", "io.open", "os.open"}:
            modes = [a.value for a in call.args[1:2] if isinstance(a, ast.Constant)]
            assert all(mode in ("r", "rb") for mode in modes), ast.unparse(call)


HEADLESS = [
    "graph",
    "views",
    "formats",
    "pipelines",
    "domain",
    "text",
    "effects",
    "journal",
    "policy",
    "changes",
    "config",
    "tools",
    "providers",
    "agents",
    "host",
    "cli",
]


def loaded_after(statement):
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_headless_packages_load_no_screen():
    loaded = loaded_after("\n".join(f"import workbench.{name}" for name in HEADLESS))
    assert not {name for name in loaded if name.split(".")[0] in {"textual", "rich"}}


def test_reading_the_journal_loads_no_validator():
    loaded = loaded_after(
        "import workbench.journal.journal, workbench.config.layers, workbench.changes.hunks"
    )
    assert not loaded & {"pydantic", "jsonschema", "httpx", "yaml", "pygments", "re2", "watchdog"}
