"""The conversation of one session, and the composer below it."""
