"""What is told in the corner, in which words, and where it leads."""

from tests.support.tables import each_row
from tests.unit.views.making import action, event, session
from workbench.domain.events import CallFinished, ContinueRequested, ErrorRaised
from workbench.views.toasts import APPROVALS_PANE, CONVERSATION_PANE, SESSIONS_PANE, Toast, toast_of

BROKEN = ErrorRaised(code="closed", message="The model stopped.", details="It closed.", remedy="Ask again.")
NOT_WRITTEN = CallFinished(state="failed", error="The disk is full.")


@each_row(
    ("body", "known", "answered", "is_current", "toast"),
    [
        (BROKEN, session(), None, True, Toast(what="The model stopped.", why="It closed.", place=CONVERSATION_PANE)),
        (BROKEN, session(title="docs"), None, False,
         Toast(what="docs: The model stopped.", why="It closed.", place=SESSIONS_PANE)),
        (BROKEN, None, None, False, Toast(what="The model stopped.", why="It closed.")),
        (ErrorRaised(code="x", message="No.", remedy="Wait."), session(), None, True,
         Toast(what="No.", why="Wait.", place=CONVERSATION_PANE)),
        (NOT_WRITTEN, session(), action(verb="write", target="docs/api.md"), True,
         Toast(what="Not written: docs/api.md", why="The disk is full.", place=APPROVALS_PANE, row_id="a1")),
        (NOT_WRITTEN, session(), None, True, None),
        (CallFinished(state="failed", exit_code=1), session(), action(verb="run"), True, None),
        (CallFinished(state="succeeded"), session(), action(), True, None),
        (ContinueRequested(), session(), None, True, None),
    ],
)  # fmt: skip
def test_what_is_told(body, known, answered, is_current, toast):
    assert toast_of(event(body), known, answered, is_current=is_current) == toast


def test_hostile_words_are_one_safe_line():
    body = ErrorRaised(code="x", message="a\x1b[31m\nb\u202e", details="c" * 10_000)
    toast = toast_of(event(body), session(), None, is_current=True)
    assert "\x1b" not in toast.words
    assert "\n" not in toast.words
    assert "\u202e" not in toast.words
    assert len(toast.words) < 1_000
