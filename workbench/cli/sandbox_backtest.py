"""`workbench sandbox backtest`: which past questions about commands the sandbox would have answered."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from workbench.cli.arguments import add_json_option
from workbench.cli.config import read_configuration
from workbench.cli.console import Console
from workbench.cli.errors import UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import JsonFields, iso_time, row_fields
from workbench.effects.files import workspace_path
from workbench.host.sandbox_backtest import MOST_COMMANDS, backtest
from workbench.policy.sandbox_backtest import (
    STAY_NAMES,
    CommandQuestions,
    SandboxBacktest,
    backtest_text,
)
from workbench.text.human import DAY_MICROS

EXAMPLE = """workbench sandbox backtest
workbench sandbox backtest --days 30 --here --json"""
_NAME_CELLS = 28


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--days", type=int, metavar="N", help="only questions of the last N days (default: all)"
    )
    parser.add_argument("--here", action="store_true", help="only of this workspace")
    add_json_option(parser)


def execute(options: Namespace, console: Console) -> int:
    if options.days is not None and options.days < 1:
        raise UsageError(
            "nothing was counted", f"--days {options.days} is not a number of days", "name 1 or more"
        )
    folder = workspace_path(options.directory)
    level = read_configuration(folder).config.sandbox.level
    with open_journal() as journal:
        since = max(0, journal.now() - options.days * DAY_MICROS) if options.days else 0
        found = backtest(
            journal, folder if options.here else None, since, "workspace" if level == "outside" else level,
            lambda done, every: console.status(f"Looking at questions: {done:,} of {every:,}"),
        )  # fmt: skip
    console.clear_status()
    if level == "outside":
        console.note(
            "sandbox.level is outside here, so nothing runs inside; counted as if it were workspace."
        )
    return console.result(_backtest_json(found, since), _backtest_lines(found), is_json=options.json)


def _backtest_json(found: SandboxBacktest, since: int) -> JsonFields:
    return {
        "since": iso_time(since) if since else None,
        "only_newest": found.is_cut,
        "own": _counts_json(found.own),
        "imported": _counts_json(found.imported),
    }


def _counts_json(counts: CommandQuestions) -> JsonFields:
    return {
        "questions": counts.asked,
        "not_asked": counts.spared,
        "share": round(counts.share, 4),
        "stays": [row_fields(stay, "reason count examples") for stay in counts.stays],
    }


def _backtest_lines(found: SandboxBacktest) -> Iterator[str]:
    if not found.own.asked and not found.imported.asked:
        yield "No commands were asked about yet: the numbers come from questions of agents that run here."
        return
    if found.own.asked:
        yield from _counts_lines(backtest_text(found.own), found.own)
    if found.imported.asked:
        yield from _counts_lines(
            backtest_text(found.imported, "of other agents, in imported sessions,"), found.imported
        )
    if found.is_cut:
        yield f"These are the newest {MOST_COMMANDS:,} questions."


def _counts_lines(sentence: str, counts: CommandQuestions) -> Iterator[str]:
    yield sentence
    if counts.stays:
        yield "What is still asked about:"
    for stay in counts.stays:
        first, *more = stay.examples
        yield f"  {STAY_NAMES[stay.reason]:<{_NAME_CELLS}} {stay.count:>5,}  {first}"
        yield from (f"  {'':<{_NAME_CELLS}} {'':>5}  {example}" for example in more)
