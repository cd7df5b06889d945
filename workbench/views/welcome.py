"""What the first page of a folder without sessions says: keys that lead on, facts, what can be imported."""

from collections.abc import Iterator, Sequence
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.rows import Action
from workbench.domain.values import Json
from workbench.text.human import counted, size_text
from workbench.text.safe import one_line
from workbench.views.providers import FoundModel
from workbench.views.status_icons import StatusName

_MOST_NAMED = 3


class ImportOffer(Struct, frozen=True, kw_only=True):
    """What an import of everything would read."""

    agents: tuple[str, ...]
    """Names of the agents that have sessions here."""
    files: int
    """New and changed files of all of them."""
    size: int
    """Their bytes."""

    @property
    def question(self) -> str:
        """Return what is asked before a path is typed."""
        if not self.files:
            return f"All of {names_text(self.agents)} is imported. Another file or folder"
        new = f"{counted(self.files, 'file')} of {names_text(self.agents)}, {size_text(self.size)}"
        return f"Enter imports {new}; or a path"


def names_text(agents: Sequence[str]) -> str:
    """Return the first names of several agents: `Claude Code, Codex and 2 more`."""
    more = len(agents) - _MOST_NAMED
    shown = ", ".join(agents[:_MOST_NAMED])
    return f"{shown} and {more} more" if more > 0 else shown


_MAX_NAME_CELLS: Final = 60
_MAX_ADDED_CELLS: Final = 120
NOTHING_FOUND: Final = "No model answers here, and no key is set."
WHEN_NOTHING_FOUND: Final = (
    "Start Ollama, llama.cpp or LM Studio, or set OPENAI_API_KEY before workbench;"
    " r looks again, p adds any other."
)
READING_CALLS: Final = "looking for models …"
FOUND: Final = "Found; its key adds it to config.json and uses it:"
_MAX_FOUND_TINY: Final = 2
"""Found models that are listed where there is room for little else."""
MORE_ROOM: Final = "60×10 or more shows the rest"


class ModelSearch(Struct, frozen=True, kw_only=True):
    """What a look around this machine has found."""

    is_over: bool = False
    """Whether the look has ended."""
    found: tuple[FoundModel, ...] = ()
    why_not: str = ""
    """Why nothing could be looked for."""


def found_text(found: FoundModel) -> str:
    """Return what was found as one line: where, and which model."""
    return one_line(", ".join(part for part in (found.source, found.model) if part), _MAX_ADDED_CELLS)


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

    def beside_question(self) -> "WelcomeFacts":
        """Return the page beside the queue, where the question itself stands."""
        return replace(self, here=tuple(fact for fact in self.here if fact[0] != "waiting"))


_DEMO: Final = WelcomeKey(
    key="d",
    words="try the demo",
    more="a recorded agent, 2 minutes, no network, no key",
)
_NO_MODEL: Final = WelcomeKey(
    key="p", words="set up a model", more="llama.cpp, Ollama, any server with OpenAI's API"
)
_OTHER_MODELS: Final = WelcomeKey(
    key="p", words="set up models", more="add one, choose one, see what was found"
)
_WRITE_FIRST: Final = "Write below what you want done; enter sends it."
_WORKTREE: Final = " ctrl+n gives it a git worktree of its own."
_NO_WORKTREE: Final = " There is no git repository here, so no worktree."
_OR_KEYS: Final = "  Or esc, and then:"


def welcome_facts(
    version: str,
    *,
    has_model: bool,
    elsewhere: int,
    agents: Sequence[str] = (),
    branch: str | None,
    pipelines: int | None,
    trust: Action | None,
    is_tiny: bool = False,
    search: ModelSearch | None = None,
    added: str = "",
    keys_of_found: Sequence[str] = (),
    connectable: Sequence[str] = (),
    sandbox: str = "",
) -> WelcomeFacts:
    """Return the page of a folder.

    Args:
        version: of this program.
        has_model: whether a message can be written, in the composer that has the keys then.
        elsewhere: sessions of other folders.
        agents: names of other agents that have sessions on this machine.
        branch: that is checked out; empty where there is none, None while nobody has looked.
        pipelines: of the folder; None while nobody has looked.
        trust: the trust question, while it waits.
        is_tiny: whether places other than this page have no room.
        search: what a look around this machine has found; None where a model is set up.
        added: what this screen added to the configuration, and how that is undone.
        keys_of_found: the keys that take what was found, in its order.
        connectable: names of other agents on this machine, while none of them is connected.
        sandbox: what there is to say of the sandbox of commands.
    """
    others = f"{elsewhere:,} of other folders; " if elsewhere else ""
    sessions = WelcomeKey(
        key="5",
        words="bring sessions in",
        more=f"{others}I imports {f'those of {names_text(agents)}' if agents else 'from other programs'}",
    )
    model = _OTHER_MODELS if has_model else _NO_MODEL
    here: list[tuple[StatusName, str]] = []
    if branch:
        here.append(("ok", f"git, {one_line(branch, _MAX_NAME_CELLS)}"))
    if pipelines:
        here.append(("ok", f"{pipelines} pipeline{'s' if pipelines > 1 else ''}"))
    if added:
        here.append(("ok", one_line(added, _MAX_ADDED_CELLS)))
    if connectable:
        here.append(("todo", f"{names_text(connectable)}: c lets them ask here"))
    if sandbox:
        here.append(("todo", one_line(sandbox, _MAX_ADDED_CELLS)))
    here += _trust_words(trust)
    found = _found_keys(search, keys_of_found)
    is_looking = search is not None and not search.is_over
    if is_tiny:
        small = (*found[:_MAX_FOUND_TINY], model, _DEMO) if found else (_DEMO, model)
        return WelcomeFacts(version=version, keys=small, lines=(READING_CALLS if is_looking else MORE_ROOM,))
    return WelcomeFacts(
        version=version,
        keys=(*found, model, _DEMO, sessions) if found else (_DEMO, model, sessions),
        before=_write_words(branch) if has_model else _search_words(search),
        here=tuple(here),
    )


def _write_words(branch: str | None) -> str:
    """Return what stands over the keys of a page with a model."""
    worktree = "" if branch is None else _WORKTREE if branch else _NO_WORKTREE
    return f"{_WRITE_FIRST}{worktree}{_OR_KEYS}"


def _found_keys(search: ModelSearch | None, keys: Sequence[str]) -> tuple[WelcomeKey, ...]:
    found = search.found if search is not None else ()
    return tuple(
        WelcomeKey(key=key, words=found_text(model), more="use it" if model.model else "choose a model")
        for key, model in zip(keys, found, strict=False)
    )


def _search_words(search: ModelSearch | None) -> str:
    """Return what stands over the keys of a page without a model."""
    if search is None:
        return ""
    if not search.is_over:
        return READING_CALLS
    if search.found:
        return FOUND
    return f"{search.why_not or NOTHING_FOUND} {WHEN_NOTHING_FOUND}"


def _trust_words(trust: Action | None) -> Iterator[tuple[StatusName, str]]:
    if trust is None:
        return
    files = trust.subject.get("files")
    listed = cast("list[Json]", files) if isinstance(files, list) else ()
    names = [name for name in listed if isinstance(name, str)]
    what = one_line(names[0], _MAX_NAME_CELLS) if names else "this folder"
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    yield "waiting", f"{what}{more} not trusted yet; 2 shows the question"
