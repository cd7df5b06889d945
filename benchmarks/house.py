"""Counts what makes a source easy or hard to carry on; `python -m benchmarks.house` prints it.

Files, lines (code without blanks, comments and docstrings), modules that only one other imports, names that
occur twice. `tests/unit/test_house.py` holds bounds of the same counts.
"""

import ast
import collections
import contextlib
import gc
import json
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SMALL = 60
"""Code lines below which a module that one other imports is a detour."""
LARGE_PART = 40
"""Lines from which a part of a file counts that the rest of the file has nothing to do with."""


@dataclass
class Module:
    """One source file: its name, its text, its tree and all nodes of that, and which lines hold code."""

    name: str
    text: str
    tree: ast.Module
    nodes: list[ast.AST]
    code_lines: set[int]
    docstrings: int
    imports: int
    importers: set[str] = field(default_factory=set[str])

    @property
    def code(self) -> int:
        return len(self.code_lines)


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _span(node: ast.stmt | ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _nodes(tree: ast.Module) -> list[ast.AST]:
    """Return what `ast.walk` does, in half its time."""
    found: list[ast.AST] = [tree]
    for node in found:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                found += [child for child in value if isinstance(child, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


def _module(path: Path, name: str) -> Module:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    nodes = _nodes(tree)
    written = enumerate((line.strip() for line in text.splitlines()), 1)
    code = {number for number, line in written if line and not line.startswith("#")}
    said: set[int] = set()
    imports: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno != node.lineno:
            code.update(_span(node))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports.update(_span(node))
        if _is_text(node):
            said.update(_span(node))  # type: ignore[arg-type]
    return Module(name, text, tree, nodes, code - said, len(said), len(imports))


def _name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules(root: Path = ROOT) -> dict[str, Module]:
    """Return the modules of the package below a folder, each with the names of those that import it."""
    return _modules(root)


@cache
def _modules(root: Path) -> dict[str, Module]:
    found: dict[str, Module] = {}
    gc.disable()  # none of the nodes is garbage, and each collection would look at all of them
    try:
        for path in sorted((root / "workbench").rglob("*.py")):
            if "examples" not in path.parts:
                name = _name(path, root)
                found[name] = _module(path, name)
    finally:
        gc.freeze()
        gc.enable()
    for module in found.values():
        for node in module.nodes:
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    target = found.get(whole) or found.get(node.module)
                    if target and target is not module:
                        target.importers.add(module.name)
    return found


_REGISTRIES = {
    f"workbench.{name}" for name in ("tools.registry", "formats.detect", "tui.keyboard.table", "tui.places")
}
"""Modules with a table of others: what such a table names may be as small as it is."""


def small_with_one_importer(all_modules: dict[str, Module]) -> list[str]:
    """Return the modules of few lines that exactly one other imports, but for packages and tables."""
    packages = {name.rpartition(".")[0] for name in all_modules}
    return [
        module.name
        for module in all_modules.values()
        if module.code < SMALL
        and len(module.importers) == 1
        and module.name not in packages
        and not module.importers <= _REGISTRIES
    ]


def basenames_twice(all_modules: dict[str, Module]) -> list[str]:
    """Return basenames that occur more than once within one top package, or equal a package beside them."""
    places = collections.defaultdict[tuple[str, str], list[str]](list)
    for name in all_modules:
        parts = name.split(".")
        if len(parts) > 2:
            places[parts[1], parts[-1]].append(name)
    return sorted(f"{top}: {base}" for (top, base), names in places.items() if len(names) > 1)


def gerunds(all_modules: dict[str, Module]) -> list[str]:
    """Return module names that end in -ing."""
    return [name for name in all_modules if name.rpartition(".")[2].endswith("ing")]


_MAY_USE_PRIVATE_NAMES = {"workbench.tui.driver", "workbench.tui.compositor"}
_STANDARD_LIBRARY = {"_asdict", "_exit", "_fields", "_make", "_replace"}
"""Names that begin with an underscore and are documented."""


def private_names_of_libraries(all_modules: dict[str, Module]) -> list[str]:
    """Return where a private name is used that nothing of ours defines, but for the two modules that may."""
    ours = set(_STANDARD_LIBRARY)
    for module in all_modules.values():
        for node in module.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                ours.add(node.name)
            elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Store):
                ours.add(node.attr if isinstance(node, ast.Attribute) else node.id)
    return sorted(
        f"{module.name}: {node.attr}"
        for module in all_modules.values()
        if module.name not in _MAY_USE_PRIVATE_NAMES
        for node in module.nodes
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__")
        if node.attr not in ours
    )


def _names_of_events(all_modules: dict[str, Module]) -> set[str]:
    """Return the classes of events: those that name their kind, and the groups that they belong to."""
    events = {"Body"}
    for node in all_modules["workbench.domain.events"].tree.body:
        if isinstance(node, ast.ClassDef) and any(getattr(base, "id", "") in events for base in node.bases):
            events.add(node.name)
    return events


def _class_name(pattern: ast.MatchClass) -> str:
    return pattern.cls.attr if isinstance(pattern.cls, ast.Attribute) else getattr(pattern.cls, "id", "")


def _is_silent(case: ast.match_case) -> bool:
    """Return whether a case takes everything that is left and does not call `assert_never`."""
    is_rest = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None
    return is_rest and "assert_never" not in ast.dump(case.body[0])


def silent_cases_over_events(all_modules: dict[str, Module]) -> list[str]:
    """Return matches over events, as module and line, whose last case passes over what is not named."""
    events = _names_of_events(all_modules)
    return sorted(
        f"{module.name}:{node.lineno}"
        for module in all_modules.values()
        for node in module.nodes
        if isinstance(node, ast.Match)
        and _is_silent(node.cases[-1])
        and any(
            isinstance(pattern, ast.MatchClass) and _class_name(pattern) in events
            for case in node.cases
            for pattern in ast.walk(case.pattern)
        )
    )


class _Reaches(ast.NodeVisitor):
    """Attributes taken of what a module calls a `MainScreen`: parameters, properties, what is set to them."""

    def __init__(self) -> None:
        self.attributes: set[str] = set()
        """Names of attributes of `self` that hold a main screen."""
        self.names: list[set[str]] = [set()]
        self.reached: list[str] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        arguments = [*node.args.args, *node.args.kwonlyargs]
        inner = self.names[-1] - {one.arg for one in arguments}
        inner |= {one.arg for one in arguments if _names_main_screen(one.annotation)}
        if arguments and arguments[0].arg == "self" and _names_main_screen(node.returns):
            self.attributes.add(node.name)
        self.names.append(inner)
        self.generic_visit(node)
        self.names.pop()

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            is_pair = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            values = node.value.elts if is_pair else [node.value] * len(parts)
            for part, value in zip(parts, values, strict=False):
                if self._is_main_screen(value):
                    self._note(part)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if _names_main_screen(node.annotation):
            self._note(node.target)
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if self._is_main_screen(node.value):
            self.reached.append(node.attr)
        self.generic_visit(node)

    def _note(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.names[-1].add(target.id)
        elif isinstance(target, ast.Attribute):
            self.attributes.add(target.attr)

    def _is_main_screen(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.names[-1]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return node.attr in self.attributes
        return False


def _names_main_screen(annotation: ast.expr | None) -> bool:
    return annotation is not None and ast.unparse(annotation).strip("\"'").split(" | ")[0] == "MainScreen"


def reaches_into_main_screen(all_modules: dict[str, Module]) -> list[str]:
    """Return each attribute of a main screen that another module takes, as `module.attribute`."""
    reached: list[str] = []
    for module in all_modules.values():
        if module.name == "workbench.tui.main.screen" or "MainScreen" not in module.text:
            continue
        visitor = _Reaches()
        visitor.visit(module.tree)  # once for what holds a main screen, once more for what is taken of it
        visitor.reached.clear()
        visitor.visit(module.tree)
        reached += [f"{module.name}.{name}" for name in visitor.reached]
    return reached


def _definitions(tree: ast.Module) -> list[list[ast.stmt]]:
    """Return the statements of a module but its imports; a text belongs to what it describes."""
    found: list[list[ast.stmt]] = []
    for node in tree.body:
        if _is_text(node):
            found[-1:] = [[*one, node] for one in found[-1:]]
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            found.append([node])
    return found


def _defined_names(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    stored = (one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
    return {one.id for one in stored}


def _used_names(nodes: list[ast.stmt]) -> set[str]:
    """Return the names in some statements, those in quoted annotations too."""
    used: set[str] = set()
    for node in (inner for one in nodes for inner in ast.walk(one)):
        if isinstance(node, ast.Name):
            used.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not node.value.isspace():
            with contextlib.suppress(SyntaxError, ValueError):
                quoted = ast.parse(node.value, mode="eval")
                used |= {one.id for one in ast.walk(quoted) if isinstance(one, ast.Name)}
    return used


def _lines_of(nodes: list[ast.stmt]) -> int:
    decorators = [one.lineno for one in getattr(nodes[0], "decorator_list", [])]
    return (nodes[-1].end_lineno or 0) - min([nodes[0].lineno, *decorators]) + 1


def unconnected_parts(module: Module) -> list[list[str]]:
    """Return the large parts of a file that never name each other, each as the names that it defines."""
    definitions = _definitions(module.tree)
    names = [_defined_names(nodes[0]) for nodes in definitions]
    owners = {name: number for number, defined in enumerate(names) for name in defined}
    part = list(range(len(definitions)))
    for number, nodes in enumerate(definitions):
        for name in _used_names(nodes) & set(owners):
            joined = {part[number], part[owners[name]]}
            part = [min(joined) if one in joined else one for one in part]
    sizes = collections.Counter[int]()
    for number, nodes in zip(part, definitions, strict=True):
        sizes[number] += _lines_of(nodes)
    large = [number for number, lines in sizes.most_common() if lines >= LARGE_PART]
    return [sorted(set().union(*(names[i] for i, one in enumerate(part) if one == n))) for n in large]


def import_circles(all_modules: dict[str, Module]) -> list[list[str]]:
    """Return groups of modules that import each other, also in functions and for types, the largest first."""
    imported = {
        name: {one.name for one in all_modules.values() if name in one.importers} for name in all_modules
    }
    reached = {name: _reached(name, imported) for name in all_modules}
    groups = {tuple(sorted(one for one in reached[name] if name in reached[one])) for name in all_modules}
    return sorted((list(group) for group in groups if group), key=lambda group: (-len(group), group))


def _reached(name: str, imported: dict[str, set[str]]) -> set[str]:
    found, left = set[str](), [name]
    while left:
        new = imported[left.pop()] - found
        found |= new
        left += new
    return found


def circles_of_packages(all_modules: dict[str, Module]) -> dict[str, list[str]]:
    """Return the modules of each package that are in a circle within it."""
    found: dict[str, list[str]] = {}
    for package in sorted({name.split(".")[1] for name in all_modules if "." in name}):
        whole = f"workbench.{package}"
        inside = {n: m for n, m in all_modules.items() if n == whole or n.startswith(f"{whole}.")}
        if circles := import_circles(inside):
            found[package] = sorted(name for circle in circles for name in circle)
    return found


def report(root: Path = ROOT) -> dict[str, object]:
    """Return the counts, the files of several parts and the circles, for a person to read."""
    every = modules(root)
    parts = {name: unconnected_parts(module) for name, module in every.items()}
    return {
        **counts(root),
        "parts that never name each other": {
            name: [", ".join(part) for part in found] for name, found in parts.items() if len(found) > 1
        },
        "modules in circles of imports": circles_of_packages(every),
    }


def counts(root: Path = ROOT) -> dict[str, int]:
    """Return the counts by name."""
    every = modules(root)
    files = list(every.values())
    return {
        "files": len(files),
        "code lines": sum(module.code for module in files),
        "docstring lines": sum(module.docstrings for module in files),
        "import lines": sum(module.imports for module in files),
        "files under 60 code lines": sum(module.code < SMALL for module in files),
        "modules with one importer": sum(len(module.importers) == 1 for module in files),
        "small modules with one importer": len(small_with_one_importer(every)),
        "basenames twice in a package": len(basenames_twice(every)),
        "module names in -ing": len(gerunds(every)),
        "private names of libraries": len(private_names_of_libraries(every)),
        "silent cases over events": len(silent_cases_over_events(every)),
        "attributes of the main screen reached from outside": len(reaches_into_main_screen(every)),
        "ARCHITECTURE.md bytes": (root / "ARCHITECTURE.md").stat().st_size,
        "files over 450 code lines": sum(module.code > 450 for module in files),
        "files of several parts": sum(len(unconnected_parts(module)) > 1 for module in files),
        "circles of imports": len(import_circles(every)),
    }


if __name__ == "__main__":
    found = report(Path(sys.argv[1]) if sys.argv[1:] else ROOT)
    if not sys.argv[1:]:
        from benchmarks.key_flow import (
            key_flow_counts,  # it runs the screen, which a count of files does not need
        )

        found |= key_flow_counts()
    json.dump(found, sys.stdout, indent=2)
    print()
