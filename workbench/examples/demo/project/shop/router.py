"""Finds the handler of a path."""


def call(router, path):
    """Call the handler of a path."""
    handler = router.match(path)
    return handler(path)


class Router:
    """Routes in the order in which they were added."""

    def __init__(self):
        self.routes = []

    def paths(self):
        """Return all patterns."""
        return [pattern for pattern, _ in self.routes]

    def add(self, pattern, handler):
        """Add a route; `*` at the end of a pattern takes any rest."""
        self.routes.append((pattern, handler))

    def match(self, path):
        """Return the handler for a path: the most exact pattern wins."""
        for pattern, handler in self.routes:
            if fits(pattern, path):
                return handler
        return None


def fits(pattern, path):
    """Return whether a path fits a pattern."""
    if pattern.endswith("*"):
        return path.startswith(pattern[:-1])
    return pattern == path
