"""The command `run`: an agent without a screen, driven here or followed where another drives it."""
