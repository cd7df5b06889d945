"""The detail of an action that is no diff: a command, a gate, a question, trust; and the bar over any detail.

Owns the order of what has to be read before answering. Commands are shown whole, wrapped, never cut.
"""

from textual.content import Content

from workbench.draw.glyphs import Glyphs
from workbench.draw.tokens import Ink
from workbench.views.detail import ActionDetail


def body_lines(
    detail: ActionDetail, width: int, ink: Ink, glyphs: Glyphs, *, choice: str | None = None
) -> list[Content]:
    """Return command, parameters, prompt, choices, facts as lines of at most `width` cells.

    Args:
        detail: the action.
        width: cells.
        ink: colours.
        glyphs: signs.
        choice: key of the choice under the cursor of a gate or question.
    """
    raise NotImplementedError(detail, width, ink, glyphs, choice)


def bar_lines(detail: ActionDetail, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    """Return what stands over the detail: stale, expired, decided; then each warning with its sentence."""
    raise NotImplementedError(detail, width, ink, glyphs)


def title_left(detail: ActionDetail, ink: Ink, glyphs: Glyphs) -> Content:
    """Return the title of the detail: `src/shop/router.py +6 −3`, `run_in_terminal ! 3 risks`."""
    raise NotImplementedError(detail, ink, glyphs)
