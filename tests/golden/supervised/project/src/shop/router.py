"""Finds the handler for a request."""

import logging

log = logging.getLogger(__name__)


class NotFound(LookupError):
    """No route accepts the path."""


class Router:
    """Finds the handler for a request."""

    def __init__(self):
        self.routes = []

    def handle(self, request):
        route = self.match(request.path)
        return route.handler(request)

    # Decorators: `@router.get("/products")`.

    def get(self, pattern):
        def add(handler):
            self.routes.append(Route("GET", pattern, handler))
            return handler

        return add

    def match(self, path):
        for route in self.routes:
            if route.accepts(path):
                return route
        raise NotFound(path)

    def paths(self):
        """Return every pattern in the order in which it was added."""
        return [route.pattern for route in self.routes]

    def __call__(self, environ, start):
        response = self.handle(Request(environ))
        return response(environ, start)


class Route:
    """One pattern with its handler."""

    def __init__(self, method, pattern, handler):
        self.method, self.pattern, self.handler = method, pattern, handler

    def accepts(self, path):
        return path == self.pattern
