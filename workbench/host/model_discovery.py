"""Models that answer on this machine, and keys in the environment, that are not in the configuration yet."""

import os
from collections.abc import Mapping, Sequence

from workbench.config.known_providers import LOCAL_SERVERS, LocalServer
from workbench.config.types import Config
from workbench.views.providers import FoundModel


def find_models(
    config: Config,
    env: Mapping[str, str] = os.environ,
    servers: Sequence[LocalServer] = LOCAL_SERVERS,
) -> tuple[FoundModel, ...]:
    """Return what was found and the configuration does not have, local servers first; takes up to 1 s.

    Call it in a thread. Asks loopback addresses only, sends no key and follows no redirect.
    """
    raise NotImplementedError
