"""Words that the commands about sessions share: help for an id, and how a session is named in a sentence."""

from workbench.domain.rows import Session
from workbench.text.safe import one_line

SESSION_HELP = "the session, or at least the first 4 characters of its id"


def named(session: Session) -> str:
    """Return a session in a sentence: `“rename handler” (3f2a0000)`."""
    title = one_line(session.title, 60)
    return f"“{title}” ({session.id[:8]})" if title else session.id[:8]
