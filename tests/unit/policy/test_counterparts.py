"""Tools of other agents are covered by what covers the built-in tools that do the same."""

import pytest

from tests.unit.policy.gate_cases import KNOWN, context, rule
from workbench.domain.values import GateVerdict, PermissionPattern, ToolDescriptor
from workbench.policy.gate import GateCall, judge_screened_call, screen_call

WRITE = ToolDescriptor(
    id="Write", wire_name="Write", description="d", capability="write", risk_level="dangerous",
    path_parameters=("file_path",), target_parameter="file_path",
    input_schema={"type": "object", "properties": {"file_path": {"type": "string"}}},
    acts_as=("create_file", "replace_string_in_file"),
)  # fmt: skip
SHELL = ToolDescriptor(
    id="shell", wire_name="shell", description="d", capability="execute", risk_level="dangerous",
    command_parameter="command", acts_as=("run_in_terminal",),
    input_schema={"type": "object", "properties": {"command": {"type": "string"}}},
)  # fmt: skip
TOOLS = {**KNOWN, "Write": WRITE, "shell": SHELL}


def verdict(tmp_path, tool, parameters, **changed):
    gate = context(tmp_path, descriptors=TOOLS, **changed)
    screened = screen_call(GateCall(tool=tool, parameters=parameters), gate)
    return (screened if isinstance(screened, GateVerdict) else judge_screened_call(screened, gate)).outcome


@pytest.mark.parametrize(
    ("pattern", "denies", "grants"),
    [
        ("Edit(a.txt)", True, False),
        ("create_file(a.txt)", True, False),
        ("replace_string_in_file", True, False),
        ("Write(a.txt)", True, True),
        ("Read(b.txt)", False, False),
    ],
)
def test_one_counterpart_denies_and_all_grant(tmp_path, pattern, denies, grants):
    call, glob = {"file_path": "a.txt"}, (PermissionPattern(text=pattern),)
    assert verdict(tmp_path, "Write", call, deny=glob) == ("denied" if denies else "ask")
    assert verdict(tmp_path, "Write", call, allow=glob) == ("allowed" if grants else "ask")


def test_rules_that_name_a_counterpart_hold_for_it(tmp_path):
    expression = {"pattern_kind": "regex", "pattern": "a"}
    allowing = rule(tool="create_file", pattern_kind="regex", pattern='"file_path":"a')
    assert verdict(tmp_path, "Write", {"file_path": "a.txt"}, rules=(allowing,)) == "ask"
    denying = rule(effect="deny", tool="create_file", **expression)
    assert verdict(tmp_path, "Write", {"file_path": "a.txt"}, rules=(denying,)) == "denied"
    only = rule(tool="run_in_terminal", pattern="Bash(git diff *)")
    assert verdict(tmp_path, "shell", {"command": "git diff x"}, rules=(only,)) == "allowed"
    assert verdict(tmp_path, "shell", {"command": "git push"}, rules=(only,)) == "ask"
