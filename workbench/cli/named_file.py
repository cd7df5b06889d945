"""The bytes of a file that a command line names, or why there are none."""

from pathlib import Path

from workbench.cli.errors import Refusal
from workbench.effects.file_primitives import FileRefused
from workbench.effects.path_files import read_bounded
from workbench.text.safe import one_line


def read_named_file(path: Path, most: int, *, nothing: str, remedy: str) -> bytes:
    """Return the content of a file of at most `most` bytes.

    Raises Refusal: it cannot be read, or is not there. `nothing` says what was not done, and `remedy` what to
    name instead of a file that is not there.
    """
    named = one_line(str(path), 120)
    try:
        data = read_bounded(path, most)
    except FileRefused as error:
        raise Refusal(nothing, f"{named}: {error.why}", error.remedy) from None
    if data is None:
        raise Refusal(nothing, f"there is no file {named}", remedy)
    return data


def named_pipeline(name: str) -> str:
    """Return a typed name of a pipeline; that of a file, which is relative to here, as an absolute path."""
    return str(Path(name).absolute()) if Path(name).is_file() else name
