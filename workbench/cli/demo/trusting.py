"""The first question of a demo: may agents read here without asking?

Owns its words and how a line answers it. The answer is an ordinary decision about an ordinary action.
"""

from workbench.changes.answer import decision
from workbench.cli.console import Console
from workbench.cli.demo.conversation import Lines
from workbench.cli.lookup import proposal_of
from workbench.cli.place import person
from workbench.host import trusting
from workbench.journal.decide import decide
from workbench.journal.journal import Journal

QUESTION = "May agents read files here without asking? yes, no"
_ANSWERS = {"y": True, "yes": True, "n": False, "no": False}


async def settle_trust(
    journal: Journal, console: Console, workspace: str, lines: Lines, *, is_typed: bool
) -> None:
    """Ask the trust question unless it was answered.

    Args:
        journal: Of the demo.
        console: Where it is asked.
        workspace: The project's real path.
        lines: Where the answer comes from.
        is_typed: A person types it; from a pipe a line that answers something else counts as yes, because
            all there is to read is the bundled example.
    """
    action_id = trusting.ask(journal, workspace)
    if action_id is None:
        return
    console.say(QUESTION)
    may_read = await _answer(console, lines, is_typed=is_typed)
    _decide(journal, action_id, may_read)
    console.say("Reads pass without asking, all else asks." if may_read else "Reads ask, like all else.")


async def _answer(console: Console, lines: Lines, *, is_typed: bool) -> bool:
    while (line := await lines.next()) is not None:
        found = _ANSWERS.get(line.strip().lower())
        if found is not None:
            return found
        if not is_typed:
            lines.put_back(line)
            return True
        console.say(QUESTION)
    return False


def _decide(journal: Journal, action_id: str, may_read: bool) -> None:
    action = journal.action(action_id)
    if action is None:
        return
    shown = proposal_of(journal, action)
    choice = "trust_and_read" if may_read else "not_now"
    answer = decision(
        shown, action_id, "approve" if may_read else "reject", blobs=journal.blobs, choice=choice
    )
    decide(journal, answer, action.digest, person())
