"""The setting `output_format`: what each command of the table prints where its words name no form."""

import json

import pytest

from workbench.cli import dispatch
from workbench.cli.arguments import CommandParser, command_parser

OWN_FORM = {
    "ask": "its command is text for a shell",
    "approvals watch": "it reads answers",
    "replay": "it is the screen",
    "trust": "only --show prints data, and follows the setting",
    "sessions export": "the file has its own form; the report of --all follows the setting",
    "pipeline logs": "with --follow there is no end; without it the setting counts",
}
RUNS = {"run", "incidents run", "incidents resume", "pipeline run", "pipeline resume"}
LISTS = (
    "sessions list", "approvals list", "tools list", "rules list", "pipeline list", "providers list",
    "incidents list", "sessions stats", "config show", "ask logs", "ask --logs", "trust --show", "host status --all",
)  # fmt: skip


def commands(entry, path=()):
    for name, below in entry.below.items():
        yield from commands(below, (*path, name))
    if entry.module:
        yield " ".join(path), entry


def parsers():
    table = dispatch.CommandEntry(summary="", below=dispatch.COMMANDS)
    for path, entry in commands(table):
        command = dispatch.load_command(entry)
        yield path, command_parser(path.split(), entry.summary, command.example, command.configure)


def option(parser: CommandParser, name: str):
    return parser._option_string_actions.get(name)


@pytest.mark.spec(37, 43)
def test_every_command_that_can_print_json_follows_the_setting():
    found = dict(parsers())
    assert len(found) > 60
    with_json = {path for path, parser in found.items() if option(parser, "--json")}
    own = {path for path in with_json if option(found[path], "--json").default is not None}
    runs = {path for path in found if option(found[path], "--output-format")}
    assert runs == RUNS
    assert own - runs == OWN_FORM.keys()
    for path in with_json - own - runs:
        assert option(found[path], "--no-json") is option(found[path], "--json"), path
    assert {path for path in found if path.endswith(" list")} <= with_json


@pytest.fixture
def settings(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("WORKBENCH_HOME", str(folder))
    return folder / "config.json"


@pytest.mark.spec(37, 43)
def test_lists_print_json_where_the_setting_says_so(shell, settings, monkeypatch):
    monkeypatch.chdir(shell.workspace)
    settings.write_text('{"output_format": "json"}')
    for words in LISTS:
        assert shell(*words.split()) == 0, (words, shell.err)
        json.loads(shell.out)
    assert shell("tools", "list", "--no-json") == 0
    assert shell.out[:1].isalpha()
    settings.write_text('{"output_format": "human"}')
    assert (shell("tools", "list"), shell.out[:1].isalpha()) == (0, True)
    monkeypatch.setenv("WORKBENCH_OUTPUT_FORMAT", "json")
    assert shell("tools", "list") == 0
    json.loads(shell.out)


def test_a_setting_that_cannot_be_read_and_an_agent_leave_text(shell, settings, monkeypatch):
    settings.write_text("{")
    assert (shell("rules", "list"), shell.out[:1] == "[") == (0, False)
    settings.write_text('{"output_format": "json"}')
    monkeypatch.setattr("workbench.cli.output_format.default_home_path", lambda _: settings.parent)
    monkeypatch.setenv("WORKBENCH_AGENT", "1")
    monkeypatch.delenv("WORKBENCH_HOME")
    assert (shell("tools", "list"), shell.out[:1] == "[") == (0, False)
