"""Commands about sessions: list, show, search, file, fork, export. Rows come from the journal as they are."""
