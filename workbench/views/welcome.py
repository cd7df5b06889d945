"""What the first page of a folder without sessions says: keys that lead on, and facts of the folder."""

from collections.abc import Iterator
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.rows import Action
from workbench.domain.values import Json
from workbench.text.safe import one_line
from workbench.views.status_icons import StatusName

_MAX_NAME_CELLS: Final = 60
WAY_TO_PAGE: Final = "1 leads to the keys of this page."
MORE_ROOM: Final = "60×10 or more shows the rest"


class WelcomeKey(Struct, frozen=True, kw_only=True):
    """A key of the page."""

    key: str
    words: str
    more: str
    """What it leads to, where there is room to say so."""


class WelcomeFacts(Struct, frozen=True, kw_only=True):
    """The page; names of the folder are safe already."""

    version: str
    keys: tuple[WelcomeKey, ...] = ()
    before: str = ""
    """Stands over the keys: what is typed goes to the composer first."""
    lines: tuple[str, ...] = ()
    """Said instead of the keys."""
    here: tuple[tuple[StatusName, str], ...] = ()

    def without_keys(self) -> "WelcomeFacts":
        """Return the page beside what has the focus, where its keys would do nothing."""
        known = tuple(
            fact for fact in self.here if fact[0] != "waiting"
        )  # the question itself stands beside it
        return replace(self, keys=(), before="", lines=(WAY_TO_PAGE,), here=known) if self.keys else self


_DEMO: Final = WelcomeKey(
    key="d",
    words="try the demo",
    more="a recorded agent, 2 minutes, no network, no key",
)
_NO_MODEL: Final = WelcomeKey(
    key="p", words="set up a model", more="llama.cpp, Ollama, any server with OpenAI's API"
)
_OTHER_MODELS: Final = WelcomeKey(key="p", words="set up models", more="how the file is written")
WRITE_FIRST: Final = "Write below what you want done; enter sends it.  Or esc, and then:"


def welcome_facts(
    version: str,
    *,
    has_model: bool,
    elsewhere: int,
    branch: str,
    pipelines: int | None,
    trust: Action | None,
    is_tiny: bool = False,
) -> WelcomeFacts:
    """Return the page of a folder.

    Args:
        version: of this program.
        has_model: whether a message can be written, in the composer that has the keys then.
        elsewhere: sessions of other folders.
        branch: that is checked out; empty where it is not known.
        pipelines: of the folder; None while nobody has looked.
        trust: the trust question, while it waits.
        is_tiny: whether places other than this page have no room.
    """
    found = f"{elsewhere:,} of other folders; " if elsewhere else ""
    sessions = WelcomeKey(
        key="5",
        words="bring sessions in",
        more=f"{found}I imports from other programs",
    )
    model = _OTHER_MODELS if has_model else _NO_MODEL
    here: list[tuple[StatusName, str]] = []
    if branch:
        here.append(("ok", f"git, {one_line(branch, _MAX_NAME_CELLS)}"))
    if pipelines:
        here.append(("ok", f"{pipelines} pipeline{'s' if pipelines > 1 else ''}"))
    here += _trust_words(trust)
    return WelcomeFacts(
        version=version,
        keys=(_DEMO, model) if is_tiny else (_DEMO, model, sessions),
        before=WRITE_FIRST if has_model and not is_tiny else "",
        lines=(MORE_ROOM,) if is_tiny else (),
        here=() if is_tiny else tuple(here),
    )


def _trust_words(trust: Action | None) -> Iterator[tuple[StatusName, str]]:
    if trust is None:
        return
    files = trust.subject.get("files")
    listed = cast("list[Json]", files) if isinstance(files, list) else ()
    names = [name for name in listed if isinstance(name, str)]
    what = one_line(names[0], _MAX_NAME_CELLS) if names else "this folder"
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    yield "waiting", f"{what}{more} not trusted yet, 2 asks"
