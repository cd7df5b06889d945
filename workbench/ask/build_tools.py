"""The build tools of a folder and the commands that each offers, read from their files (seed S3, Tool)."""

from msgspec import Struct


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
