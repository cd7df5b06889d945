"""What leads somebody on who is new: the page of a folder without sessions, and the end of the demo."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.footer_keys import FooterKey
from workbench.tui.places import PANE_PLACES, place_key_id, place_number

if TYPE_CHECKING:
    from textual.screen import Screen

    from workbench.tui.main.context import MainContext
    from workbench.views.providers import FoundModel
    from workbench.views.welcome import WelcomeFacts

DEMO_DONE: Final = "The demo is done: p p replays it, L L starts its pipeline, 5 finds it."
DEMO_DONE_IN_COMPOSER: Final = "The demo is done. esc, then p p replays it, L L starts its pipeline."


class FirstPage:
    """Knows whether somebody is new here, and what they are told."""

    def __init__(self, screen: "Screen[Any]", context: "MainContext") -> None:
        self._screen, self._context, self._state = screen, context, context.state
        self._opening = context.backend.opening
        self._was_shown, self._was_asking, self._was_ended = False, False, ""

    @property
    def is_shown(self) -> bool:
        """Return whether the page stands where the panes will be."""
        return not (self._state.sessions or self._opening)

    @property
    def offers_sandbox(self) -> bool:
        """Return whether something on the screen offers the sandbox: this page, or the trust question."""
        return self.is_shown or any(action.kind == "trust" for action in self._state.pending)

    @property
    def asks_first(self) -> bool:
        """Return whether a demo asks its first question, which has the screen until it is answered."""
        # Asked for each key of the footer: what waits is looked through in a demo only.
        is_demo_begun = bool(self._opening) and not self._state.sessions
        return is_demo_begun and any(action.kind == "trust" for action in self._state.pending)

    @property
    def ended_demo(self) -> str:
        """Return the id of the demo's own session once its agent is done; empty before, and in no demo."""
        if not self._opening or self._state.pending:
            return ""
        chats = [session for session in self._state.sessions.values() if session.takes_prompts]
        own = min(chats, key=lambda session: session.created_at, default=None)
        if own is None or own.status != "ready" or own.open_turn is not None:
            return ""
        # Its task is there a moment before its first turn: only a model that answered can be done.
        if not own.usage.total_tokens:
            return ""
        return own.id

    def facts(self) -> "WelcomeFacts":
        """Return what the page says, in a demo in words of its own."""
        from workbench import __version__
        from workbench.tui.main.main_keys import KEYS_OF_FOUND
        from workbench.views.sandbox import offer_text
        from workbench.views.welcome import WelcomeFacts, welcome_facts

        if self._opening:
            return WelcomeFacts(version=__version__, lines=tuple(self._opening))
        status = self._context.status
        return welcome_facts(
            __version__,
            has_model=status.has_model,
            elsewhere=status.elsewhere,
            agents=status.agents,
            branch=status.branch if status.has_read_branch else None,
            pipelines=status.pipelines_found,
            trust=next((action for action in self._state.pending if action.kind == "trust"), None),
            is_tiny=self._context.layout.is_smaller_than_panes,
            search=None if status.has_model else status.search,
            added=status.added,
            keys_of_found=KEYS_OF_FOUND,
            connectable=status.connectable,
            sandbox=offer_text(status.sandbox, status.sandbox_past),
        )

    def begin(self) -> None:
        """Note how it stands when the screen begins."""
        self._was_shown, self._was_ended = self.is_shown, self.ended_demo
        self._was_asking = self.asks_first
        if self.is_shown:
            self._context.places.current = 1

    def start_place(self, opens_on: str | None) -> int:
        """Return the place that has the focus first: where something is said, else what waits."""
        if self.asks_first:
            return place_number("approvals")
        if self.is_shown or self.ended_demo:
            return 1
        waits = self._state.pending and (self._state.sessions or self._context.layout.is_alone)
        return 1 if (not self._state.sessions or opens_on is not None) and not waits else 2

    def start_writing(self) -> None:
        """Make the text field and give it the focus, if it is to have it."""
        composer = self._context.widgets.composer
        if not composer.is_awaited:
            return
        field = composer.input
        self._context.layout.focus(field)
        # The focus ends the waiting; so does a screen on which the field cannot have it.
        field.call_after_refresh(lambda: self._screen.call_later(composer.end_waiting))

    def follow(self) -> None:
        """Give the body to the panes with the first session, and lead on when the demo has ended."""
        before = self._was_shown, self._was_asking
        self._was_shown, self._was_asking = self.is_shown, self.asks_first
        if (self._was_shown, self._was_asking) != before:
            self._context.layout.rearrange()
        was, self._was_ended = self._was_ended, self.ended_demo
        if self._was_ended and not was:
            self._lead_on()

    def show(self) -> None:
        """Show the page anew, where it is on the screen: more is known of the folder."""
        if not self._state.sessions:
            self._context.presenter.conversation(None)

    def _lead_on(self) -> None:
        """Say what comes after the demo; the focus stays where the user put it."""
        is_writing = self._context.widgets.composer.is_written_in
        self._context.say(DEMO_DONE_IN_COMPOSER if is_writing else DEMO_DONE)

    def replay_demo(self) -> None:
        """Show the demo again, from its beginning."""
        self._context.app.open_replay(self.ended_demo)

    # --- keys -----------------------------------------------------------------------------------

    def takes(self, key_id: str) -> bool:
        """Return whether a key of the page, or of the end of the demo, counts now."""
        if key_id.startswith("demo."):
            return bool(self.ended_demo) and not self._context.places.is_away
        pane = self._context.app.main.focused_pane
        if self._state.sessions or pane is None or pane.PLACE not in PANE_PLACES:
            return False  # a text field has the focus, or another place
        match key_id.partition("-")[0]:
            case "first.found":
                return int(key_id[-1]) <= len(self._found)
            case "first.look":
                return not self._context.status.has_model
            case "first.agents":
                return bool(self._context.status.connectable)
            case _:
                return True

    def hint_of_key(self, key: str) -> str:
        """Return why a key of the row that the page shows as an example does nothing; empty for others."""
        users = keymap.user_keymap(self._screen)
        rows = keymap.keys_of_scopes(["approvals"]) if self.is_shown else ()
        if not any(keymap.is_key_of(row.id, key, users) for row in rows):
            return ""
        return f"{keymap.printed_key(key)} answers a row of Approvals; no agent has asked yet."

    def is_claimed(self, key_id: str) -> bool:
        """Return whether the end of the demo offers a press that a pane has for another key."""
        pressed = keymap.key_of(key_id).keys
        return any(
            self.takes(key.id) and not set(pressed).isdisjoint(key.keys)
            for key in keymap.keys_of_scopes(["demo"])
        )

    @property
    def _found(self) -> "Sequence[FoundModel]":
        status = self._context.status
        return () if status.has_model or status.search is None else status.search.found

    def read(self) -> None:
        """Read behind the first frame what the page says: sessions elsewhere, models of this machine."""
        if self._state.sessions:
            return
        self._context.tasks.read_elsewhere()
        if not self._context.status.has_model:
            self._context.providers.look()

    def page_keys(self) -> list[FooterKey]:
        """Return the keys of the page; where there is room for nothing else only those that work there."""
        first = [key for key in keymap.keys_of_scopes(["first"]) if key.footer and self.takes(key.id)]
        labels = {key.id: key.label for key in sorted(first, key=lambda key: key.footer)}
        if not self._context.layout.is_smaller_than_panes:
            labels[place_key_id("library")] = "bring sessions in"
            labels |= {place_key_id("approvals"): "trust this folder?"} if self._state.pending else {}
            labels |= {"app.compose": "write"} if self._context.status.has_model else {}
        return self._footer_keys(labels)

    def demo_keys(self) -> list[FooterKey]:
        """Return what leads on from a demo that is done; nothing otherwise."""
        if not self.takes("demo.replay"):
            return []
        labels = {key.id: key.label for key in keymap.keys_of_scopes(["demo"])}
        return self._footer_keys({**labels, place_key_id("library"): "find it"})

    def _footer_keys(self, labels: dict[str, str]) -> list[FooterKey]:
        users = keymap.user_keymap(self._screen)
        rows = [(keymap.key_of(key_id), label) for key_id, label in labels.items()]
        return [
            FooterKey(keys=keymap.printed_keys(key, users) or users.get(key.id, key.keys[0]), label=label)
            for key, label in rows
        ]
