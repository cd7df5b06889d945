"""A backend that answers as a test says, and otherwise belongs to a screen that only shows."""

from workbench.tui.backend import Backend


def backend(**methods):
    """Return a backend with some methods replaced; groups of it are looked through as well."""
    made = Backend()
    for name, method in methods.items():
        owner = next(
            one
            for one in (
                made,
                made.rules,
                made.runs,
                made.models,
                made.library,
                made.providers,
                made.incidents,
                made.agents,
            )
            if hasattr(one, name)
        )
        setattr(owner, name, method)
    return made
