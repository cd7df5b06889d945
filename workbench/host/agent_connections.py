"""Connect the agents of this machine: plan a change of their settings, write it, take it out again.

A plan is shown before it is written, and is written only over the bytes that it was made from.
"""

import difflib
import hashlib
import hmac
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import replace

from workbench.bridge.agent_modes import SettingsSource
from workbench.bridge.agents import HookedAgent, Scope
from workbench.bridge.hook_command import HookSetup, Otherwise
from workbench.bridge.hook_line import HookLine
from workbench.bridge.hook_settings import (
    toml_hooks,
    with_hooks,
    without_hooks,
    workbench_hooks,
)
from workbench.bridge.opencode_plugin import parse_plugin, plugin_text
from workbench.effects.file_locks import FileLock
from workbench.effects.file_primitives import BaseMoved, FileRefused, NotDurable
from workbench.effects.files import Root
from workbench.effects.own_processes import own_interpreter, workbench_command_line
from workbench.host.agent_settings_files import (
    LARGEST_SETTINGS,
    SettingsFile,
    SettingsImage,
    SettingsRefused,
    broken_settings,
    read_settings,
    refusal,
    settings_file,
    settings_text,
    settings_values,
)
from workbench.host.connection_records import ConnectionRecord, read_records, write_record
from workbench.host.host_locks import refuse_inside_agents
from workbench.journal.home import Home
from workbench.secrets.scrubber import scrub
from workbench.text.human import sentence
from workbench.text.json_nodes import JsonError, parse_commented_json

_HOOK_SOURCES: Final[tuple[SettingsSource, ...]] = ("settings", "config")
MARGIN_SECONDS: Final = 60
"""By how much a hook outlives the longest window of an answer."""
_LOCK_SECONDS: Final = 5.0
_NOT_CHANGED: Final = "Nothing was changed."
_EMPTY_DOCUMENT: Final = "{}\n"
_BLANKS: Final = " \t\r\n\ufeff"


class ConnectionChoice(Struct, frozen=True, kw_only=True):
    """What a user chose for a connection."""

    scope: Scope = "all"
    otherwise: Otherwise = "ask"
    window_minutes: float
    """The longest that a question waits."""
    project: str | None = None
    """The folder whose own settings are changed; None for the user's."""


class ConnectionPlan(Struct, frozen=True, kw_only=True):
    """A change of one settings file, before it is written."""

    agent: HookedAgent
    image: SettingsImage
    after: bytes | None
    """None: the file is deleted."""
    record: ConnectionRecord | None = None
    """None: nothing of ours is left."""
    removes_folders: tuple[str, ...] = ()
    shown_only: tuple[str, ...] = ()
    """Lines that the user has to put in: this file is not written."""

    @property
    def path(self) -> str:
        return self.image.file.path

    @property
    def is_change(self) -> bool:
        """Return whether anything would be written."""
        return self.image.data != self.after

    def diff_lines(self) -> list[str]:
        """Return the change as a unified diff, with secrets next to it replaced."""
        before, after = (_lines(data) for data in (self.image.data, self.after))
        name = self.path.lstrip("/")
        old = f"a/{name}" if self.image.data is not None else "/dev/null"
        new = f"b/{name}" if self.after is not None else "/dev/null"
        diff = "\n".join(difflib.unified_diff(before, after, old, new, lineterm=""))
        return scrub(diff).text.splitlines()


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines()


def plan_connection(
    home: Home, agent: HookedAgent, choice: ConnectionChoice, env: Mapping[str, str] = os.environ
) -> ConnectionPlan:
    """Return the change that connects an agent, or connects it again with other choices.

    Raises SettingsRefused: its settings cannot be read, or are not to be changed.
    """
    image = read_settings(settings_file(agent, env, choice.project))
    if agent.dialect == "opencode":
        return _plugin_plan(home, agent, choice, image)
    setup = _setup(home, agent, choice)
    if _has_hooks(settings_values(agent, image.file)["config"]):
        lines = tuple(toml_hooks(agent, choice.scope, setup))
        return ConnectionPlan(agent=agent, image=image, after=image.data, shown_only=lines)
    earlier = read_records(home).get(image.file.path)
    base, has_file = _without_ours(home, agent, image, earlier)
    is_blank = not base.strip(_BLANKS)
    try:
        after, entries = with_hooks(_EMPTY_DOCUMENT if is_blank else base, agent, choice.scope, setup)
    except JsonError as error:
        raise broken_settings(image.file, error) from None
    data = after.encode("utf-8")
    _require_fitting(image.file, data)
    record = ConnectionRecord(
        agent=agent.id, root=image.file.root, name=image.file.name,
        scope=choice.scope, otherwise=choice.otherwise,
        digest_before=_digest(home, base.encode("utf-8")) if has_file else None,
        digest_after=_digest(home, data), blank_before=base if is_blank else None,
        made_folders=earlier.made_folders if earlier else (), entries=entries,
    )  # fmt: skip
    return ConnectionPlan(agent=agent, image=image, after=data, record=record)


def plan_removal(home: Home, agent: HookedAgent, file: SettingsFile) -> ConnectionPlan:
    """Return the change that takes our hooks out of an agent's settings. Raises SettingsRefused.

    An untouched file gets the bytes that it had before; a file that was made for the hooks is deleted.
    """
    image = read_settings(file)
    record = read_records(home).get(image.file.path)
    folders = record.made_folders if record else ()
    if agent.dialect == "opencode":
        is_own = bool(parse_plugin(settings_text(image)))
        return ConnectionPlan(
            agent=agent, image=image, after=None if is_own else image.data, removes_folders=folders
        )
    text, has_file = _without_ours(home, agent, image, record)
    after = text.encode("utf-8") if has_file else None
    return ConnectionPlan(agent=agent, image=image, after=after, removes_folders=folders)


def connection_files(
    home: Home, agent: HookedAgent, project: str | None, env: Mapping[str, str] = os.environ
) -> tuple[SettingsFile, ...]:
    """Return the files in which an agent is or may be connected: its settings now, and those of records."""
    now = [settings_file(agent, env, folder) for folder in dict.fromkeys((None, project))]
    noted = [
        SettingsFile(root=record.root, name=record.name)
        for record in read_records(home).values()
        if record.agent == agent.id and Path(record.root).is_dir()
    ]
    return tuple({file.path: file for file in (*noted, *now)}.values())


def is_recorded(home: Home, file: SettingsFile) -> bool:
    """Return whether a settings file was changed and not taken back."""
    return file.path in read_records(home)


def _without_ours(
    home: Home, agent: HookedAgent, image: SettingsImage, record: ConnectionRecord | None
) -> tuple[str, bool]:
    """Return the text of a settings file without our hooks, and whether there would be such a file."""
    text = settings_text(image)
    if image.data is None or not text.strip(_BLANKS):
        return text, image.data is not None
    try:
        rest = without_hooks(text, agent, str(home.path), record.entries if record else ())
        is_empty = not parse_commented_json(rest).value
    except JsonError as error:
        raise broken_settings(image.file, error) from None
    if record is None:
        return rest, True
    if record.digest_before is None and is_empty:
        return "", False
    is_untouched = _digest(home, image.data) == record.digest_after
    if is_untouched and record.blank_before is not None:
        return record.blank_before, True
    return rest, True


def _plugin_plan(
    home: Home, agent: HookedAgent, choice: ConnectionChoice, image: SettingsImage
) -> ConnectionPlan:
    if image.data is not None and not parse_plugin(settings_text(image)):
        why = f"{image.file.path} is a plugin of another program."
        raise SettingsRefused(_NOT_CHANGED, why, "Rename it, then do this again.")
    data = plugin_text(agent, _setup(home, agent, choice)).encode("utf-8")
    earlier = read_records(home).get(image.file.path)
    record = ConnectionRecord(
        agent=agent.id, root=image.file.root, name=image.file.name,
        scope=choice.scope, otherwise=choice.otherwise,
        digest_before=None, digest_after=_digest(home, data),
        made_folders=earlier.made_folders if earlier else (),
    )  # fmt: skip
    return ConnectionPlan(agent=agent, image=image, after=data, record=record)


def _setup(home: Home, agent: HookedAgent, choice: ConnectionChoice) -> HookSetup:
    return HookSetup(
        python=own_interpreter(), data=str(home.path), start=workbench_command_line(["host", "serve"]),
        otherwise=choice.otherwise,
        seconds=0 if agent.timeout_unit == "none" else hook_timeout(choice.window_minutes),
    )  # fmt: skip


def hook_timeout(window_minutes: float) -> int:
    """Return the seconds that a hook has which waits for an answer."""
    return math.ceil(window_minutes * 60) + MARGIN_SECONDS


def _has_hooks(config: object) -> bool:
    """Return whether a configuration has hooks of its own; which hooks its user trusts are no hooks."""
    hooks = cast("Mapping[str, object]", config).get("hooks") if isinstance(config, Mapping) else None
    return isinstance(hooks, Mapping) and any(name != "state" for name in cast("Mapping[str, object]", hooks))


def _require_fitting(file: SettingsFile, data: bytes) -> None:
    if len(data) > LARGEST_SETTINGS:
        why = f"{file.path} would be over {LARGEST_SETTINGS:,} bytes."
        raise SettingsRefused(_NOT_CHANGED, why, "Remove what is not needed there.")


def _digest(home: Home, data: bytes) -> str:
    return hmac.new(home.key, data, hashlib.sha256).hexdigest()


# --- writing ------------------------------------------------------------------------------------------


def apply_plan(home: Home, plan: ConnectionPlan) -> None:
    """Write a plan, and note what takes it back. Raises SettingsRefused: nothing was changed.

    The record is written first: hooks without a record are still found, but their bytes are not known.
    """
    refuse_inside_agents(None, home, f"change the settings of {plan.agent.name}")
    try:
        with FileLock(home.run / "connections.lock") as lock, Root(plan.image.file.root) as root:
            if not lock.acquire_within(_LOCK_SECONDS):
                why = "Another workbench is connecting an agent."
                raise SettingsRefused(_NOT_CHANGED, why, "Do this again in a moment.")
            if plan.after is None or plan.record is None:
                _take_back(home, root, plan, plan.after)
            else:
                _write(home, root, plan, plan.record, plan.after)
    except NotDurable as error:
        raise SettingsRefused(f"{plan.path} was changed.", sentence(error.why), error.remedy) from None
    except FileRefused as error:
        raise refusal(plan.image.file, error) from None
    except BaseMoved:
        why = f"{plan.path} was changed by something else at the same moment."
        raise SettingsRefused(_NOT_CHANGED, why, "Look at it, then do this again.") from None


def _write(home: Home, root: Root, plan: ConnectionPlan, record: ConnectionRecord, data: bytes) -> None:
    name, before = plan.image.file.name, read_records(home).get(plan.path)
    staged = root.stage(name, data, plan.image.mode)
    record = replace(record, made_folders=(*record.made_folders, *staged.created))
    try:
        write_record(home, plan.path, record)
        root.commit(staged, lambda now: now == plan.image.data)
    except NotDurable:
        raise
    except BaseException:
        root.discard(staged)
        write_record(home, plan.path, before)
        raise


def _take_back(home: Home, root: Root, plan: ConnectionPlan, data: bytes | None) -> None:
    name = plan.image.file.name
    if data is not None:
        root.commit(root.stage(name, data, plan.image.mode), lambda now: now == plan.image.data)
    elif plan.image.data is not None:
        root.remove(name, lambda now: now == plan.image.data)
    root.remove_empty_folders(plan.removes_folders)
    write_record(home, plan.path, None)


# --- what is connected --------------------------------------------------------------------------------


class ConnectedFile(Struct, frozen=True, kw_only=True):
    """A settings file that has hooks of ours, and what is wrong with them."""

    path: str
    scope: Scope
    otherwise: str
    seconds: int
    """Timeout of the hook that waits; 0 if it waits for ever."""
    problems: tuple[str, ...] = ()


def connected_file(
    home: Home, agent: HookedAgent, file: SettingsFile, window_minutes: float
) -> ConnectedFile | None:
    """Return the connection of an agent in one of its files; None where there is none."""
    lines = dict(_lines_in(agent, file))
    own = {event: line for event, line in lines.items() if line.data == str(home.path)}
    if not own:
        return None
    fitting: list[Scope] = [one for one in agent.scopes if _asks_in(agent, one) & own.keys()]
    scope = fitting[0] if fitting else agent.scopes[0]
    asking = next((own[name] for name in _asks_in(agent, scope) if name in own), next(iter(own.values())))
    return ConnectedFile(
        path=file.path, scope=scope, otherwise=asking.otherwise, seconds=asking.seconds,
        problems=tuple(_problems(agent, scope, own, asking, window_minutes)),
    )  # fmt: skip


def _asks_in(agent: HookedAgent, scope: Scope) -> set[str]:
    return {event.name for event in agent.events_of(scope) if event.waits}


def _lines_in(agent: HookedAgent, file: SettingsFile) -> Iterator[tuple[str, HookLine]]:
    if agent.dialect == "opencode":
        yield from _plugin_lines(file).items()
        return
    values = settings_values(agent, file)
    for source in _HOOK_SOURCES:
        for hook in workbench_hooks(values[source]):
            if hook.line.agent == agent.id:
                yield hook.event, hook.line


def _plugin_lines(file: SettingsFile) -> Mapping[str, HookLine]:
    try:
        return parse_plugin(settings_text(read_settings(file)))
    except SettingsRefused:
        return {}


def _problems(
    agent: HookedAgent, scope: Scope, own: Mapping[str, HookLine], asking: HookLine, window_minutes: float
) -> Iterator[str]:
    again = f"workbench connect {agent.id} repairs it."
    missing = [event.name for event in agent.events_of(scope) if event.name not in own]
    if missing:
        yield f"Hooks are missing: {', '.join(missing)}. {again}"
    if not os.access(asking.python, os.X_OK):
        yield f"The hook's interpreter is gone: {asking.python}. {again}"
    if not Path(asking.client).is_file():
        yield f"The hook's program is gone, so the agent is not supervised: {asking.client}. {again}"
    if agent.timeout_unit != "none" and asking.seconds < hook_timeout(window_minutes):
        windows = f"Questions wait up to {window_minutes:g} minutes"
        yield f"{windows}, but {agent.name} ends the hook after {asking.seconds} s. {again}"
