"""The build tools of a folder and the commands that each offers, read from their files (seed S3, Tool).

Pure: bytes become a tool or nothing. No file is obeyed: a Makefile is read line by line, never by `make`. A
file that is broken, hostile or offers nothing is passed over without a word, as S3 says.
"""

import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, cast

import orjson
from msgspec import Struct

from workbench.secrets.scrubber import scrub
from workbench.text.safe import has_hidden_characters, one_line
from workbench.text.yaml_nodes import parse_yaml

MOST_BUILD_FILE_BYTES: Final = 256 * 1024
"""Of a file that is read line by line the rest is passed over; any other that is larger is none at all."""
_MOST_DOTS: Final = 500
"""Dots in a line of TOML: the standard library takes time that grows with the square of a dotted key."""
MOST_COMMANDS: Final = 200
_LONGEST_NAME: Final = 200
_LONGEST_DESCRIPTION: Final = 200
_LONGEST_RULE: Final = 8_000
"""Characters of a rule that are read, with the lines it is continued on."""


class BuildCommand(Struct, frozen=True, kw_only=True):
    """A command of a build tool, as the tool names it."""

    name: str
    description: str = ""
    """One line; empty where the file says nothing about it."""


class BuildTool(Struct, frozen=True, kw_only=True):
    """A build tool that a file of the folder configures, and what it offers."""

    name: str
    """As it is spoken of: `make`, `npm`."""
    file: str
    """The file's name, relative to the folder."""
    usage: str
    """How a command is run, with `{}` for its name: `npm run {}`."""
    commands: tuple[BuildCommand, ...]

    def typed(self, command: BuildCommand) -> str:
        """Return how one of the commands is typed at a prompt; a name that a shell would read is quoted."""
        is_whole = self.name in _TYPED_WHOLE
        return self.usage.replace("{}", command.name if is_whole else shlex.quote(command.name))


_Pairs = Iterator[tuple[str, str]]
"""Names and descriptions as a file has them."""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _table(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _rows(value: object) -> list[Mapping[str, Any]]:
    return [_table(row) for row in cast("list[object]", value)] if isinstance(value, list) else []


# --- files that are read line by line ------------------------------------------------------------------


_MAKE_DIRECTIVE: Final = re.compile(
    r"(ifn?eq|ifn?def|else|endif|-?include|sinclude|export|unexport|override|private|vpath|load|undefine)\b"
)
_MAKE_ASSIGNMENT: Final = re.compile(r"\s*([^\s:#=$]+)\s*(\?|\+|!|:{1,3})?=\s*(.*)")
_MAKE_OWN_VARIABLE: Final = re.compile(
    r"\s*(?:(?:override|private|export|unexport)\s+)*[\w.-]+\s*(\?|\+|!|:{1,3})?="
)
_MAKE_REFERENCE: Final = re.compile(r"\$[({]([\w.-]+)[)}]")
_MAKE_CALL: Final = re.compile(r"\$?[({][^(){}]*[)}]")
"""A reference or a call without another one in it: what it comes to is not known, and it may hold a colon."""
_DEEPEST_CALL: Final = 8
_MAKE_INCLUDE: Final = re.compile(r"^(?:-include|s?include)[ \t]+([^$*?#\n]+)", re.MULTILINE)
_MOST_INCLUDED: Final = 20
_MAKE_COLON: Final = re.compile(r"(?<!\\):")


def _logical_lines(text: str) -> Iterator[str]:
    """Yield lines with those joined that a backslash continues."""
    parts: list[str] = []
    for line in text.splitlines():
        if line.endswith("\\"):
            parts.append(line[:-1])
            continue
        yield " ".join((*parts, line))
        parts.clear()
    if parts:
        yield " ".join(parts)


class _Makefile:
    """Reads the rules of a Makefile; both sides of every condition count."""

    def __init__(self) -> None:
        self.phony: set[str] = set()
        self._variables: dict[str, str] = {}
        self._defines = 0
        self._comment = ""
        self._prefix = "\t"

    def rules(self, text: str) -> _Pairs:
        for line in _logical_lines(text):
            words = line.split(None, 2)
            if words[:1] == ["define"] or words[:2] == ["override", "define"]:
                self._defines += 1
            elif self._defines:
                self._defines -= words[:1] == ["endef"]
            elif not line.startswith(self._prefix):
                yield from self._line(line)

    def _line(self, line: str) -> _Pairs:
        stripped = line.strip()
        comment, self._comment = self._comment, ""
        if stripped.startswith("#"):
            self._comment = stripped.strip("#!- \t")
        elif stripped and not _MAKE_DIRECTIVE.match(stripped) and not self._is_assignment(line):
            yield from self._rule(line, comment)

    def _is_assignment(self, line: str) -> bool:
        match = _MAKE_ASSIGNMENT.match(line)
        if not match:
            return False
        name, _, value = match.groups()
        if name == ".RECIPEPREFIX":
            self._prefix = value[:1] or "\t"
        # An assignment holds no rule; only plain values are of use here: names of files in targets.
        if "$" not in value and len(value) < _LONGEST_NAME:
            self._variables[name.rstrip("?+!")] = value.partition("#")[0].strip()
        return True

    def _rule(self, line: str, comment: str) -> _Pairs:
        rule, _, description = line.partition("##")
        rule = self._expanded(rule.partition(" #")[0])
        for _ in range(_DEEPEST_CALL):
            rule = _MAKE_CALL.sub("%", rule)
        targets, *after_colon = _MAKE_COLON.split(rule, maxsplit=1)
        if not after_colon or "=" in targets or after_colon[0].startswith("="):
            return
        needs = after_colon[0].removeprefix(":")
        if _MAKE_OWN_VARIABLE.match(needs):
            return
        names = targets.removesuffix("&").split()
        if names == [".PHONY"]:
            self.phony.update(needs.split())
        for name in names:
            if not re.search(r"[%$*?()]", name) and not (name.startswith(".") and "/" not in name):
                yield name.replace("\\", ""), description.strip() or comment

    def _expanded(self, rule: str) -> str:
        variables = self._variables
        return _MAKE_REFERENCE.sub(lambda match: variables.get(match[1], match[0]), rule[:_LONGEST_RULE])


def _make_commands(text: str) -> _Pairs:
    file = _Makefile()
    rules = list(file.rules(text))
    # What is declared phony is meant to be run; only where there are too many does the order matter.
    if len(rules) > MOST_COMMANDS:
        rules.sort(key=lambda rule: rule[0] not in file.phony)
    yield from rules


_JUST_RECIPE: Final = re.compile(
    r"""@?([A-Za-z_][A-Za-z0-9_-]*+)((?:"[^"\n]*"|'[^'\n]*'|`[^`\n]*`|[^:"'`\n])*+):(?!=)"""
)
_JUST_DOC: Final = re.compile(r"""\bdoc\s*(?:\(|:)\s*("[^"]*"|'[^']*')""")
_JUST_KEPT_OPEN: Final = ("'''", '"""', "```")


def _just_commands(text: str) -> _Pairs:
    comment, attributes, closing = "", "", ""
    for line in _logical_lines(text):
        if closing:
            closing = "" if closing in line else closing
        elif line[:1] in (" ", "\t"):
            continue
        elif line.startswith("#"):
            comment = line.strip("#! \t")
        elif line.startswith("["):
            attributes += line[: 4 * _LONGEST_NAME]
        else:
            closing = next((mark for mark in _JUST_KEPT_OPEN if line.count(mark) % 2), "")
            match = None if closing else _JUST_RECIPE.match(line)
            if match and not match[1].startswith("_") and "private" not in attributes:
                yield match[1], _just_description(match[2], comment, attributes)
            comment = attributes = ""


def _just_description(parameters: str, comment: str, attributes: str) -> str:
    doc = _JUST_DOC.search(attributes)
    description = doc[1][1:-1] if doc else comment
    takes = f"takes {' '.join(parameters.split())}" if parameters.strip() else ""
    return f"{description} ({takes})" if description and takes else description or takes


# --- documents -----------------------------------------------------------------------------------------


def _npm_commands(document: Mapping[str, Any]) -> _Pairs:
    for name, script in _table(document.get("scripts")).items():
        if isinstance(script, str):
            yield name, script


def _npm_name(document: Mapping[str, Any]) -> str:
    name = _text(document.get("packageManager")).partition("@")[0]
    return name if name in ("pnpm", "yarn", "bun") else "npm"


def _mise_commands(document: Mapping[str, Any]) -> _Pairs:
    for name, task in _table(document.get("tasks")).items():
        facts = _table(task)
        if facts.get("hide") is not True:
            yield name, _text(facts.get("description")) or _first_text(facts.get("run", task))


def _first_text(value: object) -> str:
    """Return a text, or the first of a list of texts."""
    return _text(next(iter(cast("list[object]", value)), "")) if isinstance(value, list) else _text(value)


def _task_commands(document: Mapping[str, Any]) -> _Pairs:
    for name, task in _table(document.get("tasks")).items():
        facts = _table(task)
        if facts.get("internal") is not True:
            description = _text(facts.get("desc")) or _text(facts.get("summary")).partition("\n")[0]
            yield name, description or _first_text(facts.get("cmds", facts.get("cmd", task)))


def _cargo_commands(document: Mapping[str, Any]) -> _Pairs:
    package = _table(document.get("package"))
    binaries = _rows(document.get("bin"))
    if package or "workspace" in document:
        yield "build", "compile it"
        yield "test", "run its tests"
        yield "check", "find errors without making a program"
    # A package without a library and without named programs has src/main.rs.
    if package.get("default-run") or (package and not binaries and "lib" not in document):
        yield "run", "run its program"
    for section, words in (
        ("bin", "run --bin"),
        ("example", "run --example"),
        ("test", "test --test"),
        ("bench", "bench --bench"),
    ):
        for row in _rows(document.get(section)):
            if name := _text(row.get("name")):
                yield f"{words} {shlex.quote(name)}", ""


_PYTHON_TASKS: Final = (
    ("project.scripts", ""), ("project.gui-scripts", ""), ("tool.poetry.scripts", "poetry run"),
    ("tool.poe.tasks", "poe"), ("tool.pdm.scripts", "pdm run"),
    ("tool.hatch.envs.default.scripts", "hatch run"), ("tool.rye.scripts", "rye run"),
    ("tool.pixi.tasks", "pixi run"), ("tool.taskipy.tasks", "task"),
)  # fmt: skip
"""Tables of pyproject.toml that name commands, and what is typed before one of them."""


def _python_commands(document: Mapping[str, Any]) -> _Pairs:
    for path, words in _PYTHON_TASKS:
        table: Mapping[str, Any] = document
        for part in path.split("."):
            table = _table(table.get(part))
        for name, task in table.items():
            if name.startswith("_"):
                continue
            facts = _table(task)
            description = _text(facts.get("help")) or _first_text(facts.get("cmd", facts.get("shell", task)))
            yield f"{words} {shlex.quote(name)}".strip(), description


def _compose_commands(document: Mapping[str, Any]) -> _Pairs:
    for name, service in _table(document.get("services")).items():
        facts = _table(service)
        build = facts.get("build")
        place = _text(build) or _text(_table(build).get("context"))
        yield name, _text(facts.get("image")) or (f"built from {place}" if place else "")


# --- the table of tools --------------------------------------------------------------------------------


def _toml(text: str) -> Mapping[str, Any]:
    if any(line.count(".") > _MOST_DOTS for line in text.splitlines()):
        raise ValueError("it is larger than such a file is")
    return tomllib.loads(text)


def _json(text: str) -> Mapping[str, Any]:
    return _table(orjson.loads(text))


def _yaml(text: str) -> Mapping[str, Any]:
    return _table(parse_yaml(text).value)


class _Parser(Struct, frozen=True, kw_only=True):
    name: str
    files: tuple[str, ...]
    """Names that its file can have; the first that is there counts."""
    usage: str
    commands: Callable[[Any], _Pairs]
    load: Callable[[str], Mapping[str, Any]] | None = None
    """Makes a document of the text; None where the text is read line by line."""


PARSERS: Final = (
    _Parser(
        name="make", files=("GNUmakefile", "makefile", "Makefile"), usage="make {}", commands=_make_commands
    ),
    _Parser(
        name="npm", files=("package.json",), usage="npm run {}", commands=_npm_commands, load=_json
    ),
    _Parser(
        name="mise", files=("mise.toml", ".mise.toml"), usage="mise run {}", commands=_mise_commands,
        load=_toml,
    ),
    _Parser(
        name="just", files=("justfile", "Justfile", ".justfile"), usage="just {}", commands=_just_commands
    ),
    _Parser(
        name="task", files=("Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml"),
        usage="task {}", commands=_task_commands, load=_yaml,
    ),
    _Parser(
        name="cargo", files=("Cargo.toml",), usage="cargo {}", commands=_cargo_commands, load=_toml
    ),
    _Parser(
        name="python", files=("pyproject.toml",), usage="{}", commands=_python_commands, load=_toml
    ),
    _Parser(
        name="docker compose",
        files=("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"),
        usage="docker compose up {}", commands=_compose_commands, load=_yaml,
    ),
)  # fmt: skip
_TYPED_WHOLE: Final = ("cargo", "python")
"""Tools whose commands have words of their own, each quoted already."""


def read_build_tools(read: Callable[[str, int], bytes | None]) -> tuple[BuildTool, ...]:
    """Return the build tools of a folder, each of which offers something.

    `read` gives the first bytes of a file, one more than the number it is given where there are more; None
    where there is no such file.
    """
    return tuple(filter(None, (_first_tool(parser, read) for parser in PARSERS)))


def _first_tool(parser: _Parser, read: Callable[[str, int], bytes | None]) -> BuildTool | None:
    for name in parser.files:
        if (data := read(name, MOST_BUILD_FILE_BYTES)) is not None:
            return parse_build_file(
                name, data + _included_rules(data, read) if parser.name == "make" else data
            )
    return None


def _included_rules(data: bytes, read: Callable[[str, int], bytes | None]) -> bytes:
    """Return what a Makefile includes by plain names of its own folder and those below."""
    text = data[:MOST_BUILD_FILE_BYTES].decode("utf-8", "replace")
    names = [name for match in _MAKE_INCLUDE.finditer(text) for name in match[1].split()]
    inside = [name for name in dict.fromkeys(names) if not name.startswith("/") and ".." not in name]
    left = MOST_BUILD_FILE_BYTES - len(data)
    parts: list[bytes] = []
    for name in inside[:_MOST_INCLUDED]:
        if left > 0 and (part := read(name, left)):
            parts.append(b"\n" + part[:left])
            left -= len(parts[-1])
    return b"".join(parts)


def parse_build_file(file: str, data: bytes) -> BuildTool | None:
    """Read one file of a build tool; None where it is broken, too large, or offers no command."""
    parser = next(parser for parser in PARSERS if file in parser.files)
    name, usage = parser.name, parser.usage
    try:
        if parser.load is None:
            pairs = parser.commands(data[:MOST_BUILD_FILE_BYTES].decode("utf-8", "replace").lstrip("\ufeff"))
        elif len(data) > MOST_BUILD_FILE_BYTES:
            return None
        else:
            document = parser.load(data.decode("utf-8-sig"))
            pairs = parser.commands(document)
            name = _npm_name(document) if name == "npm" else name
            usage = usage.replace("npm", name)
        commands = _bounded(pairs)
    except (ValueError, RecursionError):
        return None
    return BuildTool(name=name, file=file, usage=usage, commands=commands) if commands else None


def _bounded(pairs: Iterable[tuple[str, str]]) -> tuple[BuildCommand, ...]:
    """Return the first commands that have a usable name; the first description of a name counts."""
    descriptions_by_name: dict[str, str] = {}
    for name, description in pairs:
        if len(descriptions_by_name) >= MOST_COMMANDS and name not in descriptions_by_name:
            continue
        if name and len(name) <= _LONGEST_NAME and "\n" not in name and not has_hidden_characters(name):
            descriptions_by_name[name] = descriptions_by_name.get(name) or one_line(
                description[: 4 * _LONGEST_DESCRIPTION], 10_000
            )
    # One after the other would take milliseconds each.
    descriptions = scrub("\n".join(descriptions_by_name.values())).text.split("\n")
    if len(descriptions) != len(descriptions_by_name):
        descriptions = [scrub(text).text for text in descriptions_by_name.values()]
    return tuple(
        BuildCommand(name=name, description=one_line(text, _LONGEST_DESCRIPTION))
        for name, text in zip(descriptions_by_name, descriptions, strict=True)
    )
