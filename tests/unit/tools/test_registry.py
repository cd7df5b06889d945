"""The registry: checked when it is made, fixed from then on."""

import pytest
from msgspec.structs import replace

from tests.support.tables import each_row
from workbench.config.sections import ToolSettings
from workbench.domain.tools import BUILT_IN_TOOLS
from workbench.domain.values import ToolExample
from workbench.policy import schemas
from workbench.policy.gate import GateCall, GateContext, ScreenedCall, screen_call
from workbench.tools.file_read import ReadFile
from workbench.tools.patch_apply import ApplyPatch
from workbench.tools.registry import InvalidTool, ToolRegistry, every_tool, tool_descriptors, tool_registry


class Fake:
    def __init__(self, **changed):
        self.descriptor = replace(ReadFile.descriptor, **changed)

    def read(self, parameters, root, limits):
        raise AssertionError


@pytest.mark.spec(61, 62, 196, 197, 198)
def test_the_catalogue_has_its_tools_with_their_risks():
    found = {
        d.id: (d.capability, d.risk_level, d.requires_approval) for d in tool_registry().visible("recorded")
    }
    assert found == {
        "create_file": ("write", "safe_write", True),
        "read_file": ("read", "read_only", True),
        "replace_string_in_file": ("write", "dangerous", True),
        "run_in_terminal": ("execute", "dangerous", True),
        "list_dir": ("read", "read_only", True),
        "file_search": ("read", "read_only", True),
        "grep_search": ("read", "read_only", True),
        "terminal_last_command": ("read", "read_only", True),
        "create_directory": ("write", "safe_write", True),
        "fetch_webpage": ("network", "dangerous", True),
        "git.preparePr": ("git", "dangerous", True),
        "context.read": ("read", "read_only", True),
        "pipeline.run": ("execute", "dangerous", True),
        "move_file": ("write", "dangerous", True),
        "delete_file": ("write", "dangerous", True),
    }


def test_rules_know_every_tool_by_its_name():
    assert {tool.id for tool in tool_descriptors()} == BUILT_IN_TOOLS


@pytest.mark.spec(60)
def test_every_tool_needs_approval_by_default():
    assert all(descriptor.requires_approval for descriptor in tool_registry().visible("x"))


@pytest.mark.spec(58)
def test_a_name_may_be_there_once():
    two = ToolRegistry((Fake(), Fake(id="other", wire_name="other")))
    assert set(two.descriptors()) == {"read_file", "other"}
    for second in (Fake(), Fake(id="other"), Fake(wire_name="other")):
        with pytest.raises(InvalidTool, match="read_file: registered twice"):
            ToolRegistry((Fake(), second))


@each_row(
    ("changed", "words"),
    [
        ({"input_schema": {"type": "objekt"}}, "input_schema"),
        (
            {"input_schema": {"type": "object", "properties": {"path": {"$ref": "http://x.test/"}}}},
            "outside the schema",
        ),
        ({"allowed_providers": ()}, "allowed_providers: empty"),
        ({"wire_name": "a.b"}, "wire_name"),
        ({"wire_name": "x" * 65}, "wire_name"),
        ({"description": ""}, "description"),
        ({"risk_level": "harmless"}, "risk_level"),
        ({"capability": "fly"}, "capability"),
        ({"path_parameters": ("file",)}, "file: not a parameter"),
        (
            {"examples": (ToolExample(description="bad", parameters={"paht": "a"}),)},
            "example 'bad': path: missing",
        ),
    ],
)
@pytest.mark.spec(59, 61, 193, 194, 222)
def test_a_tool_that_is_not_right_is_not_registered(changed, words):
    with pytest.raises(InvalidTool, match=words):
        ToolRegistry((Fake(**changed),))


@pytest.mark.spec(222)
def test_every_tool_passes_the_check_that_starts_leave_out():
    ToolRegistry(every_tool(), requested=(ApplyPatch(),))


def test_every_tool_has_examples_that_satisfy_its_schema():
    for descriptor in tool_registry().visible("x"):
        assert descriptor.examples
        for example in descriptor.examples:
            assert schemas.parameter_problems(descriptor.input_schema, example.parameters) == ()


@pytest.mark.spec(193)
def test_a_provider_sees_what_it_may_and_a_session_what_is_active():
    registry = ToolRegistry((Fake(), Fake(id="b.c", wire_name="b_c", allowed_providers=("ollama",))))
    assert [d.id for d in registry.visible("ollama")] == ["read_file", "b.c"]
    assert [d.id for d in registry.visible("recorded")] == ["read_file"]
    assert [d.id for d in registry.visible("ollama", ["b.c"])] == ["b.c"]
    assert [d.id for d in registry.visible("mine", kind="ollama")] == ["read_file", "b.c"], "S4 means kinds"
    assert [d.id for d in registry.visible("mine", kind="anthropic")] == ["read_file"]


@pytest.mark.spec(193)
def test_settings_offer_a_tool_to_fewer_providers_and_never_to_more():
    registry = ToolRegistry((Fake(), Fake(id="b.c", wire_name="b_c", allowed_providers=("ollama",))))
    settings = {
        "read_file": ToolSettings(providers=["local"]), "b_c": ToolSettings(providers=["local", "*"]),
        "other": ToolSettings(providers=["*"]),
    }  # fmt: skip
    assert [d.id for d in registry.visible("local", settings=settings)] == ["read_file"]
    assert [d.id for d in registry.visible("ollama", settings=settings)] == ["b.c"]
    nobody = {"b.c": ToolSettings(providers=["local"]), "read_file": ToolSettings(providers=[])}
    assert [registry.visible(name, settings=nobody) for name in ("local", "ollama", "*")] == [(), (), ()]
    assert registry.descriptors(settings)["b_c"].allowed_providers == ("ollama",)


def test_a_tool_is_found_by_id_and_wire_name():
    tool = Fake(id="b.c", wire_name="b_c")
    registry = ToolRegistry((tool,))
    assert registry.get("b.c") is registry.get("b_c") is tool
    assert registry.get("nothing") is None
    assert set(registry.descriptors()) == {"b.c", "b_c"}


@pytest.mark.spec(63)
def test_a_registry_cannot_be_changed():
    registry = tool_registry()
    for mapping in (
        registry._tools,
        registry.descriptors(),
        registry.descriptors({"x": ToolSettings(providers=[])}),
    ):
        with pytest.raises(TypeError):
            mapping["x"] = Fake()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"command": "ls", "timeout_seconds": 0}, "timeout_seconds"),
        ({"command": "ls", "timeout_seconds": 301}, "timeout_seconds"),
        ({"command": "ls", "timeout_seconds": 300}, ""),
        ({"command": "ls", "timeout_seconds": 1}, ""),
        ({"command": ""}, "command"),
    ],
)
def test_the_gate_holds_a_command_to_its_bounds(tmp_path, parameters, words):
    where = GateContext(
        descriptors=tool_registry().descriptors(),
        provider="x",
        workspace=str(tmp_path),
        session_id="s",
        now=0,
    )
    found = screen_call(GateCall(tool="run_in_terminal", parameters=parameters), where)
    if words:
        assert words in found.reason
    else:
        assert isinstance(found, ScreenedCall)
