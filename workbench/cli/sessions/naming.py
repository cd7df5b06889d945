"""Words that the commands about sessions share: help for an id, and how a session is named in a sentence."""

from workbench.cli.lookup import short
from workbench.domain.rows import Session
from workbench.journal.journal import Journal
from workbench.text.safe import one_line

SESSION_HELP = "the session: its id, or a beginning of it that no other session has"


def named(journal: Journal, session: Session) -> str:
    """Return a session in a sentence: `“rename handler” (3f2a0000)`."""
    title, key = one_line(session.title, 60), short(journal, session.id)
    return f"“{title}” ({key})" if title else key
