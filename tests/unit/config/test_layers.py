"""Which value holds, where it came from, and what a workspace may say before it is trusted."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.tables import each_row
from workbench.config.layers import load_config
from workbench.config.types import ApprovalPattern, IgnoredValue, LoadedConfig, Origin


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def write(home: Path, value: object) -> Path:
    path = home / "config.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
    return path


def write_workspace(workspace: Path, value: object) -> Path:
    path = workspace / ".workbench.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
    return path


def loaded(
    home: Path,
    workspace: Path | None = None,
    *,
    trusted: bool = False,
    env: Mapping[str, str] | None = None,
    options: Mapping[str, object] | None = None,
) -> LoadedConfig:
    return load_config(home, workspace, trusted=trusted, env=env or {}, options=options or {})


@pytest.mark.spec(37, 38)
def test_nothing_configured_gives_the_defaults(home: Path, workspace: Path):
    result = loaded(home, workspace)
    config = result.config
    assert result.problems == ()
    assert result.ignored == ()
    assert (config.api_timeout_seconds, config.max_session_messages, config.output_format) == (
        30,
        100,
        "human",
    )
    assert (config.default_model, config.auto_approval_rules, config.config_version) == (None, (), 1)
    assert config.approvals.window_minutes == 15
    assert config.limits.max_turns == 50
    assert set(result.origins.values()) == {Origin(layer="default")}


@pytest.mark.spec(38)
def test_ollama_answers_at_its_usual_place(home: Path):
    write(home, {"providers": {"ollama": {}}})
    assert loaded(home).config.providers["ollama"].base_url == "http://localhost:11434"


@pytest.mark.spec(44)
def test_layers_take_precedence_key_by_key(home: Path, workspace: Path):
    user = write(
        home, {"default_model": "u", "output_format": "json", "ui": {"motion": "none", "theme": "t"}}
    )
    own = write_workspace(
        workspace, {"default_model": "w", "api_timeout_seconds": 60, "limits": {"max_turns": 60}}
    )
    env = {
        "WORKBENCH_API_TIMEOUT_SECONDS": "70",
        "WORKBENCH_UI_THEME": "e",
        "WORKBENCH_LIMITS_MAX_TURNS": "70",
    }
    result = loaded(
        home, workspace, trusted=True, env=env, options={"limits.max_turns": 80, "default_provider": None}
    )
    config = result.config
    assert result.problems == ()
    assert (config.default_model, config.output_format, config.api_timeout_seconds) == ("w", "json", 70)
    assert (config.ui.motion, config.ui.theme, config.limits.max_turns) == ("none", "e", 80)
    assert result.origins["output_format"] == Origin(layer="user", file=str(user), line=3)
    assert result.origins["ui.motion"] == Origin(layer="user", file=str(user), line=5)
    assert result.origins["default_model"] == Origin(layer="workspace", file=str(own), line=2)
    assert result.origins["ui.theme"] == Origin(layer="environment", file="WORKBENCH_UI_THEME")
    assert result.origins["limits.max_turns"] == Origin(layer="option", file="option")
    assert result.origins["ui.density"] == Origin(layer="default")


def test_denials_of_all_layers_are_united_and_know_their_line(home: Path, workspace: Path):
    user = write(home, '{"approvals": {"deny": [\n"A",\n"B"]}}')
    own = write_workspace(workspace, '{\n"approvals": {"deny": ["W"]}}')
    env = {"WORKBENCH_APPROVALS_DENY": "Bash(a, b)\nE"}
    for trusted in (False, True):
        deny = loaded(
            home, workspace, trusted=trusted, env=env, options={"approvals.deny": ["O"]}
        ).config.approvals.deny
        assert deny == (
            ApprovalPattern(text="A", origin=Origin(layer="user", file=str(user), line=2)),
            ApprovalPattern(text="B", origin=Origin(layer="user", file=str(user), line=3)),
            ApprovalPattern(text="W", origin=Origin(layer="workspace", file=str(own), line=2)),
            ApprovalPattern(
                text="Bash(a, b)", origin=Origin(layer="environment", file="WORKBENCH_APPROVALS_DENY")
            ),
            ApprovalPattern(text="E", origin=Origin(layer="environment", file="WORKBENCH_APPROVALS_DENY")),
            ApprovalPattern(text="O", origin=Origin(layer="option", file="option")),
        )


NARROWING = {
    "approvals.window_minutes": 5,
    "approvals.windows": [{"kind": "edit", "minutes": 5}],
    "approvals.read_only": "ask",
    "approvals.sandboxed": "ask",
    "sandbox.level": "read-only",
    "sandbox.required": True,
    "approvals.on_expiry": "pause",
    "approvals.require_seen": True,
    "approvals.single_press": "off",
    "approvals.deny": ["X"],
    "limits.tool_output_bytes": 1000,
    "limits.context_file_bytes": 1000,
    "limits.command_seconds": 10,
    "limits.output_blob_bytes": 2000,
    "limits.max_turns": 10,
    **{f"limits.tokens.{scope}": 1_000 for scope in ("session", "run", "day")},
    **{f"limits.cost.{scope}": 0.5 for scope in ("session", "run", "day")},
    "limits.repeats_noted": 2,
    "limits.repeats_paused": 4,
    "fetch.allow_loopback": False,
    "pipelines.max_concurrent_workers": 1,
    "pipelines.max_workspace_steps": 1,
    "pipelines.max_home_steps": 1,
    "ask.terminal_lines": 0,
    "tools": {"fetch_webpage": {"providers": ["ollama"]}},
}
WIDENING = {
    "approvals.window_minutes": 16,
    "approvals.read_only": "auto",
    "approvals.sandboxed": "auto",
    "sandbox.level": "outside",
    "sandbox.visible": ["/srv/data"],
    "sandbox.backend": "none",
    "approvals.on_expiry": "continue",
    "approvals.require_seen": False,
    "approvals.single_press": "edits",
    "approvals.allow": ["*"],
    "notify.command": "cat",
    "limits.tool_output_bytes": 10_241,
    "limits.context_file_bytes": 102_401,
    "limits.command_seconds": 61,
    "limits.output_blob_bytes": 104_857_601,
    "limits.max_turns": 51,
    "limits.repeats_noted": 0,
    "limits.repeats_paused": 6,
    "fetch.allow_loopback": True,
    "fetch.allowed_hosts": ["h"],
    "pipelines.max_concurrent_workers": 6,
    "hooks.PreToolUse": [{"matcher": "*", "command": "true"}],
    "hooks.PostToolUse": [{"matcher": "*", "command": "true"}],
    "auto_approval_rules": [{"id": "1", "tool_name": "t", "param_pattern": "p", "description": "d"}],
    "providers.p.kind": "ollama",
    "default_model": "m",
    "default_provider": "ollama",
    "api_timeout_seconds": 29,
    "max_session_messages": 99,
    "instruction_files": [],
    "limits.compact_percent": 50,
    "output_format": "json",
    "retention.sealed_days": 29,
    "sessions.watch": True,
    "sessions.leave_out": ["codex"],
    "sessions.keep_imported_days": 1,
    "ui.theme": "t",
    "ui.density": "compact",
    "ui.glyphs": "ascii",
    "ui.motion": "none",
    "ui.keymap": {"a": "b"},
    "ui.notify.bell": False,
    "ui.notify.title": False,
    "ui.notify.desktop": "always",
    "incidents.checker": "ruff check --output-format json",
    "ask.model": "m",
    "ask.preferences_dir": "/somewhere",
    "ask.terminal_lines": 101,
    "prices": {"m": {"input_per_million": 1, "output_per_million": 2}},
}


def as_file(path: str, value: object) -> dict[str, object]:
    for name in reversed(path.split(".")):
        value = {name: value}
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("path", NARROWING)
def test_an_untrusted_workspace_narrows(home: Path, workspace: Path, path: str):
    own = write_workspace(workspace, as_file(path, NARROWING[path]))
    result = loaded(home, workspace)
    assert result.ignored == ()
    assert result.origins[path].file == str(own)


@pytest.mark.parametrize("path", WIDENING)
def test_an_untrusted_workspace_does_nothing_else(home: Path, workspace: Path, path: str):
    own = write_workspace(workspace, as_file(path, WIDENING[path]))
    result = loaded(home, workspace)
    assert result.config == loaded(home).config
    assert [(one.key, one.file, one.line) for one in result.ignored] == [
        (path, str(own), path.count(".") + 2)
    ]
    assert result.problems == ()


@pytest.mark.spec(193)
def test_what_offers_a_tool_to_fewer_providers_is_never_taken_back(home: Path, workspace: Path):
    write(
        home, {"tools": {"read_file": {"providers": ["ollama", "local"]}, "list_dir": {"providers": ["*"]}}}
    )
    write_workspace(
        workspace,
        {
            "tools": {
                "read_file": {"providers": ["*"]}, "list_dir": {"providers": ["local"]},
                "create_file": {"providers": []},
            }
        },
    )  # fmt: skip
    env = {"WORKBENCH_TOOLS": '{"read_file": {"providers": ["hosted", "local"]}}'}
    for trusted in (False, True):
        tools = loaded(home, workspace, trusted=trusted, env=env).config.tools
        assert {name: tool.providers for name, tool in tools.items()} == {
            "read_file": ["local"], "list_dir": ["local"], "create_file": [],
        }  # fmt: skip


@each_row(
    "value",
    [[], {"read_file": []}, {"read_file": {}}, {"read_file": {"providers": "ollama"}}, {"x": {"providers": [1]}},
     {"x": {"provider": ["a"]}}, {"": {"providers": ["a"]}}],
)  # fmt: skip
def test_settings_of_tools_that_cannot_be_read_stop_everything(home: Path, value):
    write(home, {"tools": value})
    result = loaded(home)
    assert not result.is_usable
    assert result.config.tools == {}


def test_every_key_is_in_one_of_the_two_tables():
    from workbench.config.types import CONFIG_KEYS

    missing = {key.path for key in CONFIG_KEYS} - set(NARROWING) - set(WIDENING) - {"config_version"}
    assert missing == set()


ONLY_OF_USER = ("approvals.allow", "notify.command", "sandbox.visible", "sandbox.backend")
ONLY_NARROWED = ("approvals.sandboxed", "sandbox.level")


@pytest.mark.parametrize("path", [path for path in WIDENING if path not in ONLY_OF_USER + ONLY_NARROWED])
def test_a_trusted_workspace_has_its_say(home: Path, workspace: Path, path: str):
    own = write_workspace(workspace, as_file(path, WIDENING[path]))
    result = loaded(home, workspace, trusted=True)
    assert result.ignored == ()
    assert result.origins[path].file == str(own)


@pytest.mark.parametrize("path", ONLY_NARROWED)
def test_even_a_trusted_workspace_only_narrows_the_sandbox(home: Path, workspace: Path, path: str):
    own = write_workspace(workspace, as_file(path, WIDENING[path]))
    result = loaded(home, workspace, trusted=True)
    reason = "A workspace only narrows this, and this would allow more than now."
    assert [(one.key, one.file, one.reason) for one in result.ignored] == [(path, str(own), reason)]
    assert result.origins[path].layer == "default"


@pytest.mark.parametrize("path", ["sandbox.visible", "sandbox.backend"])
def test_even_a_trusted_workspace_says_nothing_about_the_sandbox(home: Path, workspace: Path, path: str):
    write_workspace(workspace, as_file(path, WIDENING[path]))
    result = loaded(home, workspace, trusted=True)
    assert [one.key for one in result.ignored] == [path]
    assert result.origins[path].layer == "default"


def test_even_a_trusted_workspace_allows_nothing(home: Path, workspace: Path):
    write(home, {"approvals": {"allow": ["Read"]}})
    own = write_workspace(workspace, {"approvals": {"allow": ["*"]}})
    result = loaded(home, workspace, trusted=True)
    assert [pattern.text for pattern in result.config.approvals.allow] == ["Read"]
    reason = "Only your own configuration can allow calls."
    assert result.ignored == (IgnoredValue(key="approvals.allow", file=str(own), line=3, reason=reason),)


def test_even_a_trusted_workspace_names_no_command_for_notices(home: Path, workspace: Path):
    write(home, {"notify": {"command": "own"}})
    own = write_workspace(workspace, {"notify": {"command": "theirs"}})
    result = loaded(home, workspace, trusted=True)
    assert result.config.notify.command == "own"
    reason = "Only your own configuration names the command that carries notices."
    assert result.ignored == (IgnoredValue(key="notify.command", file=str(own), line=3, reason=reason),)


def test_narrowing_is_measured_by_the_users_value(home: Path, workspace: Path):
    write(home, {"approvals": {"window_minutes": 2}})
    write_workspace(workspace, {"approvals": {"window_minutes": 5}})
    assert loaded(home, workspace).config.approvals.window_minutes == 2
    assert loaded(home, workspace, trusted=True).config.approvals.window_minutes == 5


def test_no_layer_takes_a_hook_away(home: Path, workspace: Path):
    hook = {"matcher": "Bash(*)", "command": "guard"}
    write(home, {"hooks": {"PreToolUse": [hook]}})
    write_workspace(workspace, {"hooks": {"PreToolUse": []}})
    (only,) = loaded(
        home, workspace, trusted=True, env={"WORKBENCH_HOOKS_PRETOOLUSE": "[]"}
    ).config.hooks.pre_tool_use
    assert (only.matcher, only.command, only.origin.layer) == ("Bash(*)", "guard", "user")


def test_a_workspace_cannot_send_the_users_key_elsewhere(home: Path, workspace: Path):
    write(
        home, {"providers": {"p": {"kind": "openai-compatible", "base_url": "https://good", "key_env": "K"}}}
    )
    write_workspace(
        workspace, {"providers": {"p": {"kind": "openai-compatible", "base_url": "https://other"}}}
    )
    provider = loaded(home, workspace, trusted=True).config.providers["p"]
    assert (provider.base_url, provider.key_env) == ("https://other", None)


def test_variables_and_options_change_one_field_of_a_provider(home: Path):
    write(
        home, {"providers": {"My-Own": {"kind": "openai-compatible", "base_url": "http://a", "model": "m"}}}
    )
    env = {"WORKBENCH_PROVIDERS_MY_OWN_BASE_URL": "http://b", "WORKBENCH_PROVIDERS_MY_OWN_NUM_CTX": "4096"}
    provider = loaded(home, env=env, options={"providers.My-Own.model": "n"}).config.providers["My-Own"]
    assert (provider.base_url, provider.num_ctx, provider.model) == ("http://b", 4096, "n")


@pytest.mark.parametrize(
    ("name", "text", "path", "expected"),
    [
        ("WORKBENCH_DEFAULT_MODEL", "7", "default_model", "7"),
        ("WORKBENCH_APPROVALS_WINDOW_MINUTES", "0.5", "approvals.window_minutes", 0.5),
        ("WORKBENCH_UI_NOTIFY_BELL", "off", "ui.notify.bell", False),
        ("WORKBENCH_UI_NOTIFY_TITLE", "0", "ui.notify.title", False),
        ("WORKBENCH_FETCH_ALLOWED_HOSTS", '["a.example"]', "fetch.allowed_hosts", ("a.example",)),
        ("WORKBENCH_UI_KEYMAP", '{"a": "b"}', "ui.keymap", {"a": "b"}),
    ],
)
def test_variables_are_read_as_their_key_has_it(
    home: Path, name: str, text: str, path: str, expected: object
):
    result = loaded(home, env={name: text})
    value: object = result.config
    for part in path.split("."):
        value = getattr(value, part)
    assert value == expected
    assert result.origins[path] == Origin(layer="environment", file=name)


def test_variables_of_the_program_are_no_settings(home: Path):
    env = {
        "WORKBENCH_HOME": "/x",
        "WORKBENCH_CALL": "c",
        "WORKBENCH_FAULTS": "f",
        "PATH": "/bin",
        "WORKBENCHX": "y",
    }
    assert loaded(home, env=env).problems == ()


def test_an_unknown_variable_is_named_with_the_nearest_key(home: Path):
    (problem,) = loaded(home, env={"WORKBENCH_UI_MOTON": "none"}).problems
    assert (problem.file, problem.fatal) == ("WORKBENCH_UI_MOTON", False)
    assert problem.remedy == "The nearest known key is ui.motion."


@pytest.mark.spec(37)
def test_winks_key_and_version_are_read(home: Path):
    path = write(
        home,
        {
            "config_version": "1.0",
            "default_model": "qwen3:8b",
            "ollama_base_url": "http://box:11434",
            "auto_approval_rules": [
                {
                    "id": "rule-1",
                    "tool_name": "read_file",
                    "param_pattern": ".*\\.txt$",
                    "description": "Auto-approve reading .txt files",
                    "created_at": "2025-11-10T09:00:00Z",
                    "last_used_at": None,
                    "use_count": 5,
                }
            ],
        },
    )
    result = loaded(home)
    (rule,) = result.config.auto_approval_rules
    assert result.problems == ()
    assert result.notes == (f"{path} is of the older version 1.0; it was read as version 1.",)
    assert result.config.config_version == 1
    assert (result.config.providers["ollama"].kind, result.config.providers["ollama"].base_url) == (
        "ollama",
        "http://box:11434",
    )
    assert (rule.id, rule.tool_name, rule.param_pattern, rule.use_count) == (
        "rule-1",
        "read_file",
        ".*\\.txt$",
        5,
    )
    assert (rule.created_at, rule.last_used_at, rule.origin.line) == (1_762_765_200_000_000, None, 6)
    assert result.origins["providers.ollama.base_url"].line == 4


@pytest.mark.spec(46)
@pytest.mark.parametrize("version", [2, "2.0"])
def test_a_newer_version_is_refused_and_left_alone(home: Path, version: object):
    path = write(home, {"config_version": version, "default_model": "m"})
    before = path.read_bytes()
    result = loaded(home)
    (problem,) = result.problems
    assert (problem.fatal, problem.line, result.config.default_model) == (True, 2, None)
    assert problem.message.startswith("it was written for version")
    assert path.read_bytes() == before


@pytest.mark.spec(46)
@pytest.mark.parametrize(("version", "notes"), [(1, 0), ("1.0", 1), ("0.9", 1), (None, 0)])
def test_the_known_version_and_older_ones_are_read_and_an_older_one_is_told(
    home: Path, version: object, notes: int
):
    content: dict[str, object] = {"default_model": "m"}
    write(home, content if version is None else {"config_version": version, **content})
    result = loaded(home)
    assert (result.is_usable, result.config.default_model, len(result.notes)) == (True, "m", notes)


@pytest.mark.spec(46)
@pytest.mark.parametrize("version", [0, -1, True, "abc", 1.5, None])
def test_what_is_no_version_is_refused(home: Path, version: object):
    write(home, {"config_version": version, "default_model": "m"})
    result = loaded(home)
    assert not result.is_usable
    assert result.config.default_model is None


@pytest.mark.spec(45)
@pytest.mark.parametrize(("size", "is_usable"), [(1_048_576, True), (1_048_577, False)])
def test_a_file_over_one_megabyte_is_refused(home: Path, size: int, is_usable: bool):
    text = '{"default_model": "m"}'
    write(home, text + " " * (size - len(text)))
    result = loaded(home)
    assert result.is_usable is is_usable
    assert result.config.default_model == ("m" if is_usable else None)


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ('{"default_model": "a",\n "default_model": "b"}', 2, 2, 'the key "default_model" is there twice'),
        ('{\n"ui": {"theme": }}', 2, 17, "a value is missing here"),
        ("[1]", 1, 1, "it holds no JSON object"),
        ("", 1, 1, "a value is missing here"),
        ('{"approvals": {"window_minutes": NaN}}', 1, 34, "NaN is not a JSON number"),
    ],
)
def test_a_broken_file_is_fatal_with_its_place(home: Path, text: str, line: int, column: int, reason: str):
    path = write(home, text)
    (problem,) = loaded(home).problems
    assert (problem.file, problem.line, problem.column, problem.fatal) == (str(path), line, column, True)
    assert reason in problem.message


def test_text_that_is_not_utf8_is_fatal(home: Path):
    (home / "config.json").write_bytes(b'{\n"default_model": "\xff"}')
    (problem,) = loaded(home).problems
    assert (problem.line, problem.fatal, problem.message) == (
        2,
        True,
        "The file is not used: it is not UTF-8 text.",
    )


def test_a_byte_order_mark_is_skipped(home: Path):
    write(home, '\ufeff{"default_model": "m"}')
    assert loaded(home).config.default_model == "m"


def test_a_workspace_file_is_never_a_link_and_never_waited_for(home: Path, workspace: Path, tmp_path: Path):
    (tmp_path / "real.json").write_text('{"approvals": {"deny": ["X"]}}')
    (workspace / ".workbench.json").symlink_to(tmp_path / "real.json")
    (problem,) = loaded(home, workspace, trusted=True).problems
    assert (problem.fatal, problem.message) == (True, "The file is not used: it is a link.")
    (workspace / ".workbench.json").unlink()
    os.mkfifo(workspace / ".workbench.json")
    (problem,) = loaded(home, workspace, trusted=True).problems
    assert problem.message == "The file is not used: it is not a regular file."


def test_the_users_file_may_be_a_link(home: Path, tmp_path: Path):
    (tmp_path / "dotfiles.json").write_text('{"default_model": "m"}')
    (home / "config.json").symlink_to(tmp_path / "dotfiles.json")
    assert loaded(home).config.default_model == "m"


@pytest.mark.parametrize("text", ["{", '{"aprovals": {}}', '{"approvals": {"deny": "x"}}'])
def test_a_workspace_is_fatal_only_when_trusted(home: Path, workspace: Path, text: str):
    write_workspace(workspace, text)
    assert loaded(home, workspace, trusted=False).is_usable
    assert not loaded(home, workspace, trusted=True).is_usable
    assert loaded(home, workspace).problems != ()


def test_reading_twice_gives_the_same(home: Path):
    write(home, {"default_model": "m", "approvals": {"deny": ["X"]}})
    assert loaded(home) == loaded(home)
