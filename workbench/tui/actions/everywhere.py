"""Keys that work everywhere: places, focus, help, palette, zoom, leaving."""

from workbench.tui import messages
from workbench.tui.arrangement import PLACES
from workbench.tui.screens.main import MainScreen

_NOT_YET = {8: "Findings", 9: "Providers"}


def _go(screen: MainScreen, place: int) -> None:
    screen.go_to(place)


def place_0(screen: MainScreen) -> None:
    """Go to the sessions."""
    _go(screen, 0)


def place_1(screen: MainScreen) -> None:
    """Go to the conversation."""
    _go(screen, 1)


def place_2(screen: MainScreen) -> None:
    """Go to the approvals."""
    _go(screen, 2)


def place_3(screen: MainScreen) -> None:
    """Go to the tool invocations."""
    _go(screen, 3)


def place_4(screen: MainScreen) -> None:
    """Go to the pipeline."""
    _go(screen, 4)


def _not_yet(screen: MainScreen, place: int) -> None:
    screen.say(f"{_NOT_YET[place]}: not there yet.")


def place_5(screen: MainScreen) -> None:
    """Go to the library."""
    _go(screen, 5)


def place_6(screen: MainScreen) -> None:
    """Open the rules."""
    from workbench.tui.screens.rules import open_rules

    open_rules(screen)


def place_7(screen: MainScreen) -> None:
    """Go to the statistics."""
    _go(screen, 7)


def place_8(screen: MainScreen) -> None:
    """Say that findings are not there yet."""
    _not_yet(screen, 8)


def place_9(screen: MainScreen) -> None:
    """Say that providers are not there yet."""
    _not_yet(screen, 9)


def pane_next(screen: MainScreen) -> None:
    """Give the next pane the focus."""
    _pane(screen, 1)


def pane_previous(screen: MainScreen) -> None:
    """Give the pane before the focus."""
    _pane(screen, -1)


def _pane(screen: MainScreen, step: int) -> None:
    if screen.is_away:
        screen.go_back()
        return
    panes = list(screen.focusable_panes())
    if screen.arrangement is not None and screen.arrangement.is_alone:
        panes = [pane for pane in screen.panes if pane.PLACE in PLACES]
    places = [pane.PLACE for pane in panes]
    at = places.index(screen.place) if screen.place in places else 0
    screen.go_to(places[(at + step) % len(places)])


def waiting_first(screen: MainScreen) -> None:
    """Go to the waiting action with least time."""
    screen.post_message(messages.FirstWaiting())


def compose(screen: MainScreen) -> None:
    """Write a message."""
    if not screen.showing.has_model:
        screen.say("There is no model yet that could read it: p says how one is set up.")
        return
    if screen.is_away:
        screen.go_to(1)
    screen.composer.focus_input()


def palette(screen: MainScreen) -> None:
    """Open the palette."""
    from workbench.tui.screens.palette import open_palette

    open_palette(screen)


def help(screen: MainScreen) -> None:  # noqa: A001 named as the row of the key table
    """Open the keys of what has the focus."""
    from workbench.tui.screens.help import open_help

    open_help(screen)


def zoom(screen: MainScreen) -> None:
    """Give the pane the whole body, or take it back."""
    screen.is_zoomed = not screen.is_zoomed
    screen.rearrange()
    screen.approvals.disarm()


def session_new(screen: MainScreen) -> None:
    """Begin a new session with the next message."""
    screen.state.leave()
    screen.showing.everything()
    compose(screen)


def agent_stop(screen: MainScreen) -> None:
    """Copy the selection if there is one, else stop the agent on show and take the next message."""
    if text := screen.get_selected_text():
        screen.post_message(messages.Copy(text, ""))
        return
    current = screen.state.current
    if current is None or current.status != "processing":
        screen.say("No agent works here. q leaves.")
        return
    screen.post_message(messages.Interrupt())
    screen.composer.focus_input()


def back(screen: MainScreen) -> None:
    """Go back one level; it never decides anything."""
    if screen.approvals.ordering.text_filter and not screen.is_away:
        screen.approvals.line_dropped("filter")
    elif screen.is_away:
        screen.go_back()
    elif screen.conversation.finding.text and screen.place == screen.conversation.PLACE:
        screen.conversation.end_finding()
    elif screen.is_zoomed:
        zoom(screen)
    elif screen.place != 2:
        screen.go_to(2)


def leave(screen: MainScreen) -> None:
    """Leave; agents go on. What waits or works is said first, the same key again leaves."""
    if screen.ask_to_leave():
        screen.textual.exit()


def suspend(screen: MainScreen) -> None:
    """Stop this process and give the terminal to its shell; agents go on, and `fg` brings the screen back."""
    if screen.textual.can_suspend:
        screen.textual.action_suspend_process()
    else:
        screen.say("No shell here takes over: this terminal runs workbench alone.")


def redraw(screen: MainScreen) -> None:
    """Draw the screen again."""
    screen.textual.refresh(layout=True)
    screen.refresh(repaint=True, layout=True)
