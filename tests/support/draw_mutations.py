"""Draws small changes of the code behind each row of the specification, by seed.

`tests/data/row_code.txt` names the functions, classes and tables that carry a row. Every change that can be made in
them is listed; some are drawn. What is drawn is committed, as later changes of the source would draw others.

    python -m tests.support.draw_mutations [--each 2] [--seed 37] > more.jsonl
"""

import argparse
import ast
import json
import random
from functools import cache
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "workbench"
ROW_CODE = ROOT / "tests/data/row_code.txt"
SEED = 37
_HEADS = ("keywords", "decorator_list", "bases")
SWAPPED = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="), ast.In: (" in ", " not in "), ast.NotIn: (" not in ", " in "),
    ast.Is: (" is ", " is not "), ast.IsNot: (" is not ", " is "),
}  # fmt: skip
_ANNOTATIONS = ("annotation", "returns")
_WORDING = {"one_line", "redact_line", "field"}
"""Calls whose numbers say how much of a text is shown, or nothing of a row."""


def row_code(path=ROW_CODE):
    """Return {row: places} of the table, each place a file and a dotted name in it."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            row, *places = line.split()
            found[int(row)] = [tuple(place.split(":")) for place in places]
    return found


class Module:
    """A module of the program: its text, its tree, and where nodes are in the text."""

    def __init__(self, file):
        self.text = (PACKAGE / file).read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self._starts = [0]
        for line in self.text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node):
        """Return the offsets of a node's first character and of the one after its last."""
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def source(self, node):
        return self.text[slice(*self.span(node))]

    def _offset(self, line, column):
        start = self._starts[line - 1]
        return start + len(self.text[start : self._starts[line]].encode()[:column].decode())

    def named(self, dotted):
        """Return the function, class or table of a name; a table is the assignment of it."""
        node = self.tree
        for name in dotted.split("."):
            node = next(child for child in ast.walk(node) if name in _names(child))
        return node


def is_there(file, dotted):
    """Return whether a file of the program has a function, class or table of that name."""
    try:
        module(file).named(dotted)
    except (OSError, StopIteration):
        return False
    return True


def _names(node):
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return [node.targets[0].id]
    return []


@cache
def module(file):
    """Return a module of the program, read once."""
    return Module(file)


def meaningful(node):
    """Yield the nodes below one that do something: neither docstrings nor annotations."""
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _WORDING:
        return
    yield node
    for name, value in ast.iter_fields(node):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and name in _HEADS:
            continue
        # Bounds of fields are in their annotations: `Annotated[int, Meta(ge=5)]`.
        if name in _ANNOTATIONS and not (isinstance(value, ast.Subscript) and "Meta" in ast.unparse(value)):
            continue
        for child in value if isinstance(value, list) else [value]:
            is_text = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            if isinstance(child, ast.AST) and not is_text:
                yield from meaningful(child)


def changes(place, root):
    """Yield (start, end, new text) of each change that can be made below a node."""
    for node in meaningful(root):
        if isinstance(node, ast.Compare):
            yield from _comparisons(place, node)
        elif isinstance(node, ast.BoolOp):
            yield from _connections(place, node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield *place.span(node), f"({place.source(node.operand)})"
        elif isinstance(node, ast.Constant):
            yield from _constants(place, node)
        elif isinstance(node, ast.If | ast.IfExp):
            yield *place.span(node.test), "False"
        elif isinstance(node, ast.Dict):
            yield from _words(place, node.values)
        elif isinstance(node, ast.Set | ast.Tuple | ast.List):
            yield from _left_out(place, node)


def _comparisons(place, node):
    for left, operator, right in zip(
        [node.left, *node.comparators], node.ops, node.comparators, strict=False
    ):
        start, end = place.span(left)[1], place.span(right)[0]
        old, new = SWAPPED[type(operator)]
        if place.text[start:end].count(old) == 1:
            at = place.text.index(old, start, end)
            yield at, at + len(old), new


def _connections(place, node):
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for one, two in pairwise(node.values):
        start, end = place.span(one)[1], place.span(two)[0]
        if place.text[start:end].split() == [old]:
            at = place.text.index(old, start, end)
            yield at, at + len(old), new


def _constants(place, node):
    if isinstance(node.value, bool):
        yield *place.span(node), str(not node.value)
    elif isinstance(node.value, int):
        yield *place.span(node), str(node.value + 1)


def _words(place, values):
    """Yield the words of a table, each in place of the next one that differs."""
    words = [node for node in values if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    for one, two in zip(words, [*words[1:], *words[:1]], strict=True):
        if one.value != two.value:
            yield *place.span(one), place.source(two)


def _left_out(place, node):
    """Yield a list of words without one of them."""
    for one, two in pairwise(node.elts):
        if all(isinstance(word, ast.Constant) and isinstance(word.value, str) for word in (one, two)):
            yield place.span(one)[0], place.span(two)[0], ""


def unique_change(text, start, end, new):
    """Return a piece of a text, whole lines that occur once, which holds a change, and what it becomes."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    while text.count(text[first:last]) > 1 and first > 0:
        first = text.rfind("\n", 0, first - 1) + 1
    return text[first:last], text[first:start] + new + text[end:last]


def drawn(code, each, seed=SEED, taken=()):
    """Yield changes for every row; none twice, and none that is taken already."""
    taken = set(taken)
    for row, places in code.items():
        found = {}
        for file, name in places:
            place = module(file)
            for change in changes(place, place.named(name)):
                found.setdefault((file, *unique_change(place.text, *change)), None)
        chance = random.Random(f"{seed}-{row}")
        candidates = [change for change in found if change not in taken]
        for file, old, new in chance.sample(candidates, min(each, len(candidates))):
            taken.add((file, old, new))
            yield {"row": row, "file": file, "old": old, "new": new}


def main():
    """Print what is drawn, one change a line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--each", type=int, default=1, help="changes for each row")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    for mutation in drawn(row_code(), options.each, options.seed):
        print(json.dumps(mutation, ensure_ascii=False))


if __name__ == "__main__":
    main()
