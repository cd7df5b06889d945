"""A task of a Taskfile (go-task, version 3) as the steps of a pipeline; nothing of it is run.

A task becomes a command step, its `deps` the steps it depends on, a task that it calls the steps in between,
and its prompt a gate. What would run otherwise than Task runs it is a problem; the import is then refused.
"""

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.formats.workflows.task_values import INPUT, TaskValues, Value, read_values, scalar, subshell
from workbench.text.json_nodes import LocatedNode
from workbench.text.safe import one_line
from workbench.text.unused_names import unused_name
from workbench.text.yaml_nodes import YamlError, parse_yaml

MOST_STEPS: Final = 300
_MOST_EXPANSIONS: Final = 2_000
_MOST_NESTED: Final = 40
_MOST_BYTES: Final = 1_048_576
_MOST_VALUES: Final = 50_000
_MOST_PROBLEMS: Final = 20
DEFAULT_TASK: Final = "default"

_READ: Final = frozenset(
    {"cmds", "cmd", "deps", "desc", "vars", "env", "dir", "prompt", "preconditions", "ignore_error"}
)
_WITHOUT_EFFECT: Final = frozenset(
    {"summary", "silent", "aliases", "internal", "label", "interactive", "watch", "interval", "output",
     "requires", "version", "tasks", "includes", "failfast"}
)  # fmt: skip
_LEFT_OUT: Final = {
    "sources": "sources: the step runs each time, whether they changed or not",
    "generates": "generates: the step runs each time, whether the files are there or not",
    "status": "status: the step runs each time, whether it is up to date or not",
    "method": "method: no step is skipped because it is up to date",
    "run": "run: a task that several depend on runs once",
}
"""Keys that are left out with a sentence: the commands run all the same."""


class TaskfileRefused(ValueError):
    """A Taskfile, or a task of it, cannot be imported."""

    def __init__(self, problems: tuple[str, ...], tasks: tuple[str, ...] = ()) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems
        self.tasks = tasks
        """The tasks to choose from, where none was named."""


class ImportedPipeline(Struct, frozen=True, kw_only=True):
    """Steps in the form of a pipeline document."""

    name: str
    description: str
    steps: tuple[dict[str, object], ...]
    has_input: bool
    notes: tuple[str, ...]
    """What was left out, a sentence each."""


def read_taskfile(text: str, task: str = "", folder: str = "") -> ImportedPipeline:
    """Return a task of a Taskfile with all that it needs as steps. Raises TaskfileRefused.

    `task`: its name; empty for `default` or the only one. `folder`: of the file, relative to the project.
    """
    try:
        root = parse_yaml(text, most_bytes=_MOST_BYTES, most_values=_MOST_VALUES)
    except YamlError as error:
        raise TaskfileRefused((str(error),)) from None
    tasks = (root.members or {}).get("tasks")
    if tasks is None or not tasks.members:
        raise TaskfileRefused(("it has no tasks",))
    name = task or _only_task(tasks.members)
    expansion = _Expansion(root.members or {}, tasks.members, folder)
    expansion.expand(_Call(name=name, line=tasks.line), (), ())
    return expansion.result(name)


def _only_task(tasks: Mapping[str, LocatedNode]) -> str:
    names = [name for name, node in tasks.items() if scalar((node.members or {}).get("internal")) != "true"]
    if DEFAULT_TASK in names or len(names) == 1:
        return DEFAULT_TASK if DEFAULT_TASK in names else names[0]
    raise TaskfileRefused(("it has no task “default”, so one has to be named",), tuple(names))


class _Call(Struct, frozen=True, kw_only=True):
    """A task that another one names."""

    name: str
    line: int
    values: Mapping[str, Value] = field(default_factory=dict[str, Value])


class _Command(Struct, frozen=True, kw_only=True):
    text: str
    line: int
    ignores_error: bool = False


class _Expansion:
    """Makes steps of a task and of those that it names, and collects what does not map."""

    def __init__(
        self, root: Mapping[str, LocatedNode], tasks: Mapping[str, LocatedNode], folder: str
    ) -> None:
        self._tasks, self._root, self._folder = tasks, root, folder
        self._steps: list[dict[str, object]] = []
        self._ids: set[str] = set()
        self._done: dict[tuple[str, str], tuple[str, ...]] = {}
        self._problems: dict[str, None] = {}
        self._notes: dict[str, None] = {}
        self._expansions = 0
        self._values = TaskValues(self._add_problem)
        self._check_members(root, "the file", 1)

    def result(self, name: str) -> ImportedPipeline:
        if not self._steps and not self._problems:
            self._problems[f"the task “{one_line(name, 60)}” has no commands"] = None
        if self._problems:
            raise TaskfileRefused(tuple(self._problems)[:_MOST_PROBLEMS])
        members = self._tasks[name].members or {}
        return ImportedPipeline(
            name=_step_name(name), description=one_line(scalar(members.get("desc")), 300),
            steps=tuple(self._steps), has_input=self._values.has_input, notes=tuple(self._notes),
        )  # fmt: skip

    def _add_problem(self, line: int, text: str) -> None:
        self._problems[f"line {line}: {text}"] = None

    # --- steps ----------------------------------------------------------------------------------

    def expand(self, call: _Call, after: tuple[str, ...], path: tuple[str, ...]) -> tuple[str, ...]:
        """Add the steps of a task behind others; return the steps after which it is done."""
        self._expansions += 1
        shown = one_line(call.name, 60)
        if self._expansions > _MOST_EXPANSIONS or len(self._steps) > MOST_STEPS or len(path) > _MOST_NESTED:
            raise TaskfileRefused((f"it comes to more than {MOST_STEPS} steps",))
        if call.name in path:
            self._add_problem(call.line, f"the task “{shown}” needs itself")
            return after
        node = self._tasks.get(call.name)
        if node is None:
            self._add_problem(
                call.line, f"there is no task “{shown}” in this file; included files are not read"
            )
            return after
        return self._expand_task(call, node, after, (*path, call.name))

    def _expand_task(
        self, call: _Call, node: LocatedNode, after: tuple[str, ...], path: tuple[str, ...]
    ) -> tuple[str, ...]:
        members = node.members or {}
        self._check_members(members, f"the task “{one_line(call.name, 60)}”", node.line)
        own = {**read_values(members.get("vars")), **call.values}
        scope = {**read_values(self._root.get("vars")), **own, "TASK": Value(text=call.name, line=node.line)}
        needed = [
            done
            for item in _items(members.get("deps"))
            for done in self._need(self._call_of(item, scope), after, path)
        ]
        last = tuple(dict.fromkeys((*after, *needed)))
        last = self._ask(call, members, last)
        waiting: list[_Command] = []
        for item in _commands(node):
            called = self._part(item, scope)
            if isinstance(called, _Command):
                waiting.append(called)
                continue
            last = self._add_step(call, members, waiting, scope, last)
            waiting = []
            last = self.expand(called, last, path)
        return self._add_step(call, members, waiting, scope, last)

    def _need(self, call: _Call, after: tuple[str, ...], path: tuple[str, ...]) -> tuple[str, ...]:
        """Return the steps after which a dependency is done; one with the same values is made once."""
        key = (call.name, repr(sorted((name, value.text) for name, value in call.values.items())))
        if key not in self._done or call.name in path:
            self._done[key] = self.expand(call, after, path)
        return self._done[key]

    def _add_step(
        self, call: _Call, members: Mapping[str, LocatedNode], commands: list[_Command],
        scope: Mapping[str, Value], after: tuple[str, ...],
    ) -> tuple[str, ...]:  # fmt: skip
        if not commands:
            return after
        before = [*self._folder_lines(members, scope), *self._environment(members, scope)]
        before += self._precondition_lines(members, scope)
        texts = [self._values.fill(command.text, scope, command.line) for command in commands]
        is_lenient = scalar(members.get("ignore_error")) == "true"
        if before or len(texts) > 1 or is_lenient or commands[0].ignores_error:
            lines = [
                subshell(text) + (" || true" if is_lenient or command.ignores_error else "")
                for text, command in zip(texts, commands, strict=True)
            ]
            source = "\n".join(["set -e", *before, *lines]) + "\n"
        else:
            source = texts[0]
        if "{{" in source.replace(INPUT, ""):
            self._add_problem(commands[0].line, "its variables come to {{ }}, which a pipeline would fill in")
        return self._add(call.name, after, {
            "workspace": {"root": "./"}, "exec": {"type": "command", "source": source},
        })  # fmt: skip

    def _ask(
        self, call: _Call, members: Mapping[str, LocatedNode], after: tuple[str, ...]
    ) -> tuple[str, ...]:
        for item in _items(members.get("prompt")):
            choices = [{"key": "y", "label": "continue"}, {"key": "n", "label": "stop", "target": "_fail"}]
            gate: dict[str, object] = {"gate": {"prompt": scalar(item), "choices": choices}}
            after = self._add(f"{call.name}-ask", after, gate)
        return after

    def _add(self, name: str, after: tuple[str, ...], members: dict[str, object]) -> tuple[str, ...]:
        step_id = unused_name(_step_name(name), self._ids)
        self._ids.add(step_id)
        needs: dict[str, object] = {"dependencies": list(after)} if after else {}
        self._steps.append({"id": step_id, **needs, **members})
        return (step_id,)

    # --- what stands in front of commands -----------------------------------------------------------

    def _folder_lines(self, members: Mapping[str, LocatedNode], scope: Mapping[str, Value]) -> Iterator[str]:
        node = members.get("dir")
        if node is not None and not isinstance(node.value, str | None):
            self._add_problem(node.line, "dir is not a text")
        written = self._values.fill(scalar(node), scope, node.line) if node is not None else ""
        folder = posixpath.normpath(posixpath.join(self._folder, written)) if written or self._folder else "."
        if folder.startswith(("/", "..")) and node is not None:
            self._add_problem(node.line, "dir leads out of the project")
        elif folder != ".":
            yield f"cd {shlex.quote(folder)}"

    def _environment(self, members: Mapping[str, LocatedNode], scope: Mapping[str, Value]) -> Iterator[str]:
        for name, value in {
            **read_values(self._root.get("env")), **read_values(members.get("env")),
        }.items():  # fmt: skip
            filled = self._values.fill(value.text, scope, value.line)
            if value.problem or not re.fullmatch(r"[A-Za-z_]\w*", name):
                self._add_problem(value.line, f"env {one_line(name, 60)} {value.problem or 'is not a name'}")
            elif value.is_command:
                yield f'export {name}="${subshell(filled)}"'
            else:
                yield f"export {name}={shlex.quote(filled)}"

    def _precondition_lines(
        self, members: Mapping[str, LocatedNode], scope: Mapping[str, Value]
    ) -> Iterator[str]:
        for item in _items(members.get("preconditions")):
            inside = item.members or {"sh": item}
            test, message = scalar(inside.get("sh")), scalar(inside.get("msg"))
            filled = self._values.fill(test, scope, item.line)
            why = self._values.fill(message, scope, item.line) or f"a precondition does not hold: {filled}"
            said = shlex.quote(why)
            yield f"{subshell(filled)} || {{ echo {said} >&2; exit 1; }}"

    # --- reading --------------------------------------------------------------------------------

    def _check_members(self, members: Mapping[str, LocatedNode], what: str, line: int) -> None:
        for name, node in members.items():
            if name in _LEFT_OUT:
                self._notes[f"{what}: {_LEFT_OUT[name]}"] = None
            elif name not in _READ and name not in _WITHOUT_EFFECT:
                place = node.key_line or line
                self._add_problem(place, f"“{one_line(name, 60)}” of {what} has no counterpart in a pipeline")

    def _call_of(self, node: LocatedNode, scope: Mapping[str, Value]) -> _Call:
        members = node.members or {"task": node}
        for name, member in members.items():
            if name not in ("task", "vars", "silent"):
                self._add_problem(member.line, f"“{one_line(name, 60)}” has no counterpart in a pipeline")
        given = {
            name: replace(value, text=self._values.fill(value.text, scope, value.line))
            for name, value in read_values(members.get("vars")).items()
        }
        name = self._values.fill(scalar(members.get("task")), scope, node.line)
        return _Call(name=name.removeprefix(":"), line=node.line, values=given)

    def _part(self, node: LocatedNode, scope: Mapping[str, Value]) -> "_Command | _Call":
        """Return an item of `cmds`: a command, or a task that it calls."""
        members = node.members
        if members is None:
            return _Command(text=scalar(node), line=node.line)
        if "task" in members:
            return self._call_of(node, scope)
        for name, member in members.items():
            if name not in ("cmd", "silent", "ignore_error"):
                self._add_problem(member.line, f"“{one_line(name, 60)}” of a command has no counterpart")
        ignores = scalar(members.get("ignore_error")) == "true"
        return _Command(text=scalar(members.get("cmd")), line=node.line, ignores_error=ignores)


def _items(node: LocatedNode | None) -> tuple[LocatedNode, ...]:
    if node is None or node.value is None:
        return ()
    return node.items if node.items is not None else (node,)


def _commands(task: LocatedNode) -> tuple[LocatedNode, ...]:
    """Return the commands of a task, which may be the task itself."""
    members = task.members
    if members is None:
        return _items(task)
    return (*_items(members.get("cmds")), *_items(members.get("cmd")))


def _step_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "task"
