"""What the tests of policies share."""

import pytest

from workbench.policy import shell

_SPEAKERS = frozenset({"basename", "dirname", "echo", "printf"})


@pytest.fixture
def known_text(monkeypatch):
    """Make the words that are plainly text known as such: scripts of sed and awk, what is echoed, excluded names."""
    judge = shell.judge

    def judged(words):
        found = judge(words)
        at = next((n for n, word in enumerate(words) if n and not word.startswith("-")), 0)
        text = {n for n, word in enumerate(words) if n and word.startswith(("--exclude", "--include"))}
        text |= {n for n in range(1, len(words)) if words[n - 1] == "-e"}
        if shell.program(words[0]) in ("sed", "awk"):
            text.add(at)
        if words[0] in _SPEAKERS:
            text.update(range(1, len(words)))
        return shell.replace(found, text=found.text | text)

    monkeypatch.setattr(shell, "judge", judged)
    shell._view.cache_clear()
    yield
    shell._view.cache_clear()
