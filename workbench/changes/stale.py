"""Whether the files that a proposal starts from are still what they were.

Owns the comparison by keyed digest. Never writes and never replaces a proposal.
"""

from collections.abc import Callable, Sequence

from workbench.changes.result import digest_of
from workbench.domain.values import FilePlan
from workbench.effects.files import FileRefused, Root


def moved(root: Root, files: Sequence[FilePlan], keyed: Callable[[bytes], str]) -> tuple[str, ...]:
    """Return the paths whose present bytes are not their base, in the order given.

    What can no longer be read as a plain file inside the workspace (a link, a folder) has moved too.
    """
    return tuple(file.path for file in files if not _is_base(root, file, keyed))


def _is_base(root: Root, file: FilePlan, keyed: Callable[[bytes], str]) -> bool:
    try:
        image = root.image(file.path)
    except FileRefused:
        return False
    return digest_of(image.data if image else None, keyed) == file.base
