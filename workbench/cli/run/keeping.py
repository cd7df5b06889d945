"""`run --record FILE`: keep what a model says as a recording.

Owns where that file may go: nothing that is there is written over.
"""

from pathlib import Path

from workbench.cli.errors import Refusal
from workbench.config.values import Config
from workbench.domain.rows import Session
from workbench.effects.private import write_atomic
from workbench.host.models import ProviderMaker, provider_of
from workbench.providers.base import Provider
from workbench.providers.recorder import Recorder


def recorded_to(name: str) -> ProviderMaker:
    """Return a maker of providers whose replies go into a file.

    Raises:
        Refusal: The file cannot be there, or is there.
    """
    try:
        path = Path(name).expanduser().absolute()
        is_taken, has_folder = path.exists() or path.is_symlink(), path.parent.is_dir()
    except (OSError, ValueError, RuntimeError):
        raise Refusal(
            "nothing was run", f"{name} is no name for a recording", "give --record a path"
        ) from None
    if is_taken:
        raise Refusal("nothing was run", f"{path} is there already", "name a new file with --record")
    if not has_folder:
        raise Refusal("nothing was run", f"there is no folder {path.parent}", "make it, or name another file")
    recorder = Recorder(lambda data: write_atomic(path, data))

    def make(session: Session, config: Config) -> Provider:
        return recorder.listening(provider_of(session, config))

    return make
