"""The commands of the palette: those of the current place first, of other places, of the composer, settings.

A command of another place leads there and says its key: what it is about is under the cursor there, and
nobody has looked at that yet.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from workbench.config.types import CONFIG_KEYS
from workbench.text.human import sentence
from workbench.tui import keymap
from workbench.tui.conversation.completion import COMMAND_ALIASES, SLASH_COMMANDS
from workbench.tui.main.palette_sources import PaletteEntry, call_with

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.pane import Pane
    from workbench.tui.rules.rules_screen import RulesScreen

KEY_COMMANDS: Final = {
    "stop": "app.agent-stop", "new": "app.session-new", "help": "app.help", "quit": "app.leave",
    "library": "app.place-5", "rules": "app.place-6", "statistics": "app.place-7", "findings": "app.place-8",
}  # fmt: skip
"""Commands of the composer that are another way to press a key."""
_TITLES: Final = {"app.help": "all keys and signs", "app.pane-next": "next pane"}
"""Words of keys that say less on the page of keys, where the reader is already."""
_PLACE_OF_SCOPE: Final[Mapping[str, int]] = {
    "rail": 0, "conversation": 1, "approvals": 2, "diff": 2, "tools": 3, "pipeline": 4, "library": 5,
    "rules": 6, "statistics": 7, "incidents": 8,
}  # fmt: skip
"""Scopes of keys that are found from elsewhere, and where they count."""
_PLACE_NAMES: Final = (
    "Sessions", "Conversation", "Approvals", "Tools", "Pipeline", "Library", "Rules", "Statistics",
    "Findings",
)  # fmt: skip
THEME_ALIASES: Final = "colours colors appearance dark light skin"
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
        for key in keymap.keys_of_scopes([*self._inner, *(pane.scopes() if pane else ()), "app"]):
            if not key.in_palette and key.id not in _TITLES:
                continue
            is_ours = key.scope == "app" or key.scope in self._inner
            if is_ours or pane is None:
                yield self._entry(key, "Everywhere", self._below(call_with(self._context.do_key, key.id)))
            else:
                do = call_with(pane.action_do, key.id)
                yield self._entry(key, pane.NAME, do, why_off=pane.why_not(key.id))

    def _of_other_places(self) -> Iterator[PaletteEntry]:
        here = set(self._pane.scopes()) if self._pane is not None else set[str]()
        here |= {"rules"} if self._page is not None else set()
        for scope, place in _PLACE_OF_SCOPE.items():
            rows = keymap.keys_of_scopes([scope]) if scope not in here else ()
            for key in rows:
                if key.in_palette and key.print:
                    yield self._entry(key, _PLACE_NAMES[place], self._leading_to(place, key), _ELSEWHERE)

    def _leading_to(self, place: int, key: keymap.Key[Any]) -> Any:
        def go() -> None:
            self._context.go_to(place)
            say = getattr(self._context.app.screen, "say", self._context.say)
            say(sentence(f"{self._printed(key)}: {key.tooltip}"))

        return self._below(go)

    def _entry(
        self, key: keymap.Key[Any], group: str, do: Any, weight: int = _COMMAND, *, why_off: str = ""
    ) -> PaletteEntry:
        words = _TITLES.get(key.id, key.tooltip)
        slash = [f"/{name}" for name, key_id in KEY_COMMANDS.items() if key_id == key.id]
        return PaletteEntry(
            id=key.id, words=_capital(words), group=group, do=do, why_off=why_off, weight=weight,
            keys=self._printed(key),
            aliases=" ".join([key.label.rstrip("…"), key.aliases, *slash]).strip(),
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
        from workbench.tui.main.palette import run_slash_command

        if self._is_replay:
            return
        for name, words in SLASH_COMMANDS:
            if name[1:] not in KEY_COMMANDS:
                do = call_with(lambda name: run_slash_command(self._context, name, ""), name[1:])
                yield PaletteEntry(
                    id=f"composer.{name}", words=f"{name}  {words}", group="Composer", do=self._below(do),
                    aliases=COMMAND_ALIASES.get(name, ""),
                )  # fmt: skip

    def _pages(self) -> Iterator[PaletteEntry]:
        from workbench.tui.main.setting_page import open_settings

        context = self._context
        yield PaletteEntry(
            id="screen.settings", words="Settings: what each does, where it is set", group="Screen",
            aliases="config configuration preferences options set customize",
            do=lambda: open_settings(context),
        )  # fmt: skip
        providers = context.providers
        yield PaletteEntry(
            id="screen.providers", words="Models and providers: choose one, see keys", group="Screen",
            aliases="provider providers api key llm openai ollama anthropic claude gpt set up",
            do=self._below(providers.open_list),
        )  # fmt: skip
        yield PaletteEntry(
            id="screen.provider-add", words="Add a provider", group="Screen",
            aliases="add new model api key llm openai ollama connect login",
            do=self._below(providers.open_form),
        )  # fmt: skip
        if self._is_replay:
            return
        yield PaletteEntry(
            id="screen.trust", words="Trust of this folder: how it is changed", group="Screen",
            aliases="trust untrust revoke safe hooks permission folder", do=self._below(self._trust),
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
                state="in use" if name == app.theme else "", aliases=THEME_ALIASES,
                do=call_with(app.keep_theme, name),
            )  # fmt: skip

    def _settings(self) -> Iterator[PaletteEntry]:
        from workbench.tui.main.setting_page import SETTING_ALIASES, open_setting

        for key in CONFIG_KEYS:
            yield PaletteEntry(
                id=f"setting-{key.path}", words=f"Setting {key.path}", about=key.meaning, group="Settings",
                aliases=SETTING_ALIASES.get(key.path, ""), weight=_SETTING,
                do=call_with(lambda path: open_setting(self._context, path), key.path),
            )  # fmt: skip


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def every_command(commands: PaletteCommands, text: str) -> Iterable[PaletteEntry]:
    """Return what a typed text can find; nothing typed lists only what can be done from here."""
    yield from commands.here()
    if text.strip():
        yield from commands.elsewhere()
