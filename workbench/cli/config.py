"""`workbench config show, validate, schema`: the configuration in effect, its problems, its schema."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from workbench.cli.arguments import add_json_option
from workbench.cli.console import Console
from workbench.cli.errors import EXIT_FAILED, EXIT_OK, Refusal
from workbench.config.config_schema import config_schema
from workbench.config.describe import config_as_json
from workbench.config.types import DEFAULT_ORIGIN, LoadedConfig
from workbench.domain.codec import to_json_value
from workbench.domain.values import Json
from workbench.text.canonical import dumps
from workbench.text.problems import Problem
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from workbench.cli.row_json import JsonFields

SHOW_EXAMPLE = "workbench config show --json"
configure_show = add_json_option


def execute_show(options: Namespace, console: Console) -> int:
    from workbench.effects.files import workspace_path
    from workbench.host import driver_context
    from workbench.tools.registry import tool_registry

    loaded = read_configuration(workspace_path(options.directory))
    wide_notes = driver_context.wide_allow_pattern_notes(loaded, tool_registry().descriptors())
    if options.json:
        facts = config_json(loaded)
        console.json({**facts, "notes": [*loaded.notes, *wide_notes]})
        return EXIT_OK
    console.say_lines(_setting_lines(config_as_json(loaded.config), loaded))
    console.note_lines(map(str, (*loaded.problems, *theme_problems(loaded))))
    print_ignored(loaded, console)
    console.note_lines(wide_notes)
    return EXIT_OK


def print_ignored(loaded: LoadedConfig, console: Console) -> None:
    """Say what a workspace that is not trusted asked for and did not get."""
    for setting in loaded.ignored:
        place = f"{setting.file} line {setting.line}" if setting.line else setting.file
        console.note(f"Ignored: {setting.key} in {place}: {setting.reason}")
    console.note_lines(loaded.notes)


def config_json(loaded: LoadedConfig) -> "JsonFields":
    """Return the configuration as JSON with the origin of each value."""
    return {
        "config": config_as_json(loaded.config),
        "origins": {key: origin.where() for key, origin in loaded.origins.items()},
        "problems": [problem_json(problem) for problem in loaded.problems],
        "ignored": to_json_value(loaded.ignored),
        "notes": list(loaded.notes),
    }


def problem_json(problem: Problem) -> "JsonFields":
    from workbench.cli.row_json import row_fields

    return {**row_fields(problem, "file line key message remedy fatal"), "line": problem.line or None}


def _setting_lines(values: Mapping[str, object], loaded: LoadedConfig, prefix: str = "") -> Iterable[str]:
    for name, value in values.items():
        key = f"{prefix}{name}"
        origin = loaded.origins.get(key)
        if isinstance(value, dict) and value and origin is None:
            yield from _setting_lines(cast("dict[str, Json]", value), loaded, f"{key}.")
            continue
        where = f"   ({origin.where()})" if origin else ""
        yield f"{key} = {one_line(dumps(cast('object', value)), 160)}{where}"


VALIDATE_EXAMPLE = "workbench config validate"
configure_validate = add_json_option


def execute_validate(options: Namespace, console: Console) -> int:
    """Validate; 1 when something is wrong."""
    from workbench.effects.files import workspace_path
    from workbench.host import driver_context
    from workbench.tools.registry import tool_registry

    loaded = read_configuration(workspace_path(options.directory))
    tools = tool_registry().descriptors()
    rules = driver_context.config_rule_problems(loaded, tools)
    all_problems = (*loaded.problems, *theme_problems(loaded), *rules)
    wide_notes = driver_context.wide_allow_pattern_notes(loaded, tools)
    code = EXIT_FAILED if all_problems else EXIT_OK
    if options.json:
        problems = [problem_json(problem) for problem in all_problems]
        console.json({"ok": not problems, "problems": problems, "notes": [*loaded.notes, *wide_notes]})
        return code
    console.note_lines(map(str, all_problems))
    print_ignored(loaded, console)
    console.note_lines(wide_notes)
    console.say(f"{len(all_problems)} wrong." if all_problems else "Nothing is wrong.")
    return code


def theme_problems(loaded: LoadedConfig) -> tuple[Problem, ...]:
    """Return what is wrong with the theme: only the screen knows which there are."""
    from workbench.render.theme import theme_problem

    problem, origin = theme_problem(loaded.config.ui.theme), loaded.origins.get("ui.theme", DEFAULT_ORIGIN)
    if not problem:
        return ()
    message, remedy = problem
    return (origin.problem("ui.theme", message, remedy),)


SCHEMA_EXAMPLE = """workbench config schema > config.schema.json"""


def configure_schema(parser: ArgumentParser) -> None:
    """Add the option that every command has which prints data; here it changes nothing."""
    add_json_option(parser, "accepted; the output is JSON in any case")


def execute_schema(options: Namespace, console: Console) -> int:
    del options
    console.json(cast("Json", config_schema()))
    return EXIT_OK


def read_configuration(workspace: str) -> LoadedConfig:
    """Return the settings of a workspace, given by its real path."""
    from workbench.cli.journal_access import open_journal
    from workbench.host.workspace_config import load_workspace_config

    with open_journal() as journal:
        return load_workspace_config(journal, workspace)


def require_valid_config(loaded: LoadedConfig, console: Console) -> None:
    """Print the problems of the configuration that a run is about to use."""
    from workbench.host import driver_context
    from workbench.tools.registry import tool_registry

    tools = tool_registry().descriptors()
    console.note_lines(map(str, (*loaded.problems, *driver_context.config_rule_problems(loaded, tools))))
    console.note_lines(driver_context.wide_allow_pattern_notes(loaded, tools))
    if not loaded.is_usable:
        raise Refusal("nothing was run", "the configuration cannot be used as it is", "correct it first")
