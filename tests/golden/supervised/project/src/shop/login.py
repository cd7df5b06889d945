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
