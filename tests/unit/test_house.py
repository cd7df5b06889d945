"""Rules of the source that no linter knows: doors to the outside, what an import may load."""

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from benchmarks import house

PACKAGE = Path(__file__).resolve().parents[2] / "workbench"


def modules():
    return house.modules().values()


def test_every_module_says_what_it_owns():
    said = {module.name: ast.get_docstring(module.tree) or "" for module in modules()}
    assert [name for name, text in said.items() if not 1 <= len(text.splitlines()) <= 12] == []


WRITING = {
    "write_text",
    "write_bytes",
    "mkdir",
    "rename",
    "replace_file",
    "symlink_to",
    "makedirs",
    "rmtree",
}


def writes(call):
    name = ast.unparse(call.func)
    modes = [a.value for a in call.args[1:2] if isinstance(a, ast.Constant)]
    opens = name in {"open", "io.open", "os.open"} and any(mode not in ("r", "rb") for mode in modes)
    return opens or name.rpartition(".")[2] in WRITING


def test_only_effects_write_files():
    calls = [
        (module.name, node.lineno)
        for module in modules()
        if not module.name.startswith("workbench.effects")
        for node in module.nodes
        if isinstance(node, ast.Call) and writes(node)
    ]
    assert calls == []


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
    "backend",
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
    loaded = loaded_after("import workbench.journal.journal, workbench.config.layers, workbench.changes.diff")
    assert not loaded & {"pydantic", "jsonschema", "httpx", "yaml", "pygments", "re2", "watchfiles"}


def imported_modules(module, names):
    """Return the modules among `names` that a file imports, in functions and for types too."""
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in names else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def import_circles(package):
    """Return the modules of a package that import themselves by way of others."""
    whole = f"workbench.{package}"
    inside = {m.name: m for m in modules() if m.name == whole or m.name.startswith(f"{whole}.")}
    reached = {
        name: set(imported_modules(module, inside)) & set(inside) - {name} for name, module in inside.items()
    }
    for _ in inside:
        reached = {
            name: targets.union(*(reached[target] for target in targets)) for name, targets in reached.items()
        }
    return sorted(name for name, targets in reached.items() if name in targets)


def test_the_host_imports_in_no_circle_not_even_inside_functions():
    assert [*import_circles("host"), *import_circles("agents"), *import_circles("providers")] == []


def test_command_line_and_backend_import_in_no_circle_not_even_inside_functions():
    assert [*import_circles("cli"), *import_circles("backend")] == []


METAPHORS = {
    "bell", "camera", "deed", "deeds", "desk", "doorbell", "dossier", "hunt", "kit", "ladder", "loan", "offspring",
    "pen", "reel", "roll", "shelf", "tape", "wish", "wished", "witness",
}  # fmt: skip


def test_no_module_and_no_class_is_named_by_a_metaphor():
    names = [module.name.rpartition(".")[2] for module in modules()] + [
        node.name for module in modules() for node in module.nodes if isinstance(node, ast.ClassDef)
    ]
    words = {name: {word.lower() for word in re.findall(r"[A-Z]?[a-z]+", name)} for name in names}
    assert [name for name in names if words[name] & METAPHORS] == []


def test_no_two_classes_share_a_name():
    """A name is one thing; classes inside of others, and private ones, are known by where they are."""
    counted = Counter(
        node.name
        for module in modules()
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in counted.items() if count > 1] == []
