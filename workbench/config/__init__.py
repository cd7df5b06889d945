"""Settings: files, environment and options folded into one frozen Config with the origin of each value.

Owns what can be configured and who may configure it. It must never write a file, load pydantic, run a
command that a configuration names, or let a workspace that is not trusted allow anything.
"""

from workbench.config.layers import load
from workbench.config.values import Config, Ignored, Loaded, Origin, Pattern, Problem, Provider

__all__ = [
    "Config",
    "Ignored",
    "Loaded",
    "Origin",
    "Pattern",
    "Problem",
    "Provider",
    "load",
]
