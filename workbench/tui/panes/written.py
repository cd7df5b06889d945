"""What is typed about the action that was drawn: a reason or an answer, and the reasons given before.

Owns that a line answers what it was asked for, whatever came under the cursor meanwhile.
"""

from workbench.domain.values import SeenBy
from workbench.tui.messages import Decide
from workbench.tui.panes import answers
from workbench.views.detail import ActionDetail


class Written:
    """The line at the bottom, while it is about an action."""

    def __init__(self) -> None:
        self.about: ActionDetail | None = None
        """What was drawn when the line was asked for."""
        self.seen: SeenBy | None = None
        """How much of it was on the screen by then."""
        self.reasons: list[str] = []
        """Reasons given before, the newest first."""

    def send(self, purpose: str, text: str) -> Decide | None:
        """Return the answer that a line means; None where it was about no action."""
        about, self.about = self.about, None
        if about is None:
            return None
        if purpose == "answer":
            return Decide(about.id, "approve", about.digest, text=text, seen=self.seen)
        if text:
            self.reasons = [text, *(reason for reason in self.reasons if reason != text)]
        keys = [choice.key for choice in about.choices]
        choice = next((key for key in keys if key in answers.REJECTING), None)
        return Decide(about.id, "reject", about.digest, reason=text or None, choice=choice)
