"""The backend on this machine does everything that the screen asks; none of it says that it only shows."""

import json
import re

import pytest

from tests.support.chat_server import ChatServer, error, said
from workbench.backend.library import LocalLibrary
from workbench.backend.local_backend import LocalBackend
from workbench.backend.models import LocalModels
from workbench.backend.providers import LocalProviders
from workbench.backend.rules import LocalRules
from workbench.backend.runs import LocalRuns
from workbench.domain.events import CallExecuting, CommandSuggested
from workbench.domain.values import Usage
from workbench.host.command_session import CommandRefused
from workbench.journal.home import Home
from workbench.journal.journal import Journal

NOT_ON_EVERY_SYSTEM = {"copy_to_clipboard", "opening", "is_wide"}


@pytest.mark.parametrize(
    "local", [LocalBackend, LocalLibrary, LocalModels, LocalProviders, LocalRules, LocalRuns]
)
def test_every_method_of_the_backend_is_done_on_this_machine(local):
    asked = {name for name in vars(local.__base__) if not name.startswith("_")} - NOT_ON_EVERY_SYSTEM
    assert asked <= set(vars(local))


def test_prices_of_a_provider_that_is_set_up_meanwhile_count_once_the_change_is_told(tmp_path):
    home = Home.open(tmp_path / "home")
    with Journal.open(home) as journal:
        backend = LocalBackend(home, journal, str(tmp_path))
        beside = backend.of(str(tmp_path / "beside"))
        used = Usage(input_tokens=1_000_000, output_tokens=0)
        assert (backend.price("mine", "m", used), beside.price("mine", "m", used)) == (None, None)
        mine = {"kind": "ollama", "prices": {"input_per_million": 3, "output_per_million": 4}}
        (home.path / "config.json").write_text(json.dumps({"providers": {"mine": mine}}))
        backend.configuration_changed()
        assert (backend.price("mine", "m", used), beside.price("mine", "m", used)) == (3_000_000, 3_000_000)


# --- `!` in the composer: words become a command -----------------------------------------------------


class Composer:
    """The backend as the composer asks it for a command, and what the journal and the log have of it then."""

    def __init__(self, home, journal, workspace):
        self.home, self.journal = home, journal
        self.backend = LocalBackend(home, journal, str(workspace))
        self.words = None

    def suggest(self, answer, words="count go files", **settings):
        with ChatServer(answer) as server:
            local = {"kind": "openai-compatible", "base_url": server.base_url}
            settings |= {"providers": {"local": local}, "ask": {"model": "local/m", "terminal_lines": 0}}
            (self.home.path / "config.json").write_text(json.dumps(settings, indent=1))
            try:
                return self.backend.suggest_command(words)
            finally:
                (asked,) = server.asked
                self.words = asked.json["messages"][-1]["content"]

    def ended(self, status):
        """Check that it is over: no lease, no driver that lives, nothing run; return what is logged."""
        (session,) = [row for row in self.journal.sessions() if row.kind == "ask"]
        assert (session.log_status, self.journal.lease(session.id).released) == (status, True)
        assert all(host.ended_at for host in self.journal.hosts())
        events = self.journal.events(session.id)
        assert events[0].actor.via == "screen"
        assert not [event for event in events if isinstance(event.body, CallExecuting)]
        (log,) = self.home.ask_logs.iterdir()
        document = json.loads(log.read_text())
        assert document["metadata"]["final_status"] == status and log.stat().st_mode & 0o777 == 0o600
        suggested = [event.body.command for event in events if isinstance(event.body, CommandSuggested)]
        assert [one["model_output"]["command"] for one in document["iterations"]] == suggested
        return suggested


@pytest.fixture
def composer(tmp_path):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    home = Home.open(tmp_path / "home")
    with Journal.open(home) as journal:
        yield Composer(home, journal, workspace)


def command(text):
    return said(json.dumps({"command": text, "explanation": "It counts."}))


@pytest.mark.spec(170, 171)
def test_words_of_the_composer_become_a_command_whose_session_is_over_and_logged(composer):
    made = composer.suggest(command("fd -e go | wc -l"), approvals={"allow": ["Bash(fd *)"]})
    assert made.command == "fd -e go | wc -l" and made.said.startswith("It counts. ")
    assert composer.words.endswith("count go files")
    assert composer.ended("accepted") == ["fd -e go | wc -l"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ls && rm -rf build", r"Denied: .*config\.json line \d+"),
        ("rm \u202efdp.txt", "characters that cannot be seen"),
    ],
)
def test_a_denied_or_hidden_command_never_comes_into_the_field(composer, text, why):
    with pytest.raises(CommandRefused) as refused:
        composer.suggest(command(text), approvals={"deny": ["Bash(rm *)"]})
    told = str(refused.value)
    assert re.search(why, told) and "not put in the field" in told and "\u202e" not in told
    assert composer.ended("quit") == [text]


def test_a_model_that_fails_gives_no_command_and_leaves_no_lease(composer):
    with pytest.raises(CommandRefused, match="needs a key"):
        composer.suggest(error("401 Unauthorized", "no"))
    assert composer.ended("quit") == []


def test_a_log_that_cannot_be_written_is_said_beside_the_command(composer):
    (composer.home.path / "ask").mkdir()
    (composer.home.path / "ask" / "logs").write_text("in the way")
    made = composer.suggest(command("fd -e go"))
    assert made.command == "fd -e go" and "The log was not written" in made.said
