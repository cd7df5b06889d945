"""`workbench notify test`: run the command of the settings that carries notices, once, with a sample."""

from argparse import Namespace

from workbench.cli.arguments import add_json_option
from workbench.cli.config import read_configuration
from workbench.cli.console import Console
from workbench.cli.errors import EXIT_FAILED, EXIT_OK, Refusal

TEST_EXAMPLE = "workbench notify test"
configure_test = add_json_option


def execute_test(options: Namespace, console: Console) -> int:
    """Send a sample; 1 when the command did not take it."""
    from workbench.effects.clock import SystemClock
    from workbench.effects.files import workspace_path
    from workbench.host.notify_command import NoticeNotDelivered, deliver_notice
    from workbench.journal.home import Home
    from workbench.views.command_notices import notice_json, sample_notice

    workspace = workspace_path(options.directory)
    config = read_configuration(workspace).config
    command = config.notify.command
    if command is None:
        why = "no command is set that carries notices"
        raise Refusal("nothing was sent", why, "set notify.command in config.json of the data folder")
    notice, problem = sample_notice(workspace, SystemClock().now()), ""
    try:
        deliver_notice(Home.open().path, config, command, notice)
    except NoticeNotDelivered as error:
        problem = str(error)
    sent = notice_json(notice).decode().rstrip()
    said = f"notify.command did not take it: {problem}." if problem else "notify.command took it."
    console.result({"ok": not problem, "problem": problem}, [f"Sent: {sent}", said], is_json=options.json)
    return EXIT_FAILED if problem else EXIT_OK
