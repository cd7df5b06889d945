"""Keys of a replay: they move the player, and nothing else."""

from workbench.tui.screens.replay import ReplayScreen


def play(screen: ReplayScreen) -> None:
    """Play, or pause."""
    screen.toggle()


def event_previous(screen: ReplayScreen) -> None:
    """Go back by one event."""
    screen.went(screen.player.step(-1))


def event_next(screen: ReplayScreen) -> None:
    """Go on by one event."""
    screen.went(screen.player.step(1))


def time_back(screen: ReplayScreen) -> None:
    """Go back by 10 seconds."""
    screen.went(screen.player.skip(-10))


def time_on(screen: ReplayScreen) -> None:
    """Go on by 10 seconds."""
    screen.went(screen.player.skip(10))


def minute_back(screen: ReplayScreen) -> None:
    """Go back by a minute."""
    screen.went(screen.player.skip(-60))


def minute_on(screen: ReplayScreen) -> None:
    """Go on by a minute."""
    screen.went(screen.player.skip(60))


def slower(screen: ReplayScreen) -> None:
    """Take the next lower speed."""
    screen.player.faster(-1)
    screen.show_moment()


def faster(screen: ReplayScreen) -> None:
    """Take the next higher speed."""
    screen.player.faster(1)
    screen.show_moment()


def mark_next(screen: ReplayScreen) -> None:
    """Go to the next mark."""
    screen.jump(None, 1)


def mark_previous(screen: ReplayScreen) -> None:
    """Go to the mark before."""
    screen.jump(None, -1)


def approval_next(screen: ReplayScreen) -> None:
    """Go to the next approval."""
    screen.jump("approval", 1)


def approval_previous(screen: ReplayScreen) -> None:
    """Go to the approval before."""
    screen.jump("approval", -1)


def edit_next(screen: ReplayScreen) -> None:
    """Go to the next written file."""
    screen.jump("edit", 1)


def edit_previous(screen: ReplayScreen) -> None:
    """Go to the written file before."""
    screen.jump("edit", -1)


def error_next(screen: ReplayScreen) -> None:
    """Go to the next error."""
    screen.jump("error", 1)


def error_previous(screen: ReplayScreen) -> None:
    """Go to the error before."""
    screen.jump("error", -1)


def prompt_next(screen: ReplayScreen) -> None:
    """Go to the next prompt."""
    screen.jump("prompt", 1)


def prompt_previous(screen: ReplayScreen) -> None:
    """Go to the prompt before."""
    screen.jump("prompt", -1)


def step_next(screen: ReplayScreen) -> None:
    """Go to the next move of a step."""
    screen.jump("step", 1)


def step_previous(screen: ReplayScreen) -> None:
    """Go to the move of a step before."""
    screen.jump("step", -1)


def expiry_next(screen: ReplayScreen) -> None:
    """Go to the next question that nobody answered."""
    screen.jump("expiry", 1)


def expiry_previous(screen: ReplayScreen) -> None:
    """Go to the question before that nobody answered."""
    screen.jump("expiry", -1)


def note_next(screen: ReplayScreen) -> None:
    """Go to the next moment that a human marked."""
    screen.jump("note", 1)


def note_previous(screen: ReplayScreen) -> None:
    """Go to the moment before that a human marked."""
    screen.jump("note", -1)


def time(screen: ReplayScreen) -> None:
    """Ask for a moment to go to."""
    screen.ask_time()


def follow(screen: ReplayScreen) -> None:
    """Go to the end and stay there while the session goes on."""
    screen.follow()


def fork(screen: ReplayScreen) -> None:
    """Ask where to a session from this moment is to go."""
    screen.ask_fork()


def film(screen: ReplayScreen) -> None:
    """Ask for the file that a film or a picture goes to."""
    screen.ask_film()


def leave(screen: ReplayScreen) -> None:
    """Go back one level, at last out of the replay."""
    screen.leave()
