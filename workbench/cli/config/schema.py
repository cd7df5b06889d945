"""`workbench config schema`: the form of configuration files as JSON Schema, for editors."""

from argparse import ArgumentParser, Namespace
from typing import cast

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.config.schema import schema
from workbench.domain.values import Json

EXAMPLE = """workbench config schema > config.schema.json"""


def configure(parser: ArgumentParser) -> None:
    """Add the option that every command has which prints data; here it changes nothing."""
    parser.add_argument("--json", action="store_true", help="print a JSON object; it is one in any case")


def execute(options: Namespace, console: Console) -> int:
    """Print the schema."""
    del options
    console.json(cast("Json", schema()))
    return DONE
