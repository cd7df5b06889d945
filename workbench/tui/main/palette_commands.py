"""What the command palette finds: commands, settings, files and messages, and their order.

Commands of the current place come first. A command of another place leads there and says its key: what it
is about is under the cursor there, and nobody has looked at that yet. What is in memory is found at once;
files and messages are searched in a thread, each bounded.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from workbench.config.types import CONFIG_KEYS
from workbench.domain.events import Event
from workbench.domain.rows import Session
from workbench.journal import search
from workbench.render import cells
from workbench.text.human import sentence
from workbench.text.safe import one_line
from workbench.tui.conversation.completion import COMMAND_ALIASES, SLASH_COMMANDS, best_file_matches
from workbench.tui.keyboard import keymap
from workbench.tui.places import PLACES, place_key, place_key_id
from workbench.views.conversation_search import MAX_SEARCH_CHARS, block_hits
from workbench.views.library import SearchTerm, fts_expression, parse_query, search_hit
from workbench.views.sessions import session_title

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.pane import Pane
    from workbench.tui.rules.rules_screen import RulesScreen


class PaletteEntry(Struct, frozen=True, kw_only=True):
    """One thing that can be done."""

    id: str
    words: str
    group: str
    """The heading under which it stands."""
    do: Callable[[], None]
    state: str = ""
    keys: str = ""
    name: str = ""
    """What it is called for short: the same word typed is a full match."""
    aliases: str = ""
    """Other words by which people look for it."""
    why_off: str = ""
    """Why it would do nothing now; doing it says so."""
    about: str = ""
    """A sentence about it that stands behind its words."""
    weight: int = 0
    """The less it is, the further up it stands among those that match as well."""
    theme: str = ""
    """The theme that it puts in force, shown while the cursor is on it."""


_STOP_WORDS: Final = frozenset(
    (
        "a", "an", "and", "are", "can", "could", "do", "does", "for", "from", "get", "have", "how", "i", "in",
        "is", "it", "me", "much", "my", "of", "on", "or", "please", "should", "that", "the", "there", "this",
        "to", "want", "what", "where", "with", "would", "you",
    )
)  # fmt: skip
"""Words of a question that say nothing about what is looked for."""


def ranked_entries(entries: Iterable[PaletteEntry], wanted: str) -> list[PaletteEntry]:
    """Return the entries that hold every typed word that counts, the best first and the unusable last.

    The best is what is called exactly so, then what begins so, holds a word that begins so, or is
    known by it; of equals what can be done here and now.
    """
    text = wanted.casefold().strip()
    words = counting_words(text)

    def rank(entry: PaletteEntry) -> tuple[bool, int, int]:
        match = min(_distance(entry, text), max(_distance(entry, word) for word in words)) if words else 0
        return bool(entry.why_off), match, entry.weight

    return sorted((entry for entry in entries if _matches(entry, words)), key=rank)


def counting_words(text: str) -> list[str]:
    """Return the words of a phrase without those of a question; all where nothing else is left."""
    words = text.casefold().split()
    return [
        word for word in (word.strip("?!,.") for word in words) if word and word not in _STOP_WORDS
    ] or words


def _distance(entry: PaletteEntry, text: str) -> int:
    """Return how far the words of an entry are from a typed text; the less, the better."""
    words, aliases = entry.words.casefold(), f" {entry.aliases} ".casefold()
    first = words.split(maxsplit=1)[0].lstrip("/") if words else ""
    places = (
        f" {text} " in aliases or text in (words, first, entry.name), words.startswith(text),
        f" {text}" in words, f" {text}" in aliases, True,
    )  # fmt: skip
    return places.index(True)


def _matches(entry: PaletteEntry, words: Sequence[str]) -> bool:
    """Return whether an entry has every word; of a sentence about it only words that begin so."""
    names = f"{entry.words} {entry.name} {entry.group} {entry.aliases}".casefold()
    about = f" {entry.about.casefold()}"
    return all(word in names or f" {word}" in about for word in words)


def matching_aliases(entry: PaletteEntry, wanted: str) -> str:
    """Return the other words of an entry that are looked for and that its own words do not say."""
    typed = [word for word in counting_words(wanted) if word not in entry.words.casefold()]
    return " ".join(alias for alias in entry.aliases.split() if any(word in alias for word in typed))


def holds_all_words(words: str, wanted: str) -> bool:
    """Return whether words hold every typed word, whatever the case."""
    text = words.casefold()
    return all(word in text for word in wanted.casefold().split())


def call_with(do: Callable[[str], object], argument: str) -> Callable[[], None]:
    """Return how something is done with an argument."""

    def done() -> None:
        do(argument)

    return done


MIN_QUERY_LETTERS: Final = 2
"""Characters from which on more than commands is looked for: one letter is everywhere."""
_MAX_PER_SOURCE: Final = 6
"""Rows of a kind, where all kinds are looked for at once."""
_TITLE_CELLS: Final = 24
_EXCERPT_CELLS: Final = 72


class PaletteSources:
    """Looks for what is typed, on behalf of the palette over a main screen."""

    def __init__(self, context: "MainContext", show: Callable[[str], None]) -> None:
        """Remember who is asked; `show` shows a session, of this workspace or another."""
        self._context, self._show = context, show
        self._files: Sequence[str] | None = None

    def near(self, text: str) -> list[PaletteEntry]:
        """Return what the screen knows already: what waits and was decided, steps, sessions."""
        if len(text.strip()) < MIN_QUERY_LETTERS:
            return []
        return [
            *islice(self._actions(text), _MAX_PER_SOURCE),
            *islice(self._steps(text), _MAX_PER_SOURCE),
            *islice(self._sessions(text), _MAX_PER_SOURCE),
        ]

    def far(self, text: str) -> list[PaletteEntry]:
        """Return what has to be read: files, words of conversations. Called in a thread."""
        if len(text.strip()) < MIN_QUERY_LETTERS:
            return []
        return [*self._found_files(text), *self._messages(text[:MAX_SEARCH_CHARS]), self._library(text)]

    # --- what is known ----------------------------------------------------------------------------

    def _actions(self, text: str) -> Iterator[PaletteEntry]:
        state = self._context.state
        rows = sorted(
            state.actions.values(),
            key=lambda action: (action.state != "pending", -action.created_at, action.id),
        )
        for action in rows:
            session = state.sessions.get(action.session_id)
            words = f"{action.verb} {action.target}"
            if holds_all_words(f"{words} {session.title if session else ''}", text):
                said = "waits" if action.state == "pending" else action.state
                yield PaletteEntry(
                    id=f"action-{action.id}", words=_safe_text(words), group="What was asked", state=said,
                    do=call_with(self._to_action, action.id),
                )  # fmt: skip

    def _to_action(self, action_id: str) -> None:
        self._context.show_action(action_id)

    def _steps(self, text: str) -> Iterator[PaletteEntry]:
        state = self._context.state
        run = state.runs.view(state.actions.values(), state.source.now())
        for step in run.steps if run is not None else ():
            if holds_all_words(f"{step.name} {step.id} {step.persona}", text):
                yield PaletteEntry(
                    id=f"step-{step.id}", words=step.name, group="Steps", state=step.state,
                    do=call_with(self._to_step, step.id),
                )  # fmt: skip

    def _to_step(self, step_id: str) -> None:
        self._context.go_to(self._context.widgets.pipeline.PLACE)
        self._context.widgets.pipeline.graph.put_cursor(step_id)

    def _sessions(self, text: str) -> Iterator[PaletteEntry]:
        for session in self._context.state.sessions.values():
            if holds_all_words(session.title, text):
                yield PaletteEntry(
                    id=f"session-{session.id}", words=_safe_text(session_title(session)),
                    group="Sessions", state=session.status, do=call_with(self._show, session.id),
                )  # fmt: skip

    # --- what is read -----------------------------------------------------------------------------

    def _found_files(self, text: str) -> Iterator[PaletteEntry]:
        if self._files is None:
            self._files = tuple(self._context.folders.backend.list_files())
        for path in best_file_matches(self._files, text.strip())[:_MAX_PER_SOURCE]:
            yield PaletteEntry(
                id=f"file-{path}",
                words=_safe_text(path),
                group="Files",
                do=call_with(self.mention, path),
            )

    def mention(self, path: str) -> None:
        """Name a file in the composer."""
        composer = self._context.widgets.composer
        composer.focus_input()
        composer.input.insert(f"@{path} ")

    def _messages(self, text: str) -> Iterator[PaletteEntry]:
        query = parse_query(text)
        expression = fts_expression(query)
        if not expression:
            return
        journal = self._context.app.journal
        with journal.snapshot() as database:
            matches = search.newest_matches(database, expression, _MAX_PER_SOURCE, query.options)
        for session_id, number in matches:
            session, events = journal.session(session_id), journal.window(session_id, number, 1)
            if session is not None and events:
                yield self._message(session, events[0], query.terms)

    def _message(self, session: Session, event: Event, terms: Sequence[SearchTerm]) -> PaletteEntry:
        said = search_hit(event, terms, _EXCERPT_CELLS)

        def go() -> None:
            self._show(session.id)
            hits = [hit for term in terms for hit in block_hits(event, term.text)]
            if (
                hits
                and self._context.state.current is not None
                and self._context.state.current.id == session.id
            ):
                self._context.widgets.conversation.show_place_of(hits[0])

        return PaletteEntry(
            id=f"words-{event.id}", words=said.text, group="What was said",
            state=f"{said.who}  {one_line(session_title(session), _TITLE_CELLS)}", do=go,
        )  # fmt: skip

    def _library(self, text: str) -> PaletteEntry:
        def go() -> None:
            self._context.open_library(text)

        words = f"Search all sessions for “{one_line(text, 40)}”"
        return PaletteEntry(id="search-all", words=words, group="Library", keys=place_key("library"), do=go)


def _safe_text(text: str) -> str:
    return cells.safe_content(text).plain


KEY_COMMANDS: Final = {
    "stop": "app.agent-stop", "new": "app.session-new", "help": "app.help", "quit": "app.leave",
    **{name: place_key_id(name) for name in ("library", "rules", "statistics", "findings")},
}  # fmt: skip
"""Commands of the composer that are another way to press a key."""
_TITLES: Final = {
    "app.help": "keys and signs, all of them", "app.pane-next": "next pane",
    "rail.replay": "replay this session from its beginning",
    "library.replay": "replay this session from its beginning",
    "library.send": "export it to a file; its ending says how",
}  # fmt: skip
"""Words of keys that say less on the page of keys, where the reader is already."""
THEME_ALIASES: Final = "change colours colors appearance dark light skin"
_COMMAND, _ELSEWHERE, _SETTING = range(3)
"""How much an entry is worth beside others that match as well; the less comes first."""


class PaletteCommands:
    """Makes the entries of one palette: over a main screen, or over a page that lies on it."""

    def __init__(
        self, context: "MainContext", inner: Sequence[str], pane: "Pane | None", page: "RulesScreen | None"
    ) -> None:
        """Look at what is on show.

        Args:
            context: of the main screen.
            inner: scopes of keys that count there before those of panes.
            pane: what has the focus there.
            page: what lies over it and has the keys.
        """
        self._context, self._inner, self._page = context, inner, page
        self._pane = None if page is not None else pane

    def here(self) -> Iterator[PaletteEntry]:
        """Yield what can be done where the user is, then everywhere, then what has no key."""
        yield from self._of_page()
        yield from self._of_scopes()
        yield from self._of_composer()
        yield from self._pages()
        yield from self._themes()

    def elsewhere(self) -> Iterator[PaletteEntry]:
        """Yield what is found by words only: commands of other places, and settings."""
        if not self._is_replay:
            yield from self._of_other_places()
        yield from self._settings()

    # --- keys -------------------------------------------------------------------------------------

    def _of_page(self) -> Iterator[PaletteEntry]:
        page = self._page
        if page is None:
            return
        for key in keymap.keys_of_scopes(["rules"]):
            if key.in_palette:
                do = call_with(page.action_do, key.id)
                yield self._entry(key, page.NAME, do, why_off=key.why_off(page))

    def _of_scopes(self) -> Iterator[PaletteEntry]:
        pane = self._pane
        for key in keymap.keys_of_scopes([*self._inner, *(pane.scopes() if pane else ()), "app", "agents"]):
            if not key.in_palette and key.id not in _TITLES:
                continue
            is_ours = key.scope == "app" or key.scope in self._inner
            if key.scope == "agents":
                yield self._entry(key, "Everywhere", call_with(self._context.app.action_do, key.id))
            elif is_ours or pane is None:
                yield self._entry(key, "Everywhere", self._below(call_with(self._context.do_key, key.id)))
            else:
                do = call_with(pane.action_do, key.id)
                yield self._entry(key, pane.NAME, do, why_off=pane.why_not(key.id))

    def _of_other_places(self) -> Iterator[PaletteEntry]:
        here = set(self._pane.scopes()) if self._pane is not None else set[str]()
        here |= {"rules"} if self._page is not None else set()
        for number, place in enumerate(PLACES):
            for key in keymap.keys_of_scopes(scope for scope in place.scopes if scope not in here):
                if key.in_palette and key.print:
                    do = self._leading_to(number, key)
                    yield self._entry(key, place.name.capitalize(), do, _ELSEWHERE)

    def _leading_to(self, place: int, key: keymap.Key[Any]) -> Any:
        def go() -> None:
            self._context.go_to(place)
            say = getattr(self._context.app.screen, "say", self._context.say)
            say(sentence(f"{self._printed(key)}: {key.tooltip}"))

        return self._below(go)

    def _entry(
        self, key: keymap.Key[Any], group: str, do: Any, weight: int = _COMMAND, *, why_off: str = ""
    ) -> PaletteEntry:
        name = key.label.rstrip("…").casefold()
        words = _TITLES.get(key.id, key.tooltip)
        slash = [f"/{name}" for name, key_id in KEY_COMMANDS.items() if key_id == key.id]
        return PaletteEntry(
            id=key.id, words=_capital(words), group=group, do=do, why_off=why_off, weight=weight,
            keys=self._printed(key), name=name,
            aliases=_other_words(f"{name} {key.aliases} {' '.join(slash)}", words),
        )  # fmt: skip

    def _printed(self, key: keymap.Key[Any]) -> str:
        return keymap.own_key(key, self._context.app.user_keys)

    @property
    def _is_replay(self) -> bool:
        return "replay" in self._inner

    def _below(self, do: Any) -> Any:
        """Return what leaves the page first: it is about the screen on which the page lies."""
        page = self._page
        if page is None:
            return do

        def done() -> None:
            page.dismiss()
            self._context.app.call_later(do)

        return done

    # --- without a key ----------------------------------------------------------------------------

    def _of_composer(self) -> Iterator[PaletteEntry]:
        """Yield the commands of the composer that no key does; a replay has no composer."""
        from workbench.tui.main.slash_commands import run_slash_command

        if self._is_replay:
            return
        for name, words in SLASH_COMMANDS:
            if name[1:] not in KEY_COMMANDS:
                do = call_with(lambda name: run_slash_command(self._context, name, ""), name[1:])
                yield PaletteEntry(
                    id=f"composer.{name}", words=f"{name}  {words}", group="Composer", do=self._below(do),
                    aliases=_other_words(COMMAND_ALIASES.get(name, ""), f"{name} {words}"),
                )  # fmt: skip

    def _pages(self) -> Iterator[PaletteEntry]:
        from workbench.tui.main.setting_page import open_settings

        context = self._context
        yield PaletteEntry(
            id="screen.settings", words="Settings: what each does, where it is set", group="Screen",
            aliases="config configuration preferences options customize",
            do=lambda: open_settings(context),
        )  # fmt: skip
        providers = context.providers
        yield PaletteEntry(
            id="screen.providers", words="Models and providers: choose one, see keys", group="Screen",
            aliases="provider api key llm openai ollama anthropic claude gpt set up",
            do=self._below(providers.open_list),
        )  # fmt: skip
        yield PaletteEntry(
            id="screen.provider-add", words="Add a provider", group="Screen",
            aliases="new model api key llm openai ollama connect login",
            do=self._below(providers.open_form),
        )  # fmt: skip
        if self._is_replay:
            return
        yield PaletteEntry(
            id="screen.agents", words="Agents: connect Claude Code, Codex and others", group="Screen",
            aliases="hooks bridge gemini qwen opencode disconnect", do=self._below(context.agents.open_list),
        )  # fmt: skip
        yield PaletteEntry(
            id="screen.trust", words="Trust of this folder: how it is changed", group="Screen",
            aliases="untrust revoke safe hooks permission", do=self._below(self._trust),
        )  # fmt: skip

    def _trust(self) -> None:
        asked = next((action for action in self._context.state.pending if action.kind == "trust"), None)
        if asked is not None:
            self._context.show_action(asked.id)
        else:
            self._context.say("workbench trust --show says it; workbench trust and trust --revoke change it.")

    def _themes(self) -> Iterator[PaletteEntry]:
        app = self._context.app
        for name in sorted(app.theme_names, key=lambda name: name != app.theme):
            yield PaletteEntry(
                id=f"theme-{name}", words=f"Theme: {name}", group="Themes", theme=name,
                name=name.rpartition("-")[2],
                state="in use" if name == app.theme else "", aliases=_other_words(THEME_ALIASES, name),
                do=call_with(app.keep_theme, name),
            )  # fmt: skip

    def _settings(self) -> Iterator[PaletteEntry]:
        from workbench.tui.main.setting_page import SETTING_ALIASES, open_setting

        for key in CONFIG_KEYS:
            yield PaletteEntry(
                id=f"setting-{key.path}", words=f"Setting {key.path}", about=key.meaning, group="Settings",
                aliases=_other_words(SETTING_ALIASES.get(key.path, ""), key.path), weight=_SETTING,
                do=call_with(lambda path: open_setting(self._context, path), key.path),
            )  # fmt: skip


def _other_words(aliases: str, words: str) -> str:
    """Return each alias once, without those that the words of an entry say."""
    said = set(re.findall(r"\w+", words.casefold()))
    return " ".join(dict.fromkeys(word for word in aliases.split() if word.casefold() not in said))


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def every_command(commands: PaletteCommands, text: str) -> Iterable[PaletteEntry]:
    """Return what a typed text can find; nothing typed lists only what can be done from here."""
    yield from commands.here()
    if text.strip():
        yield from commands.elsewhere()
