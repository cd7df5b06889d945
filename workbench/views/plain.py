"""Any JSON value as one text, whatever is in it."""

from workbench.domain.values import Json
from workbench.text.canonical import dumps


def json_text(value: Json) -> str:
    """Return a value as JSON; what is no JSON is written as Python writes it."""
    try:
        return dumps(value)
    except (ValueError, TypeError):
        return repr(value)
