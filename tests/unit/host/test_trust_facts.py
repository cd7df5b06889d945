"""The facts of the trust question: which servers are used and how, and what would run."""

import json
import random

import pytest

from workbench.config.layers import load_config
from workbench.host.trust_facts import summarize_workspace
from workbench.policy.trust import governing_yaml_texts
from workbench.views.action_detail import trust_acts

OWN = {"kind": "openai-compatible", "base_url": "http://own.example/v1", "model": "o"}
EVIL = {"kind": "openai-compatible", "base_url": "http://evil.example/v1", "model": "e"}


@pytest.fixture
def summary(tmp_path):
    """Return the facts of a workspace, given the user's settings, its own, and further files."""

    def make(user, own, files=()):
        home, workspace = tmp_path / "home", tmp_path / "work"
        home.mkdir(exist_ok=True)
        workspace.mkdir(exist_ok=True)
        (home / "config.json").write_text(json.dumps(user))
        (workspace / ".workbench.json").write_text(json.dumps(own))
        for name, text in dict(files).items():
            (workspace / name).parent.mkdir(parents=True, exist_ok=True)
            (workspace / name).write_text(text)
        loaded = load_config(home, workspace, trusted=True, env={}, options={})
        return summarize_workspace(str(workspace), loaded)

    return make


def used(found):
    return {server.provider: server.uses for server in found.servers}


MANIFEST = """
adapters: {a: {binary: workbench}, b: {binary: ./tools/agent, default_model: "big"}}
personas:
  p: {adapter: a, provider: %s, model: small}
"""


@pytest.mark.parametrize(
    ("user", "own", "files", "uses"),
    [
        # The provider behind the user's own fallback is replaced.
        (
            {"default_provider": "main", "providers": {"main": {**OWN, "fallback": "spare"}, "spare": OWN}},
            {"providers": {"spare": EVIL}}, {}, {"spare": ("fallback of main",)},
        ),
        # The workspace adds a fallback to a fallback.
        (
            {"default_provider": "main", "providers": {"main": {**OWN, "fallback": "spare"}}},
            {"providers": {"spare": {**EVIL, "fallback": "third"}, "third": EVIL}}, {},
            {"spare": ("fallback of main",), "third": ("fallback of spare",)},
        ),
        # `ask.model` of the workspace, by the workspace's provider and by the user's.
        ({}, {"ask": {"model": "w/x"}, "providers": {"w": EVIL, "v": EVIL}}, {}, {"w": ("ask",), "v": ()}),
        (
            {"default_provider": "main", "providers": {"main": OWN}}, {"ask": {"model": "big"}}, {},
            {"main": ("conversation", "ask")},
        ),
        # Its manifest chooses the user's provider, or its own.
        (
            {"default_provider": "main", "providers": {"main": OWN, "second": OWN}}, {},
            {"wave.yaml": MANIFEST % "second"}, {"second": ("pipelines",)},
        ),
        ({}, {"providers": {"w": EVIL, "v": EVIL}}, {"workbench.yaml": MANIFEST % "w"},
         {"w": ("pipelines",), "v": ()}),
        # The only provider is the default one; a provider that is only a kind has a known address.
        ({}, {"providers": {"w": EVIL}}, {}, {"w": ("conversation",)}),
        ({}, {"default_provider": "anthropic"}, {}, {"anthropic": ("conversation",)}),
        # A model of the workspace names the user's provider: of new sessions, or of a persona.
        ({"providers": {"main": OWN, "second": OWN}}, {"default_model": "second/x"}, {},
         {"second": ("conversation",)}),
        (
            {"default_provider": "main", "providers": {"main": OWN, "second": OWN}}, {},
            {"wave.yaml": "personas:\n  p: {adapter: a, model: second/x}\n"},
            {"second": ("pipelines",)},
        ),
        # What the user alone chose is not a fact of the workspace.
        ({"default_provider": "main", "providers": {"main": {**OWN, "fallback": "spare"}, "spare": OWN},
          "ask": {"model": "spare/x"}}, {}, {}, {}),
        # Fallbacks in a circle end.
        ({}, {"default_provider": "w", "providers": {"w": {**EVIL, "fallback": "v"},
                                                     "v": {**EVIL, "fallback": "w"}}}, {},
         {"w": ("conversation", "fallback of v"), "v": ("fallback of w",)}),
    ],
)  # fmt: skip
def test_servers_are_used_behind_fallbacks_ask_and_pipelines(summary, user, own, files, uses):
    found = summary(user, own, files)
    assert used(found) == uses
    words, facts = " ".join(found.sentences()), found.facts()
    for server in found.servers:
        assert server.base_url in words and server.is_used == bool(uses[server.provider])
    assert [server["used"] for server in facts["servers"]] == [
        bool(uses[s["provider"]]) for s in facts["servers"]
    ]
    rows = [row for part in trust_acts(facts) if part.heading == "model servers" for row in part.rows]
    assert len(rows) == sum(len(how) or 1 for how in uses.values())
    assert sorted({label for label, _ in rows if label.startswith("if ")}) == sorted(
        {f"if {use.removeprefix('fallback of ')} is overloaded" for how in uses.values() for use in how
         if use.startswith("fallback of ")}
    )  # fmt: skip


def test_keys_programs_and_models_are_facts_too(summary):
    provider = {**EVIL, "key_env": "MY_KEY"}
    other = {**EVIL, "key_command": "pass show x"}
    found = summary(
        {}, {"default_provider": "w", "providers": {"w": provider, "v": other}},
        {"wave.yaml": MANIFEST % "w", ".wave/pipelines/p.yaml": 'steps:\n  - "model": huge\n'},
    )  # fmt: skip
    words = " ".join(found.sentences())
    assert "go to http://evil.example/v1 (model e) with the key in MY_KEY." in words
    assert "To get keys of providers it would run: /bin/sh -c 'pass show x' (key of v)." in words
    assert "Its pipelines start as agents: ./tools/agent." in words
    assert {"small", "big", "huge"} <= set(found.pipelines.models)
    rows = {row for part in trust_acts(found.facts()) for row in part.rows}
    assert ("key of v", "pass show x") in rows and ("starts as agents", "./tools/agent") in rows
    assert ("asks for the model", "huge") in rows
    assert any("with the key in MY_KEY" in text for _, text in rows)
    assert found.guards == "none"


SPELLINGS = (
    "{{matcher: x, command: {}}}", '{{matcher: x, "command": "{}"}}', "{{'command': '{}', matcher: x}}",
    "matcher: x\n          command: >-\n            {}", "matcher: x\n          command: |\n            {}",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_hooks_of_a_manifest_are_facts_however_yaml_spells_them(summary, seed):
    random_ = random.Random(seed)
    commands = [f"./run{number} me" for number in range(4)]
    rules = "".join(f"        - {random_.choice(SPELLINGS).format(command)}\n" for command in commands)
    manifest = f"personas:\n  p:\n    hooks:\n      PreToolUse:\n{rules}"
    found = summary({}, {}, {"wave.yaml": manifest})
    assert [hook.command for hook in found.hooks] == commands
    broken = summary({}, {}, {"wave.yaml": manifest + "  : [}\n"})
    assert broken.hooks, "a manifest that cannot be read is read by line"


def test_commands_are_counted_and_named_when_their_key_is_quoted(tmp_path):
    (tmp_path / "wave.yaml").write_text('x:\n  "command": make\n')
    from workbench.policy.trust import count_pipeline_commands

    assert count_pipeline_commands(governing_yaml_texts(str(tmp_path))) == 1


def test_a_long_command_says_its_length_wherever_it_is_cut(summary):
    found = summary({}, {"hooks": {"PostToolUse": [{"matcher": "*", "command": "x" * 4090}]}})
    (part, *_) = trust_acts(found.facts())
    assert "(4090 characters)" in part.rows[0][1]
    assert "characters)" in " ".join(found.sentences())
