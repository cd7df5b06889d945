"""What a screen is asked for when all agents are held or released."""


class HoldView:
    """A screen that says at its top that all agents are held."""

    def show_hold(self) -> None:
        """Show whether all agents are held, as the app read it last."""
        raise NotImplementedError
