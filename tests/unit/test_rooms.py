"""Rooms of the screen import downwards; what reaches up at run time is the table of keys and two pages."""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ROOT / "workbench" / "tui"
AT_RUN_TIME = {
    "workbench.tui.keyboard.table": "the rows of every room's keys are next to the classes",
    "workbench.tui.rules.rules_screen": "the page lies over the main screen and opens help and palette itself",
}


def layers():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    rows = next(contract["layers"] for contract in contracts if contract["name"].startswith("Rooms"))
    ranks = {}
    for rank, row in enumerate(rows):
        ranks |= {f"workbench.tui.{name.strip()}": rank for name in row.replace("|", ":").split(":")}
    return ranks


def run_time_imports(node):
    """Yield the modules and members that a node imports, but for types only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.ImportFrom) and child.module:
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        else:
            yield from run_time_imports(child)


def rank_of(module, ranks):
    return next((rank for name, rank in ranks.items() if f"{module}.".startswith(f"{name}.")), None)


def upward_imports(name, tree, ranks):
    own = rank_of(name, ranks)
    for imported in run_time_imports(tree):
        rank = rank_of(imported, ranks)
        if own is not None and rank is not None and rank < own:
            yield imported


def test_what_reaches_up_at_run_time_is_named():
    ranks, upward = layers(), set()
    for file in ROOMS.rglob("*.py"):
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if [*upward_imports(name, ast.parse(file.read_text()), ranks)]:
            upward.add(name)
    assert upward <= set(AT_RUN_TIME)


def test_an_upward_import_is_found_in_functions_and_not_in_types():
    tree = ast.parse(
        "if TYPE_CHECKING:\n    from workbench.tui.main.context import MainContext\n"
        "def work():\n    from workbench.tui.main.tasks import MainTasks\n"
        "from workbench.tui.widgets.dialog import Dialog\n"
    )
    assert [*upward_imports("workbench.tui.approvals.x", tree, layers())] == [
        "workbench.tui.main.tasks.MainTasks"
    ]
