"""What `/commands` that are typed in the composer do."""

# A word behind a slash that is nearly a command is not sent to the agent; a path has a second slash, and a
# blank before it sends anything.

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from workbench.tui.conversation.completion import ADD_PROVIDER
from workbench.tui.main.palette_commands import (
    KEY_COMMANDS,
)
from workbench.views.sandbox import sandbox_of_session, state_sentence

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext


def run_slash_command(context: "MainContext", name: str, rest: str) -> None:
    """Do what a command says."""
    if name in KEY_COMMANDS:
        context.do_key(KEY_COMMANDS[name])
    elif name in _COMMANDS_WITHOUT_VALUE:
        _COMMANDS_WITHOUT_VALUE[name](context)
    elif name in _COMMANDS_WITH_VALUE:
        _COMMANDS_WITH_VALUE[name](context, rest)
    else:
        context.say(f"/{name}: not there yet.")


def _open_messages(context: "MainContext") -> None:
    from workbench.tui.main.info_pages import open_messages

    open_messages(context)


def _open_queue(context: "MainContext") -> None:
    from workbench.tui.conversation.queue_dialog import open_queue

    open_queue(context)


def _restart_host(context: "MainContext") -> None:
    context.tasks.restart_host()


def _continue_session(context: "MainContext") -> None:
    context.tasks.ask_current(context.backend.continue_session, "Continues.")


def _end_session(context: "MainContext") -> None:
    current = context.state.current
    if current is None:
        context.say("There is no session here.")
        return
    context.tasks.file(lambda: context.backend.end_session(current.id))


def _begin_in_worktree(context: "MainContext") -> None:
    from workbench.tui.main import next_session

    if context.state.current is not None:
        next_session.begin_session(context)
    if not context.status.worktrees:
        next_session.toggle_worktree(context)
    context.widgets.composer.focus_input()


def _set_model(context: "MainContext", rest: str) -> None:
    if rest == ADD_PROVIDER:
        context.providers.open_form()
    else:
        _begin_or_set(context, "model", rest, context.folders.backend.models.set_model)


def _set_mode(context: "MainContext", rest: str) -> None:
    _begin_or_set(context, "mode", rest, context.folders.backend.models.set_mode)


def _set_sandbox(context: "MainContext", rest: str) -> None:
    standing = sandbox_of_session(context.status.sandbox, context.state.current)
    if not rest and standing is not None:
        context.say(state_sentence(standing))
    _begin_or_set(context, "sandbox", rest, context.folders.backend.models.set_sandbox)


def _set_tools(context: "MainContext", rest: str) -> None:
    _begin_or_set(context, "tools", rest, context.folders.backend.models.set_tools)


def _begin_or_set(
    context: "MainContext", command: str, value: str, setter: Callable[[str, str], str]
) -> None:
    """Give the session on show a value, or begin the command in the composer where none was typed."""
    if not value:
        context.widgets.composer.begin(f"/{command} ")
        return
    current = context.state.current
    session_id = current.id if current is not None else ""
    context.tasks.steer(lambda: setter(session_id, value))


def _add_mark(context: "MainContext", rest: str) -> None:
    current = context.state.current
    if current is None:
        context.say("Nothing was marked: there is no session here.")
        return
    session_id = current.id
    context.tasks.steer(lambda: context.folders.backend.models.add_bookmark(session_id, rest))


def _compact(context: "MainContext", rest: str) -> None:
    ask = context.folders.backend.compact_session
    context.tasks.ask_current(lambda session_id: ask(session_id, rest), "A summary is asked for.")


_COMMANDS_WITHOUT_VALUE: Final[dict[str, "Callable[[MainContext], None]"]] = {
    "messages": _open_messages, "restart": _restart_host, "continue": _continue_session,
    "go": _continue_session, "queue": _open_queue, "end": _end_session,
    "worktree": _begin_in_worktree,
}  # fmt: skip
_COMMANDS_WITH_VALUE: Final[dict[str, "Callable[[MainContext, str], None]"]] = {
    "compact": _compact, "model": _set_model, "mode": _set_mode, "mark": _add_mark,
    "sandbox": _set_sandbox, "tools": _set_tools,
    "provider": lambda context, rest: context.providers.command(rest),
}  # fmt: skip
"""Commands with a word behind them."""
