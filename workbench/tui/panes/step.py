"""A step of a run in full, under the graph: the part that the user looks at stays from step to step.

Owns which part is shown and whether the log follows. Everything else is the view of a call.
"""

from workbench.tui.panes.call import CallView
from workbench.views.calls import ToolDetail


class StepView(CallView, can_focus=True):
    """The parts of one step."""

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self._chosen: str | None = None
        self.follows = True
        """Whether the log stays at its end while the step writes."""

    def show(self, detail: ToolDetail | None) -> None:
        """Show a step; the part that the user chose last, else a broken contract, else what there is."""
        was_at_end, is_same = self.is_at_end, self.detail is not None
        is_same = is_same and detail is not None and self.detail is not None and self.detail.id == detail.id
        super().show(detail)
        if detail is None:
            return
        if not is_same:
            self._part = self._part_of(detail)
            self._lay_out(top=0)
        if self.is_log and self.follows and (was_at_end or not is_same) and detail.sign == "running":
            self.scroll_to_line(self.line_count)

    def _part_of(self, detail: ToolDetail) -> int:
        names = [section.name for section in detail.sections]
        if self._chosen is not None:
            return names.index(self._chosen) if self._chosen in names else 0
        told = [at for at, section in enumerate(detail.sections) if not section.is_empty]
        contract = names.index("Contract")
        has_trouble = detail.sign == "failed" or bool(detail.told)
        return contract if has_trouble and contract in told else next(iter(told), 0)

    def turn(self, parts: int) -> None:
        """Show the next or previous part, from now on for every step."""
        super().turn(parts)
        self._chosen = self.section.name if self.section is not None else None

    @property
    def is_log(self) -> bool:
        """Return whether the log is shown."""
        return self.section is not None and self.section.name == "Log"
