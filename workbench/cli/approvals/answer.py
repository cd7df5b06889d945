"""`workbench approvals answer`: choose at a gate or the trust question, or answer a question in words."""

from argparse import ArgumentParser, Namespace

from workbench.cli.approvals.deciding import answer_all, ready
from workbench.cli.console import Console
from workbench.cli.errors import Misuse
from workbench.cli.lookup import ID_HELP, proposal_of
from workbench.cli.place import opened
from workbench.domain.events import ActionOpened
from workbench.domain.rows import Action
from workbench.domain.values import Approval, Decision

EXAMPLE = """workbench approvals answer 3f2a --choice trust_and_read
workbench approvals answer 3f2a --text "use the second one\""""

REJECTING = frozenset({"reject", "not_now"})
"""Choices that say no."""


def configure(parser: ArgumentParser) -> None:
    """Add the id and the answer."""
    parser.add_argument("id", metavar="ID", help=ID_HELP)
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--choice", metavar="KEY", help="one of the choices that it offers")
    given.add_argument("--text", metavar="T", help="the answer to a question")
    parser.add_argument("--reason", metavar="T", help="what is recorded with it")


def execute(options: Namespace, console: Console) -> int:
    """Answer the named action."""
    with opened() as (home, journal):
        ready(home, journal, "answer")

        def make(action: Action) -> Decision:
            shown = proposal_of(journal, action)
            return chosen(action, shown, options.choice, options.text, options.reason)

        return answer_all(home, journal, console, [options.id], make, "answered")


def chosen(
    action: Action, shown: ActionOpened, choice: str | None, text: str | None, reason: str | None = None
) -> Decision:
    """Return the decision that an answer is.

    Raises:
        Misuse: The action offers no such choice, or none at all.
    """
    if action.kind == "tool":
        raise Misuse("not answered", "it asks for approval, not for an answer", "approve or reject it")
    keys = [offered.key for offered in shown.choices]
    if choice is not None and keys and choice not in keys:
        raise Misuse("not answered", f"it offers {', '.join(keys)}", "name one of these with --choice")
    verdict: Approval = "reject" if choice in REJECTING else "approve"
    return Decision(action_id=action.id, verdict=verdict, choice=choice, text=text, reason=reason)
