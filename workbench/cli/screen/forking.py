"""What the screen's `F` does: a fork as `workbench sessions fork --at` makes it, told in one sentence.

Owns the words. It is refused inside an agent, like every answer of a human.
"""

import os

from workbench.cli.errors import Refusal
from workbench.domain.values import Actor
from workbench.host.ancestry import refuse_inside_agents
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.text.safe import one_line
from workbench.tui.services import ForkWanted, NotDone


def fork_wanted(home: Home, journal: Journal, wanted: ForkWanted) -> str:
    """Make the fork that was asked for and return what to say.

    Raises:
        NotDone: Nothing was made; says why and what to do.
        SessionRefused: Likewise.
        InsideAgent: This process was started by an agent.
    """
    from workbench.cli.lookup import short
    from workbench.cli.sessions.fork import Wish, forked

    refuse_inside_agents(journal, home, "fork a session")
    session = journal.session(wanted.session_id)
    if session is None:
        raise NotDone("No session was forked: it is not there any more.")
    wish = Wish(
        position=wanted.position, folder=wanted.folder, kind="worktree" if wanted.is_worktree else "copy"
    )
    try:
        made = forked(journal, session, wish, Actor(kind="user", pid=os.getpid(), via="screen"))
    except Refusal as error:
        raise NotDone(f"{error.what}: {error.why}; {error.remedy}.") from None
    key = short(journal, made.session_id)
    if made.restored is None:
        return f"Forked: {key}, the conversation only. It is the newest session here."
    count, lost = len(made.restored.files), len(made.restored.lost)
    what = "1 file" if count == 1 else f"{count} files"
    gone = f", {lost} not restored: their bytes are gone" if lost else ""
    place = one_line(made.workspace, 120)
    return f"Forked: {key}, {what} as then{gone}. workbench {place} goes on with it."
