"""The project that the recorded agent works on: a small web shop without dependencies.

Owns its files at the start. Its tests are a shell script that reads the code with grep and prints like a
test runner: a recording must come out the same where no Python tools are installed.
"""

FILES = {
    "README.md": """\
# shop

A small web shop: a router, a cart, a login. No dependencies but Python.

    sh scripts/test.sh            every test
    sh scripts/test.sh login      those of one area
""",
    "requirements.txt": """\
httptools==0.6.1
itsdangerous==2.1.2
jinja2==3.1.3
markupsafe==2.1.5
""",
    "docs/api.md": """\
# API

| path | method | what |
|---|---|---|
| /products | GET | the catalogue |
| /products/{id} | GET | one product |
| /cart | GET | what lies in the cart |
""",
    "src/shop/__init__.py": '"""A small web shop."""\n',
    "src/shop/app.py": '''\
"""Puts the shop together: routes, middleware, the WSGI callable."""

from shop.cart import Cart
from shop.router import Router

router = Router()
carts = {}


@router.get("/products")
def products(request):
    return request.catalogue.all()


@router.get("/cart")
def cart(request):
    return carts.setdefault(request.session_id, Cart()).lines()


def application(environ, start_response):
    handler = getattr(router, "handle")
    response = handler(environ)
    start_response(response.status, response.headers)
    return response.body
''',
    "src/shop/router.py": '''\
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
''',
    "src/shop/cart.py": '''\
"""What a customer wants to buy."""


class Cart:
    """Lines of product and quantity."""

    def __init__(self):
        self._lines = {}

    def add(self, product, quantity=1):
        self._lines[product] = self._lines.get(product, 0) + quantity

    def remove(self, product):
        del self._lines[product]

    def lines(self):
        return list(self._lines.items())

    def total(self, prices):
        total = 0
        for product, quantity in self._lines.items():
            total += prices[product] * quantity
        return total
''',
    "src/shop/login.py": '''\
"""Sessions of customers: who is logged in, and for how long."""

import time

LIFETIME = 30 * 60


class Sessions:
    """Tokens with the time at which they end."""

    def __init__(self):
        self._ends = {}

    def open(self, token):
        self._ends[token] = time.time() + LIFETIME

    def is_open(self, token):
        return self._ends.get(token, 0) > time.time()

    def close(self, token):
        self._ends.pop(token, None)
''',
    "tests/test_router.py": '''\
"""The router finds handlers."""

from shop.router import Router


def test_a_route_is_found():
    router = Router()
    router.get("/products")(lambda request: "all")
    assert router.match("/products").pattern == "/products"
''',
    "tests/test_login.py": '''\
"""Sessions open and end."""

import time

from shop import login


def test_a_session_ends(monkeypatch):
    monkeypatch.setattr(login, "LIFETIME", 0.01)
    sessions = login.Sessions()
    sessions.open("t1")
    time.sleep(0.01)
    assert not sessions.is_open("t1")
''',
    "scripts/test.sh": r"""#!/bin/sh
# Reads the code with grep and prints like a test runner.
area=${1:-all}
failed=0
check() {
    if grep -q -e "$3" "$2"; then
        printf 'tests/test_%s.py::%s PASSED\n' "$1" "$4"
    else
        printf 'tests/test_%s.py::%s FAILED\n' "$1" "$4"
        failed=$((failed + 1))
    fi
}
case $area in router | all)
    check router src/shop/router.py 'def dispatch' test_dispatch_finds_the_handler
    check router src/shop/router.py 'for route in self.routes' test_routes_keep_their_order
    check router src/shop/app.py 'router, "dispatch"' test_the_application_dispatches
    ;;
esac
case $area in login | all)
    check login src/shop/login.py 'class Sessions' test_a_session_opens
    check login src/shop/login.py 'clock' test_a_session_ends
    ;;
esac
if [ $failed -gt 0 ]; then
    printf '%s failed\n' $failed >&2
    exit 1
fi
printf 'all passed\n'
""",
}
