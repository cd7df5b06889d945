"""`workbench config show`: every setting in effect and where it comes from."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping
from typing import cast

from workbench.cli.config.reading import read
from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.place import workspace_of
from workbench.cli.render.facts import Facts
from workbench.config.describing import as_dict
from workbench.config.values import Loaded, Problem
from workbench.domain.codec import plain
from workbench.domain.values import Json
from workbench.host import config_rules
from workbench.text.canonical import dumps
from workbench.text.safe import one_line
from workbench.tools.registry import catalogue

EXAMPLE = "workbench config show --json"


def configure(parser: ArgumentParser) -> None:
    """Add how it prints."""
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Show the configuration."""
    loaded = read(workspace_of(options.directory))
    wide = config_rules.notes(loaded, catalogue().descriptors())
    if options.json:
        facts = config_facts(loaded)
        console.json({**facts, "notes": [*loaded.notes, *wide]})
        return DONE
    for line in _lines(as_dict(loaded.config), loaded):
        console.say(line)
    for problem in loaded.problems:
        console.note(str(problem))
    tell_ignored(loaded, console)
    for note in wide:
        console.note(note)
    return DONE


def tell_ignored(loaded: Loaded, console: Console) -> None:
    """Say what a workspace that is not trusted asked for and did not get."""
    for found in loaded.ignored:
        place = f"{found.file} line {found.line}" if found.line else found.file
        console.note(f"Ignored: {found.key} in {place}: {found.reason}")
    for note in loaded.notes:
        console.note(note)


def config_facts(loaded: Loaded) -> Facts:
    """Return the configuration as JSON with the origin of each value."""
    return {
        "config": as_dict(loaded.config),
        "origins": {key: origin.where() for key, origin in loaded.origins.items()},
        "problems": [problem_facts(problem) for problem in loaded.problems],
        "ignored": plain(loaded.ignored),
        "notes": list(loaded.notes),
    }


def problem_facts(problem: Problem) -> Facts:
    """Return a problem as JSON."""
    return {
        "file": problem.file,
        "line": problem.line,
        "key": problem.key,
        "message": problem.message,
        "remedy": problem.remedy,
        "fatal": problem.fatal,
    }


def _lines(values: Mapping[str, object], loaded: Loaded, prefix: str = "") -> Iterable[str]:
    for name, value in values.items():
        key = f"{prefix}{name}"
        origin = loaded.origins.get(key)
        if isinstance(value, dict) and value and origin is None:
            yield from _lines(cast("dict[str, Json]", value), loaded, f"{key}.")
            continue
        where = f"   ({origin.where()})" if origin else ""
        yield f"{key} = {one_line(dumps(cast('object', value)), 160)}{where}"
