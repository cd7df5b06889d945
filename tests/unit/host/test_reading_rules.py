"""The rules that come with a connection: connected agents read, and ask about all else."""

import pytest

from tests.support.fake_agent import supervise
from tests.support.stage import USER, recording
from tests.support.waits import until_true
from workbench.host.reading_rules import READING_CALLS, add_reading_rules, revoke_reading_rules
from workbench.journal.decisions import revoke_rule

LOOKS = {
    "read": ("Read", {"file_path": "a.txt"}),
    "search": ("Grep", {"pattern": "x", "path": "."}),
    "find": ("Glob", {"pattern": "**/*.py"}),
    "list": ("LS", {"path": "."}),
    "ls": ("Bash", {"command": "ls -la"}),
    "pwd": ("Bash", {"command": "pwd"}),
    "state": ("Bash", {"command": "git status --short"}),
}
ASKS = {
    "outside": ("Read", {"file_path": "/etc/passwd"}),
    "find outside": ("Glob", {"pattern": "/etc/*"}),
    "write": ("Write", {"file_path": "a.txt", "content": "b"}),
    "command": ("Bash", {"command": "ls; rm a.txt"}),
    "git writes": ("Bash", {"command": "git diff --output=a.txt"}),
}


@pytest.fixture
def stage(staged):
    return staged(recording(), files={"a.txt": "a\n"})


@pytest.mark.parametrize("name", [*LOOKS, *ASKS])
def test_what_only_reads_inside_the_folder_passes_and_all_else_asks(stage, name):
    tool, given = {**LOOKS, **ASKS}[name]
    rules = add_reading_rules(stage.journal, USER)
    assert [rule.pattern for rule in rules] == [pattern for _, pattern in READING_CALLS]

    async def scenario(agent):
        agent.ask("n1", tool, given, "c1")
        if name in ASKS:
            assert await until_true(stage.waiting)
        else:
            assert (await agent.answer("n1")).outcome == "allow"

    supervise(stage, scenario)


def test_rules_that_were_revoked_do_not_come_back_and_all_go_together(stage):
    first, *_ = add_reading_rules(stage.journal, USER)
    revoke_rule(stage.journal, first.id, USER)
    assert add_reading_rules(stage.journal, USER) == ()
    assert revoke_reading_rules(stage.journal, USER) == len(READING_CALLS) - 1
    assert stage.journal.rules(active=True) == []
    assert len(add_reading_rules(stage.journal, USER)) == len(READING_CALLS)
