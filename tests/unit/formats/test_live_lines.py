"""Readers of files that grow: fed line by line they say what they say of the whole, and hold only its end back."""

import itertools

import pytest

from tests.unit.formats import agent_files, foreign_files
from tests.unit.host.test_import_growth import claude_lines, codex_lines
from workbench.formats import records as r
from workbench.formats.detect import LINE_FORMATS
from workbench.formats.input import json_values
from workbench.formats.live_lines import LiveLines
from workbench.host.transcript_follower import FOLLOWED_FORMATS

READERS = {line_format.name: line_format.read for line_format in LINE_FORMATS}
FILES = {
    "antigravity": agent_files.ANTIGRAVITY, "claude-code": "".join(claude_lines()).encode(),
    "codex": "".join(codex_lines()).encode(), "copilot": agent_files.COPILOT, "cursor": agent_files.CURSOR,
    "grok": agent_files.GROK, "opencode": agent_files.OPENCODE_RUN, "pi": foreign_files.PI, "qwen": agent_files.QWEN,
    "vibe": agent_files.VIBE,
}  # fmt: skip
MOST_HELD = 6
"""Records that wait for a later line."""


def test_each_format_that_is_followed_has_a_file_here():
    assert set(FILES) == set(FOLLOWED_FORMATS)


@pytest.mark.parametrize("form", FOLLOWED_FORMATS)
def test_lines_that_come_one_by_one_say_what_the_file_says(form):
    lines = FILES[form].splitlines()
    whole = list(READERS[form](json_values(lines), "x"))
    live, at_once = LiveLines(READERS[form], "x"), LiveLines(READERS[form], "x")
    said = []
    for number, line in enumerate(lines, 1):
        said += [(live.number, record) for record in live.read(json_values([line], number))]
        assert list(live.read(())) == []
    assert said == [(at_once.number, record) for record in at_once.read(json_values(lines))]
    assert [record for _, record in said] == whole[: len(said)]
    assert len(whole) - MOST_HELD <= len(said)


def test_what_a_reply_has_spent_is_waited_for():
    lines = [b'{"type": "event_msg", "payload": {"type": "task_started"}}', *codex_lines_of_a_reply()]
    live = LiveLines(READERS["codex"], "x")
    said = [list(live.read(json_values([line], number))) for number, line in enumerate(lines, 1)]
    (reply,) = [record for record in itertools.chain(*said) if isinstance(record, r.Reply)]
    assert reply.usage.output_tokens == 7
    assert not any(isinstance(record, r.Reply) for record in said[1])


def codex_lines_of_a_reply():
    yield b'{"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}}'
    yield b'{"type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": {"output_tokens": 7}, "last_token_usage": {"output_tokens": 7}}}}'
    yield b'{"type": "event_msg", "payload": {"type": "task_complete"}}'
