"""Descriptors and contexts that the tests of the gate share."""

from msgspec.structs import replace

from workbench.domain.rows import Rule
from workbench.domain.values import ToolDescriptor
from workbench.policy.gate import GateContext


def _schema(required, **properties):
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": required,
        "additionalProperties": False,
    }


def _path_tool(name, capability, risk, **more):
    return ToolDescriptor(
        id=name,
        wire_name=name.replace(".", "_"),
        description="d",
        capability=capability,
        risk_level=risk,
        path_parameters=("path",),
        target_parameter="path",
        input_schema=_schema(["path"], path="string", **more),
    )


READ = _path_tool("read_file", "read", "read_only", start_line="integer")
CONTEXT = replace(_path_tool("context.read", "read", "read_only"), requires_approval=False)
LIST = _path_tool("list_dir", "read", "read_only")
CREATE = _path_tool("create_file", "write", "safe_write", content="string")
FOLDER = _path_tool("create_directory", "write", "safe_write")
REPLACE = _path_tool("replace_string_in_file", "write", "dangerous", new="string")
GREP = ToolDescriptor(
    id="grep_search",
    wire_name="grep_search",
    description="d",
    capability="read",
    risk_level="read_only",
    target_parameter="pattern",
    input_schema=_schema(["pattern"], pattern="string"),
)
FIND = replace(GREP, id="file_search", wire_name="file_search")
SHELL = ToolDescriptor(
    id="run_in_terminal",
    wire_name="run_in_terminal",
    description="d",
    capability="execute",
    risk_level="dangerous",
    command_parameter="command",
    target_parameter="command",
    input_schema=_schema(["command"], command="string"),
)
FETCH = ToolDescriptor(
    id="fetch_webpage",
    wire_name="fetch_webpage",
    description="d",
    capability="network",
    risk_level="dangerous",
    url_parameter="url",
    target_parameter="url",
    input_schema=_schema(["url"], url="string"),
)
SERVED = replace(GREP, id="mcp__github__search", wire_name="mcp__github__search")
TOOLS = (READ, CONTEXT, LIST, CREATE, FOLDER, REPLACE, GREP, FIND, SHELL, FETCH, SERVED)
KNOWN = {tool.id: tool for tool in TOOLS}
DESCRIPTORS = {name: tool for tool in TOOLS for name in (tool.id, tool.wire_name)}


def context(workspace, **changed):
    base = GateContext(
        descriptors=DESCRIPTORS, provider="recorded", workspace=str(workspace), session_id="s1", now=1000
    )
    return replace(base, **changed)


def rule(**changed):
    base = Rule(
        id="R1",
        effect="allow",
        origin="user",
        scope="always",
        tool="run_in_terminal",
        pattern_kind="glob",
        pattern="Bash(git diff *)",
        description="look at changes",
        created_at=0,
    )
    return replace(base, **changed)
