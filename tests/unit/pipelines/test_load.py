"""Manifest and pipeline: every problem at once, each with code, line and path."""

import json
from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import replace

from tests.support import wave_files
from tests.support.tables import each_row
from tests.unit.pipelines.projects import MANIFEST, command, project, write
from workbench.pipelines.attempt import retry_delay
from workbench.pipelines.checks import steps_using_input
from workbench.pipelines.documents import find_manifest
from workbench.pipelines.load import find_pipeline, is_manifest, list_pipelines, load_manifest, load_pipeline
from workbench.pipelines.model import ContractType, Runtime
from workbench.pipelines.state import StepRun
from workbench.pipelines.step_order import find_cycles, parallel_waves


def problems(loaded):
    return [(p.code, p.line, p.key) for p in loaded.report.ordered()]


def codes(loaded, severity="error"):
    return {p.code for p in loaded.report.ordered() if p.severity == severity}


def messages(loaded):
    return "\n".join(str(problem) for problem in loaded.report.ordered())


@pytest.mark.spec(73, 74, 98, 99)
def test_a_sound_project_has_nothing_wrong(tmp_path):
    loaded = load_pipeline(project(tmp_path, command("a") + command("b", dependencies="[a]")))
    assert problems(loaded) == []
    assert [step.id for step in loaded.pipeline.steps] == ["a", "b"]
    assert loaded.manifest.personas["builder"].temperature == 0.5
    assert set(loaded.texts) == {"prompts/builder.md", "prompts/reader.md"}


@pytest.mark.spec(109)
@each_row(
    ("line", "names"),
    [
        ("echo {{ input }} {{ input.repo }} {{ a/said }} {{ said }} {{ artifacts.said }}", []),
        ("echo {{ inputs }}", ["inputs"]),
        ("echo {{ a/gone }} {{ item }}", ["a/gone", "item"]),
    ],
)
def test_only_templates_that_nothing_fills_are_named(tmp_path, line, names):
    steps = command("a", output_artifacts="[{name: said, path: s}]") + command(
        "b", line, dependencies="[a]", memory="{inject_artifacts: [{step: a, artifact: said, as: said}]}"
    )
    found = [str(problem) for problem in load_pipeline(project(tmp_path, steps)).report.ordered()]
    assert len(found) == len(names), found
    assert [name in problem for name, problem in zip(names, found, strict=True)] == [True] * len(names)


@pytest.mark.spec(73)
@pytest.mark.parametrize("name", ["apiVersion", "kind", "metadata", "adapters", "personas", "runtime"])
def test_each_required_member_of_a_manifest_is_missed_by_name(tmp_path, name):
    document = {
        "apiVersion": "v1", "kind": "WaveManifest", "metadata": {"name": "x"}, "adapters": {}, "personas": {},
        "runtime": {},
    }  # fmt: skip
    del document[name]
    write(tmp_path, {"wave.yaml": json.dumps(document)})
    _, report = load_manifest(str(tmp_path / "wave.yaml"))
    (problem,) = report.errors
    assert (problem.code, problem.line) == ("missing_field", 1)
    assert name in problem.message


def manifest_with(tmp_path, **changes):
    text = MANIFEST
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new, 1)
    return load_pipeline(project(tmp_path, command("a"), manifest=text))


MANIFESTS = [
    (74, ("kind: WaveManifest", "kind: Deployment"), "error", "wrong_kind", 2),
    (76, ("    adapter: own", "    adapter: nobody"), "error", "unknown_adapter", 14),
    (77, ("prompts/builder.md", "prompts/gone.md"), "error", "missing_file", 15),
    (81, ("mode: headless", "mode: chat"), "error", "wrong_value", 8),
    (81, ("    binary: workbench\n", ""), "error", "missing_field", 7),
    (79, ("binary: workbench", "binary: no-such-binary-here"), "warning", "missing_binary", 7),
    (82, ("temperature: 0.5", "temperature: 1.1"), "error", "wrong_value", 16),
    (82, ("temperature: 0.5", "temperature: -0.1"), "error", "wrong_value", 16),
    (82, ("temperature: 0.5", "temperature: warm"), "error", "wrong_type", 16),
    (75, ("metadata:", "ontology: {}\nmetadata:"), "warning", "not_run", 3),
    (75, ("runtime:", "runtim: {}\nruntime:"), "warning", "unknown_key", 23),
    (93, ("max_concurrent_workers: 2", "max_concurrent_workers: 0"), "error", "wrong_value", 24),
    (93, ("max_concurrent_workers: 2", "cost: {budget_ceiling: -1}"), "error", "wrong_value", 24),
    (93, ("max_concurrent_workers: 2", "cost: {budget_ceiling: fifty}"), "error", "wrong_type", 24),
    (93, ("max_concurrent_workers: 2", "cost: 50"), "error", "wrong_type", 24),
    (93, ("max_concurrent_workers: 2", "stall_timeout: soon"), "error", "wrong_value", 24),
    (93, ("max_concurrent_workers: 2", "stall_timeout: -5m"), "error", "wrong_value", 24),
    (93, ("max_concurrent_workers: 2", "stall_timeout: 30"), "error", "wrong_value", 24),
    (77, ("prompts/builder.md", "../../etc/passwd"), "error", "path_outside", 15),
    (227, ("    mode: headless", "    project_files: [gone.md]\n    mode: headless"), "warning", "missing_file", 8),
    (227, ("    mode: headless", "    hooks_template: gone/\n    mode: headless"), "warning", "missing_file", 8),
    (227, ("runtime:", "skill_mounts: [{path: gone/}]\nruntime:"), "warning", "missing_file", 23),
]  # fmt: skip


@pytest.mark.spec(74, 75, 76, 77, 79, 81, 82, 93, 227)
@pytest.mark.parametrize(("row", "change", "severity", "code", "line"), MANIFESTS)
def test_each_fault_of_a_manifest_has_code_and_line(tmp_path, row, change, severity, code, line):
    loaded = manifest_with(tmp_path, one=change)
    found = [(p.severity, p.code, p.line) for p in loaded.report.ordered()]
    assert (severity, code, line) in found, messages(loaded)


@pytest.mark.spec(73)
@pytest.mark.parametrize("name", ["apiVersion", "metadata", "adapters", "personas", "runtime"])
def test_a_member_without_a_value_is_as_good_as_missing(tmp_path, name):
    rest = {
        "apiVersion": "apiVersion: v1\n", "kind": "kind: WaveManifest\n", "metadata": "metadata: {name: shop}\n",
        "adapters": "adapters: {own: {binary: workbench, mode: headless}}\n",
        "personas": "personas: {reader: {adapter: own, system_prompt_file: prompts/reader.md}}\n", "runtime": "runtime: {}\n",
    }  # fmt: skip
    sound = load_pipeline(project(tmp_path / "sound", command("a"), manifest="".join(rest.values())))
    assert codes(sound) == set()
    blank = "".join(text if key != name else f"{name}:\n" for key, text in rest.items())
    loaded = load_pipeline(project(tmp_path / "blank", command("a"), manifest=blank))
    assert "missing_field" in codes(loaded) and name in messages(loaded)


WRONG_MEMBERS = {
    "binary: workbench": ("binary: [a]", "binary has to be a text, not a list"),
    "mode: headless": ("mode: {a: b}", "mode has to be a text, not a mapping"),
    "      allowed_tools: [Read, Write]": (
        "      allowed_tools: [Read, {a: b}]", "an item of allowed_tools has to be a text, not a mapping"
    ),
    '      deny: ["Bash(rm *)"]': ("      deny: 3", "deny has to be a list, not a number"),
    "temperature: 0.5": ("temperature: 2", "temperature has to be at most 1, not 2"),
    "runtime:": ("runtime:\n  audit: {log_all_tool_calls: perhaps}", "log_all_tool_calls has to be true or false"),
    "max_concurrent_workers: 2": (
        "max_concurrent_workers: many\n  meta_pipeline: 3\n  relay: {strategy: x, context_window: 7}",
        "max_concurrent_workers has to be a whole number, not a text",
    ),
    "adapter: own": ("adaptor: own", "adaptor is not a known key here; did you mean adapter?"),
}  # fmt: skip


@pytest.mark.spec(80)
def test_everything_that_is_wrong_in_a_manifest_is_said_at_once_in_plain_words(tmp_path):
    loaded = manifest_with(
        tmp_path, **{str(n): (old, new) for n, (old, (new, _)) in enumerate(WRONG_MEMBERS.items())}
    )
    text = messages(loaded)
    missing = [said for _, said in WRONG_MEMBERS.values() if said not in text]
    assert missing == [], text
    assert "runtime.meta_pipeline has to be a mapping, not a number" in text
    assert "strategy has to be summarize_to_checkpoint, not x" in text
    assert "context_window has to be at least 1000, not 7" in text


def test_permissions_that_are_no_mapping_leave_those_of_the_adapter_in_force(tmp_path):
    loaded = manifest_with(tmp_path, one=("    temperature: 0.5", "    permissions: everything"))
    assert loaded.manifest.personas["builder"].permissions is None
    assert "permissions has to be a mapping, not a text" in messages(loaded)


def test_a_member_beside_another_that_says_the_same_is_a_known_one(tmp_path):
    both = ("    binary: workbench", "    binary: workbench\n    default_model: a\n    model: b")
    loaded = manifest_with(
        tmp_path,
        one=both,
        two=("  name: shop", "  name: shop\n  repo: a"),
        three=("runtime:", "repo: b\nruntime:"),
    )
    assert (problems(loaded), loaded.manifest.repo) == ([], "a")


@pytest.mark.spec(82)
@pytest.mark.parametrize("value", ["0", "1", "0.0", "1.0"])
def test_the_ends_of_the_temperature_are_accepted(tmp_path, value):
    assert problems(manifest_with(tmp_path, one=("temperature: 0.5", f"temperature: {value}"))) == []


@pytest.mark.spec(78)
@pytest.mark.parametrize(
    ("script", "is_missing"),
    [
        ("gone.sh", True), ("gone.py --fast", True), ("bin/gone", True), ("prompts/builder.md", False),
        ("ls -l", False), ("/nowhere/at/all.sh", False),
    ],
)  # fmt: skip
def test_a_script_of_a_hook_is_known_by_its_folder_or_its_ending(tmp_path, script, is_missing):
    hooks = f"    hooks:\n      PreToolUse:\n        - {{matcher: '*', command: {script}}}\n"
    loaded = manifest_with(tmp_path, one=("  reader:", hooks + "  reader:"))
    assert codes(loaded) == ({"missing_file"} if is_missing else set())


@pytest.mark.spec(78, 90)
def test_hooks_need_matcher_command_and_a_script_that_is_there(tmp_path):
    hooks = """    hooks:
      PreToolUse:
        - {matcher: "Bash(*)", command: hooks/gone.sh --fast}
        - {command: "true"}
        - {matcher: "*"}
      PostToolUse:
        - {matcher: "*", command: "echo done"}
"""
    loaded = manifest_with(tmp_path, one=("  reader:", hooks + "  reader:"))
    assert {(p.code, p.line) for p in loaded.report.errors} == {
        ("missing_file", 19), ("missing_field", 20), ("missing_field", 21),
    }  # fmt: skip
    assert [hook.event for hook in loaded.manifest.personas["builder"].hooks] == ["PreToolUse"] * 3 + [
        "PostToolUse"
    ]


@pytest.mark.spec(80)
def test_all_problems_of_both_files_come_at_once(tmp_path):
    broken = MANIFEST.replace("adapter: own", "adapter: nobody").replace("mode: headless", "mode: x")
    loaded = load_pipeline(
        project(tmp_path, command("a") + command("a", dependencies="[b]"), manifest=broken)
    )
    assert codes(loaded) == {"unknown_adapter", "wrong_value", "duplicate_step", "unknown_step", "cycle"} - {
        "cycle"
    }


@each_row(
    ("members", "budget", "seconds"),
    [
        ("cost: {budget_ceiling: 50, enabled: true}, stall_timeout: 10m", 50.0, 600.0),
        ("cost: {budget_ceiling: 0.5}, stall_timeout: 1h30m", 0.5, 5400.0),
        ("cost: {}, stall_timeout: 0", 0.0, 0.0),
        ("stall_timeout: ''", 0.0, 0.0),
    ],
)
def test_a_manifest_limits_the_cost_of_its_runs_and_the_silence_of_agents(tmp_path, members, budget, seconds):
    loaded = manifest_with(tmp_path, one=("runtime:\n  max_concurrent_workers: 2", f"runtime: {{{members}}}"))
    assert not loaded.report.errors, messages(loaded)
    assert not [
        problem
        for problem in loaded.report.found
        if "budget" in problem.message or "stall" in problem.message
    ]
    runtime = loaded.manifest.runtime
    assert (runtime.budget, runtime.stall_seconds) == (budget, seconds)


@pytest.mark.spec(92, 93, 94, 95, 96, 97)
def test_the_defaults_of_the_runtime_are_the_seeds(tmp_path):
    plain = MANIFEST.replace("runtime:\n  max_concurrent_workers: 2\n", "runtime: {}\n")
    runtime = load_pipeline(project(tmp_path, command("a"), manifest=plain)).manifest.runtime
    assert (runtime.exported_workspace_root, runtime.default_timeout_minutes) == ("/tmp/wave", 30)
    assert runtime.max_concurrent_workers == 5
    assert (runtime.relay_percent, runtime.relay_strategy) == (80, "summarize_to_checkpoint")
    assert (runtime.audit_dir, runtime.log_calls, runtime.log_files) == (".wave/traces/", False, False)
    meta = runtime.meta
    assert (meta.max_depth, meta.max_total_steps, meta.max_total_tokens, meta.timeout_minutes) == (
        2, 20, 500_000, 60,
    )  # fmt: skip
    without_manifest = Runtime()
    assert without_manifest == replace(runtime, audit_dir=without_manifest.audit_dir), (
        "nor without a manifest"
    )
    assert not without_manifest.is_traced


STEPS = [
    ("- id: a\n  persona: builder\n", "missing_field"),
    ("- exec: {type: command, source: 'true'}\n", "missing_field"),
    ("- id: a\n  exec: {type: prompt, source: hi}\n", "missing_field"),
    ("- id: a\n  persona: builder\n  exec: {type: prompt}\n", "missing_field"),
    ("- id: a\n  persona: builder\n  exec: {type: magic, source: x}\n", "wrong_value"),
    ("- id: a\n  persona: nobody\n  exec: {type: prompt, source: x}\n", "unknown_persona"),
    ("- id: a b\n  exec: {type: command, source: x}\n", "wrong_value"),
    (command("a", dependencies="[b]"), "unknown_step"),
    (command("a", dependencies="b"), "unknown_step"),
    (command("a") + command("a"), "duplicate_step"),
    (command("a", dependencies="[a]"), "cycle"),
    (command("a", memory="{strategy: full}"), "wrong_value"),
    (command("a") + command("b", memory="{inject_artifacts: [{step: a, artifact: x}]}"), "not_an_ancestor"),
    (command("a", output_artifacts="[{name: y, path: y}]") + command("b", dependencies="[a]", memory="{inject_artifacts: [{step: a, artifact: x}]}"), "unknown_artifact"),
    (command("a", output_artifacts="[{name: x, path: ../x}]"), "path_outside"),
    (command("a", output_artifacts="[{name: x}]"), "missing_field"),
    (command("a", workspace="{mount: [{source: /etc, target: /x}]}"), "path_outside"),
    (command("a", workspace="{mount: [{source: ./, target: ../x}]}"), "path_outside"),
    (command("a", workspace="{mount: [{source: ./, target: /x, mode: maybe}]}"), "wrong_value"),
    (command("a", workspace="{root: ../elsewhere}"), "path_outside"),
    (command("a", handover="{contract: {type: nonsense}}"), "unknown_contract"),
    (command("a", handover="{contract: {type: json_schema}}"), "missing_field"),
    (command("a", handover="{contract: {type: test_suite}}"), "missing_field"),
    (command("a", handover="{contract: {type: json_schema, schema: '{', source: x}}"), "bad_schema"),
    (command("a", handover="{contract: {type: json_schema, schema: {type: moon}, source: x}}"), "bad_schema"),
    (command("a", handover="{contract: {type: json_schema, schema: {$ref: 'http://example.test/x'}, source: x}}"), "bad_schema"),
    (command("a", handover="{contract: {type: json_schema, schema: {}, source: ../x}}"), "path_outside"),
    (command("a", handover="{contract: {type: test_suite, command: x, on_failure: explode}}"), "wrong_value"),
    (command("a", retry="{on_failure: rework}"), "missing_field"),
    (command("a", handover="{contract: {type: test_suite, command: x, on_failure: rework, rework_step: m}}"), "unknown_step"),
    (command("a", handover="{contracts: [{type: test_suite, command: x, on_failure: rework, rework_step: b}]}") + command("b"), "wrong_rework"),
    (command("a", retry="{on_failure: rework, rework_step: a}"), "wrong_rework"),
    (command("b") + command("a", dependencies="[b]", retry="{on_failure: rework, rework_step: b}"), "wrong_rework"),
    (command("a", retry="{on_failure: rework, rework_step: b}") + command("b", dependencies="[a]", rework_only="true"), "wrong_rework"),
    (command("a", retry="{on_failure: rework, rework_step: b}") + command("b"), "wrong_rework"),
    (command("a", retry="{on_failure: fail, rework_step: b}") + command("b", rework_only="true"), "wrong_rework"),
    (command("a", retry="{on_failure: rework, rework_step: m}") + command("b", retry="{on_failure: rework, rework_step: m}") + command("m", rework_only="true"), "wrong_rework"),
    (command("a", rework_only="true") + command("b", dependencies="[a]"), "wrong_rework"),
    (command("a", handover="{compaction: {trigger: sometimes}}"), "wrong_value"),
    (command("a", handover="{compaction: {trigger: 'token_limit_80%', persona: nobody}}"), "unknown_persona"),
    (command("a", "echo {{ nothing }}"), "unresolved_template"),
    (command("a", "echo {{ b/x }}") + command("b", output_artifacts="[{name: x, path: x}]"), "unresolved_template"),
    (command("a", "echo {{ item }}"), "unresolved_template"),
    (command("a", strategy="{type: matrix}"), "missing_field"),
    (command("a", strategy="{type: matrix, items_source: plan}"), "wrong_value"),
    (command("a", strategy="{type: spread, items: [1]}"), "wrong_value"),
    (command("a", timeout_minutes="0"), "wrong_value"),
    ('- id: a\n  exec: {type: command, source: x}\n  output_artifacts: [{name: "a\\tb", path: f}]\n', "wrong_value"),
    (command("a", output_artifacts='[{name: "..", path: f}]'), "wrong_value"),
    (command("a", output_artifacts="[{name: ../../x, path: f}]"), "path_outside"),
    (command("a", retry="{max_attempts: 2, base_delay: soon}"), "wrong_value"),
    ("- id: g\n  gate: {prompt: go?, choices: [{key: y, label: yes, target: nowhere}]}\n", "unknown_step"),
    ("- id: g\n  gate: {prompt: go?, timeout: soon}\n", "wrong_value"),
    (command("a", validation="[{type: guess, target: x}]"), "wrong_value"),
    ("[]", "missing_field"),
    ("- 5\n", "wrong_type"),
]  # fmt: skip


PROMPTS_WITH_NAMES = [
    ("Explain {{ variable }} and {{base_branch}}.", set(), {"not_run"}),
    ("Do {{ inptu }}.", {"unresolved_template"}, set()), ("Do {{ task }}.", {"unresolved_template"}, set()),
    ("Read {{ b/x }}.", {"unresolved_template"}, set()), ("Read {{ b.output }}.", {"unresolved_template"}, set()),
    ("Read {{ other_step }}.", {"unresolved_template"}, set()), ("Do {{ input }}.", set(), set()),
]  # fmt: skip


@pytest.mark.parametrize(("text", "errors", "warned"), PROMPTS_WITH_NAMES)
@pytest.mark.parametrize("is_file", [False, True])
def test_a_word_of_a_prompt_stays_and_a_reference_has_to_be_there(tmp_path, text, errors, warned, is_file):
    source = "source_path: prompts/p.md" if is_file else f"source: {json.dumps(text)}"
    steps = command("other_step") + f"- {{id: a, persona: builder, exec: {{type: prompt, {source}}}}}\n"
    loaded = load_pipeline(project(tmp_path, steps, files={"prompts/p.md": text}))
    assert codes(loaded) == errors
    assert codes(loaded, "warning") & {"not_run"} == warned


@pytest.mark.spec(107)
@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("- {id: a, persona: builder, exec: {type: prompt, source: hi}}\n", set()),
        ("- {id: a, persona: builder, exec: {type: prompt, source_path: prompts/builder.md}}\n", set()),
        ("- {id: a, exec: {type: command, source: 'true'}}\n", set()),
        ("- {id: a, exec: {type: command, source_path: prompts/builder.md}}\n", set()),
        ("- {id: a, persona: builder, exec: {type: prompt}}\n", {"missing_field"}),
        ("- {id: a, persona: builder, exec: {type: script, source: 'true'}}\n", {"wrong_value"}),
    ],
)  # fmt: skip
def test_a_step_is_a_prompt_or_a_command_with_a_source_or_its_path(tmp_path, step, found):
    assert codes(load_pipeline(project(tmp_path, step))) == found


@pytest.mark.spec(98, 99, 100, 101, 102, 104, 105, 106, 107, 109, 111, 112, 226)
@pytest.mark.parametrize(("steps", "code"), STEPS, ids=range(len(STEPS)))
def test_each_fault_of_a_pipeline_has_a_code_and_a_line(tmp_path, steps, code):
    loaded = load_pipeline(project(tmp_path, steps))
    found = [p for p in loaded.report.errors if p.code == code]
    assert found, messages(loaded)
    assert all(problem.line >= 1 and problem.column >= 1 for problem in found)


def test_a_step_waits_for_each_step_that_it_needs():
    needs = {"last": ("first", "middle"), "middle": ("first",), "first": (), "apart": ("elsewhere",)}
    assert parallel_waves(needs) == [["first", "apart"], ["middle"], ["last"]]
    (circle,) = find_cycles({"a": ("b", "c"), "b": (), "c": ("b", "a")})
    assert set(circle) == {"a", "c"} and circle[0] == circle[-1]


@pytest.mark.spec(102)
def test_a_cycle_is_printed(tmp_path):
    steps = (
        command("a", dependencies="[c]") + command("b", dependencies="[a]") + command("c", dependencies="[b]")
    )
    (problem,) = load_pipeline(project(tmp_path, steps)).report.errors
    assert problem.code == "cycle"
    assert any(way in problem.message for way in ("a → b → c → a", "b → c → a → b", "c → a → b → c"))


@pytest.mark.parametrize("count", [2000])
def test_a_long_chain_is_checked_without_exhausting_the_stack(tmp_path, count):
    steps = command("s0") + "".join(command(f"s{n}", dependencies=f"[s{n - 1}]") for n in range(1, count))
    assert problems(load_pipeline(project(tmp_path, steps, manifest=None))) == [("no_manifest", 0, "")]


WARNED = [
    ("- id: a\n  persona: builder\n  exec: {type: slash_command, command: /x}\n", "not_run"),
    (command("a", strategy="{items: [1], dependency_key: d}"), "not_run"),
    (command("a", fidelity="full"), "not_run"),
    (command("a", surprise="1"), "unknown_key"),
    (command("a", handover="{contract: {type: source_diff, source: x}}"), "not_run"),
    (command("a", handover="{contract: {type: llm_judge, source: x}}"), "missing_field"),
    ("- id: g\n  gate: {type: ci_pass, timeout: 1h}\n", "not_run"),
    ("- id: a\n  persona: builder\n  exec: {type: prompt, source_path: gone.md}\n", "missing_file"),
    (command("a", handover="{contract: {type: json_schema, schema_path: gone.json, source: x}}"), "missing_file"),
]  # fmt: skip


@pytest.mark.spec(75, 112)
@pytest.mark.parametrize(("steps", "code"), WARNED, ids=range(len(WARNED)))
def test_what_is_not_run_or_not_there_is_a_warning(tmp_path, steps, code):
    loaded = load_pipeline(project(tmp_path, steps))
    assert loaded.report.is_ok, messages(loaded)
    assert code in codes(loaded, "warning"), messages(loaded)
    assert not loaded.report.strict().is_ok


def test_a_missing_file_is_an_error_when_running(tmp_path):
    steps = "- id: a\n  persona: builder\n  exec: {type: prompt, source_path: gone.md}\n"
    report = load_pipeline(project(tmp_path, steps)).report
    assert (report.is_ok, report.for_running().is_ok) == (True, False)


def test_without_a_manifest_the_pipeline_is_checked_by_itself(tmp_path):
    loaded = load_pipeline(project(tmp_path, command("a", "echo {{ input }}"), manifest=None))
    assert (codes(loaded), codes(loaded, "warning")) == (set(), {"no_manifest"})


def test_the_nearest_manifest_upwards_is_taken(tmp_path):
    write(
        tmp_path,
        {
            "wave.yaml": MANIFEST,
            "a/.wave/wave.yaml": MANIFEST,
            "a/b/p.yaml": "",
            "c/workbench.yaml": MANIFEST,
        },
    )
    assert find_manifest(str(tmp_path / "a/b/p.yaml")) == str(tmp_path / "a/.wave/wave.yaml")
    assert find_manifest(str(tmp_path / "c")) == str(tmp_path / "c/workbench.yaml")


def test_the_older_shape_is_refused_with_what_to_write(tmp_path):
    write(tmp_path, {"old.yaml": "name: x\nsteps:\n  - id: a\n    task: do\n    depends_on: []\n"})
    (problem,) = load_pipeline(str(tmp_path / "old.yaml")).report.errors
    assert problem.code == "old_shape"
    assert "metadata.name" in problem.message


@pytest.mark.parametrize("text", ["", "- 1", "just words", "\x00"])
def test_a_document_that_is_none_is_named(tmp_path, text):
    (tmp_path / "x.yaml").write_text(text)
    assert len(load_pipeline(str(tmp_path / "x.yaml")).report.errors) == 1
    assert load_pipeline(str(tmp_path / "nothing.yaml")).report.errors[0].code == "missing_file"
    (tmp_path / "b.yaml").write_bytes(b"a: \xff\xfe")
    assert load_pipeline(str(tmp_path / "b.yaml")).report.errors[0].code == "unreadable"


def test_a_link_does_not_lead_out(tmp_path):
    outside = tmp_path / "outside"
    write(outside, {"secret.md": "s"})
    root = tmp_path / "root"
    file = project(root, "- id: a\n  persona: builder\n  exec: {type: prompt, source_path: link.md}\n")
    (root / "link.md").symlink_to(outside / "secret.md")
    loaded = load_pipeline(file)
    assert codes(loaded) == {"path_outside"}
    assert "s" not in loaded.texts.values()


@pytest.mark.spec(117, 119, 226)
def test_all_that_is_said_of_failures_becomes_one_policy(tmp_path):
    def failing(**more):
        return load_pipeline(project(tmp_path, command("a", **more))).pipeline.steps[0].failing

    contract = "{contract: {type: test_suite, command: x, %s}}"
    assert (failing().attempts, failing().then) == (1, "fail")
    assert failing(handover=contract % "on_failure: retry").attempts == 3
    assert failing(handover=contract % "on_failure: retry, max_retries: 5").attempts == 6
    assert failing(handover=contract % "on_failure: halt").then == "fail"
    assert failing(handover=contract % "on_failure: warn").then == "fail"  # only the contract warns
    assert failing(handover=contract % "on_failure: skip").then == "skip"
    assert failing(retry="{policy: patient, on_failure: skip}").attempts == 3
    assert failing(retry="{max_attempts: 4}", handover=contract % "on_failure: retry").attempts == 4
    assert failing(optional="true").then == "skip"


def test_pipelines_are_listed_by_name_and_found_by_it(tmp_path):
    write(
        tmp_path,
        {
            ".wave/pipelines/n.yaml": "kind: WavePipeline\nmetadata: {name: nightly, description: all}\nsteps:\n" + command("a"),
            ".workbench/pipelines/broken.yaml": "kind: [",
        },
    )  # fmt: skip
    assert [(one.name, one.steps, one.is_broken) for one in list_pipelines(str(tmp_path))] == [
        ("broken", 0, True), ("nightly", 1, False),
    ]  # fmt: skip
    assert (
        find_pipeline(str(tmp_path), "nightly")
        == find_pipeline(str(tmp_path), "n")
        == ".wave/pipelines/n.yaml"
    )
    assert find_pipeline(str(tmp_path), "gone") is None


@pytest.mark.parametrize("name", wave_files.PROJECTS)
def test_every_file_of_a_project_loads_and_says_what_is_missing(name):
    files = wave_files.pipelines_of(name)
    assert len(files) == {"own": 5, "real": 15}[name]
    for file in files:
        loaded = load_pipeline(str(file))
        missing = [p.message.partition(" is not")[0] for p in loaded.report.errors]
        assert missing == [f"the prompt of persona {one}" for one in wave_files.NO_PROMPTS[name]]
        assert loaded.pipeline.steps
        assert all(p.line for p in loaded.report.warnings)


@pytest.mark.spec(95, 117)
def test_what_is_read_and_not_acted_on_is_named(tmp_path):
    manifest = MANIFEST + "  relay: {token_threshold_percent: 70}\nskill_mounts: [{path: prompts}]\n"
    steps = command("a", handover="{compaction: {trigger: 'token_limit_80%', persona: reader}}")
    loaded = load_pipeline(
        project(tmp_path, steps, manifest=manifest, head="input: {source: cli, batch_size: 3}\n")
    )
    named = {p.key.rpartition(".")[2] for p in loaded.report.warnings if p.code == "not_run"}
    assert named == {"path", "batch_size"}  # of a skill mount
    assert (loaded.report.is_ok, loaded.report.for_running().is_ok) == (True, True)
    assert (loaded.manifest.runtime.relay_percent, loaded.pipeline.steps[0].compaction.percent) == (70, 80)


@pytest.mark.spec(117, 226)
@pytest.mark.parametrize(
    ("trigger", "percent"),
    [
        (None, 80), ("token_limit_80%", 80), ("token_limit_1%", 1), ("token_limit_100%", 100),
        ("token_limit_0%", None), ("token_limit_101%", None), ("soon", None),
    ],
)  # fmt: skip
def test_a_compaction_begins_at_a_percentage_from_1_to_100(tmp_path, trigger, percent):
    words = f"trigger: '{trigger}', " if trigger else ""
    steps = command("a", handover=f"{{compaction: {{{words}persona: reader}}}}")
    loaded = load_pipeline(project(tmp_path, steps))
    assert codes(loaded) == (set() if percent else {"wrong_value"})
    if percent:
        assert loaded.pipeline.steps[0].compaction.percent == percent


@pytest.mark.spec(112)
@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("json_schema", "json_schema"), ("typescript_interface", "typescript_interface"), ("test_suite", "test_suite"),
        ("non_empty_file", "non_empty_file"), ("markdown_spec", "markdown_spec"), ("jsonschema", "json_schema"),
        ("testsuite", "test_suite"), ("typescript", "typescript_interface"), ("markdownspec", "markdown_spec"),
        ("test_diff", "test_diff"), ("test_count_baseline", "test_count_baseline"), ("agent_review", "agent_review"),
        ("llm_judge", "llm_judge"),
    ],
)  # fmt: skip
def test_every_word_for_a_contract_means_one_kind(tmp_path, word, kind):
    members = {
        "json_schema": "schema: {}, source: x.json", "test_suite": "command: 'true'", "test_diff": "command: 'true'",
        "agent_review": "persona: reader, criteria: good", "llm_judge": "persona: reader, criteria: good",
    }.get(kind, "source: x.json")  # fmt: skip
    loaded = load_pipeline(
        project(tmp_path, command("a", handover=f"{{contract: {{type: {word}, {members}}}}}"))
    )
    ((contract,),) = [step.contracts for step in loaded.pipeline.steps]
    assert (contract.type, contract.written_type) == (kind, word)


def test_without_a_manifest_a_pipeline_belongs_to_the_folder_above_its_folder_of_pipelines(tmp_path):
    for folder in (".workbench/pipelines", ".wave/pipelines", ".agents/pipelines", "pipelines", "elsewhere"):
        write(
            tmp_path, {f"{folder}/p.yaml": "kind: WavePipeline\nmetadata: {name: p}\nsteps:\n" + command("a")}
        )
        root = str(tmp_path.resolve()) if folder != "elsewhere" else str(tmp_path.resolve() / "elsewhere")
        assert load_pipeline(str(tmp_path / folder / "p.yaml")).root == root


@pytest.mark.spec(79, 80)
def test_a_required_tool_that_is_not_there_is_named_and_no_run_begins(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "here").write_text("#!/bin/sh\n")
    (tmp_path / "here").chmod(0o755)
    head = "requires: {tools: [here, gone], skills: [x]}\n"
    loaded = load_pipeline(project(tmp_path, command("a"), manifest=None, head=head))
    found = [(p.code, p.message) for p in loaded.report.ordered() if p.line == 4]
    assert found == [
        ("missing_binary", "gone is required and not on PATH"),
        ("not_run", "skills (skills) is read and not acted on here"),
    ]
    assert loaded.report.is_ok
    assert [p.code for p in loaded.report.for_running().errors] == ["missing_binary"]


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("{max_attempts: 3}", [1, 2, 4]), ("{policy: standard, base_delay: 10s}", [10, 20, 30]),
        ("{policy: aggressive, base_delay: 20s}", [20, 30, 30]), ("{policy: patient, base_delay: 30s}", [30, 60, 90]),
        ("{base_delay: 2s}", [2, 4, 8]), ("{base_delay: 2s, backoff: fixed}", [2, 2, 2]),
        ("{base_delay: 2s, backoff: linear, max_delay: 5s}", [2, 4, 5]),
        ("{base_delay: 2s, backoff: exponential}", [2, 4, 8]), ("{policy: none}", [0, 0, 0]),
        ("{policy: patient, max_delay: 15s}", [5, 10, 15]),
    ],
)  # fmt: skip
def test_the_time_between_attempts_grows_as_the_file_says(tmp_path, words, seconds):
    (step,) = load_pipeline(project(tmp_path, command("a", retry=words), manifest=None)).pipeline.steps
    assert [retry_delay(step, StepRun(id="a", failures=n)) for n in (1, 2, 3)] == seconds


@each_row(
    ("step", "is_used"),
    [
        (command("a", "echo {{ input }}"), True),
        (command("a", "echo {{input.name}}"), True),
        (command("a", "echo {{ pipeline_context.input }}"), True),
        (command("a", "echo {{ inputs }} input {{ timestamp }}"), False),
        ("- id: a\n  type: gate\n  gate: {type: approval, prompt: 'Ship {{ input }}?'}\n", True),
        (
            "- id: a\n  pipeline: other\n  iterate: {over: '{{ input }}', mode: sequential}\n",
            True,
        ),
    ],
)
def test_steps_that_use_the_input_are_known(tmp_path, step, is_used):
    loaded = load_pipeline(project(tmp_path, step))
    assert steps_using_input(loaded.pipeline) == (("a",) if is_used else ())


@pytest.mark.spec(80, 98)
def test_a_pipeline_of_a_wrong_kind_is_told_the_kinds_and_all_else_that_is_wrong(tmp_path):
    file = project(tmp_path, command("a", dependencies="[q]", odd="1"))
    Path(file).write_text(Path(file).read_text().replace("kind: WavePipeline", "kind: Deployment"))
    loaded = load_pipeline(file)
    assert {"wrong_kind", "unknown_key", "unknown_step"} <= codes(loaded) | codes(loaded, "warning"), (
        problems(loaded)
    )
    (why,) = (problem.message for problem in loaded.report.errors if problem.code == "wrong_kind")
    assert why == "kind has to be WavePipeline for a pipeline, or WaveManifest for a manifest, not Deployment"
    assert not loaded.report.is_ok
    sound = Path(project(tmp_path, command("a"))).read_text()
    for kind, is_broken in (("WavePipeline", False), ("Deployment", True), ("WaveManifest", True)):
        write(tmp_path, {".wave/pipelines/x.yaml": sound.replace("WavePipeline", kind)})
        assert [entry.is_broken for entry in list_pipelines(str(tmp_path))] == [is_broken], kind


@pytest.mark.spec(98)
def test_a_manifest_that_is_named_as_a_pipeline_is_not_read_as_one(tmp_path):
    file = project(tmp_path, command("a"))
    loaded = load_pipeline(str(Path(file).parent / "p.yaml"))
    assert loaded.report.is_ok
    write(tmp_path, {"p.yaml": MANIFEST})
    assert codes(load_pipeline(str(tmp_path / "p.yaml"))) == {"wrong_kind"}


@pytest.mark.spec(74, 80)
def test_a_manifest_of_a_wrong_kind_is_validated_as_the_manifest_that_its_name_says(tmp_path):
    project(tmp_path, command("a"))
    for name, kind, is_one in (
        ("wave.yaml", "Deployment", True), ("p.yaml", "Deployment", False), ("wave.yaml", "WavePipeline", False),
    ):  # fmt: skip
        write(tmp_path, {name: f"kind: {kind}\n"})
        assert is_manifest(str(tmp_path / name)) == is_one, (name, kind)


CONTRACT_MEMBERS = {
    "json_schema": "schema: {type: array}", "typescript_interface": "source: a.ts", "test_suite": "command: x",
    "non_empty_file": "source: a", "markdown_spec": "source: a.md", "test_diff": "", "test_count_baseline": "",
    "agent_review": "persona: reader, criteria: [good]", "llm_judge": "criteria: [good]",
}  # fmt: skip


@pytest.mark.parametrize("kind", sorted(set(get_args(ContractType)) - {"unchecked"}))
def test_rework_without_a_rework_step_is_the_step_itself_again_for_every_contract_type(tmp_path, kind):
    contract = f"{{type: {kind}, on_failure: rework, {CONTRACT_MEMBERS[kind]}}}"
    loaded = load_pipeline(project(tmp_path, command("a", handover=f"{{contracts: [{contract}]}}")))
    assert not loaded.report.errors, messages(loaded)
    failing = loaded.pipeline.step("a").failing
    assert (failing.attempts, failing.then, failing.rework_step) == (3, "fail", "")


def test_contracts_of_several_steps_may_name_one_rework_step(tmp_path):
    contract = "{contract: {type: non_empty_file, source: x, on_failure: rework, rework_step: m}}"
    steps = command("a", handover=contract) + command("b", handover=contract, dependencies="[a]")
    loaded = load_pipeline(project(tmp_path, steps + command("m", rework_only="true")))
    assert not loaded.report.errors, messages(loaded)
    assert [step.failing.rework_step for step in loaded.pipeline.steps] == ["m", "m", ""]
