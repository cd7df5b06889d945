"""Wildcards of permission patterns: `*` is any text."""


def wildcard_matches(pattern: str, text: str) -> bool:
    """Say whether a pattern, in which `*` is any text, matches a whole text; linear in both."""
    return form_fits(tuple(pattern.split("*")), text)


def form_fits(form: tuple[str, ...], text: str) -> bool:
    """Say whether a pattern that was split at its `*` matches a whole text."""
    first = form[0]
    if len(form) == 1:
        return text == first
    last = form[-1]
    if not text.startswith(first) or len(text) < len(first) + len(last) or not text.endswith(last):
        return False
    position, end = len(first), len(text) - len(last)
    for part in form[1:-1]:
        start = text.find(part, position, end)
        if start < 0:
            return False
        position = start + len(part)
    return True
