"""The code host of a project, and bases of worktrees: what git knows of them, before a run and in it."""

import json
import os

import pytest

from tests.unit.pipelines.projects import MANIFEST, command, project, said
from tests.unit.pipelines.test_places_and_limits import git, needs_git, repository
from workbench.pipelines.code_hosts import CODE_HOSTS, find_code_host
from workbench.pipelines.load import load_pipeline
from workbench.pipelines.repository_checks import check_repository

assert repository  # the fixture

REMOTES = [
    ("", "git@github.com:me/shop.git", ("github", "gh", "me", "shop")),
    ("", "https://gitlab.example.org/a/b/shop", ("gitlab", "glab", "a/b", "shop")),
    ("", "ssh://git@codeberg.org:22/me/shop.git", ("codeberg", "tea", "me", "shop")),
    ("", "https://forgejo.example.org/me/shop", ("forgejo", "tea", "me", "shop")),
    ("", "https://user:secret@bitbucket.org/me/shop", ("bitbucket", "bb", "me", "shop")),
    ("", "https://git.local/me/shop.git", (None, None, "me", "shop")),
    ("", "/srv/git/shop.git", (None, None, None, None)),
    ("", "", (None, None, None, None)),
    ("", "https://example.org/me/shop.git", (None, None, "me", "shop")),
    ("gitea", "https://example.org/me/shop.git", ("gitea", "tea", "me", "shop")),
    ("GitLab", "git@github.com:me/shop.git", ("gitlab", "glab", "me", "shop")),
    ("github", "", ("github", "gh", None, None)),
    ("none", "git@github.com:me/shop.git", ("local", "", None, None)),
    ("nowhere", "git@github.com:me/shop.git", ("github", "gh", "me", "shop")),
]


@pytest.mark.parametrize(("word", "address", "facts"), REMOTES)
def test_the_manifest_names_the_code_host_or_else_the_address_of_the_remote(word, address, facts):
    host = find_code_host(word, address)
    assert tuple(host.facts.get(name) for name in ("type", "cli_tool", "owner", "repo")) == facts
    assert "secret" not in str(host) and host.kind in (*CODE_HOSTS, "")
    assert bool(host.facts.get("prefix")) is bool(host.kind)
    assert ("metadata.forge" in host.origin) is (word not in ("", "nowhere"))


HOSTED = "\n  - id: a\n    exec: {type: command, source: 'echo [{{ forge.type }},{{ forge.cli_tool }},{{ forge.owner }}]'}\n    output_artifacts: [{name: said, source: stdout}]\n"


def printed(here, row):
    (stored,) = [body for _, body in here.bodies(row.pipeline_id, "artifact.stored")]
    return here.journal.blobs.read(stored.content_ref).decode()


@needs_git
def test_a_run_fills_in_the_code_host_and_empty_text_where_none_is_known(repository):
    here = repository
    assert printed(here, here.run(HOSTED)) == "[github,gh,me]\n"
    git(here.root, "remote", "set-url", "origin", "https://git.example.org/me/shop.git")
    here.trust()
    assert printed(here, here.run(HOSTED)) == "[,,me]\n"
    git(here.root, "remote", "remove", "origin")
    assert printed(here, here.run(HOSTED)) == "[,,]\n"
    (here.root / "wave.yaml").write_text(MANIFEST.replace("name: shop", "name: shop\n  forge: forgejo"))
    assert printed(here, here.run(HOSTED)) == "[forgejo,tea,]\n"


PERSONAS = MANIFEST.replace(
    "personas:\n", "personas:\n  gitea-builder: {adapter: own, system_prompt_file: prompts/builder.md}\n"
)
BY_HOST = "- {id: a, persona: '{{ forge.type }}-builder', exec: {type: prompt, source: hi}}\n"


@pytest.mark.parametrize(
    ("forge", "is_there"),
    [("gitea", True), ("codeberg", True), ("github", False), ("local", False), ("", False)],
)
def test_a_persona_that_the_code_host_has_not_is_found_before_the_run(tmp_path, forge, is_there):
    manifest = PERSONAS.replace("name: shop", f"name: shop\n  forge: {forge}") if forge else PERSONAS
    loaded = load_pipeline(project(tmp_path, BY_HOST, manifest=manifest))
    assert loaded.report.is_runnable
    host = check_repository(loaded, os.environ)
    assert host.kind == forge and loaded.report.is_runnable is is_there
    assert ("unknown_code_host" in {problem.code for problem in loaded.report.found}) is (not forge)


def test_a_step_that_a_route_may_leave_out_stops_no_run(tmp_path):
    steps = (
        command("t")
        + "- {id: r, type: conditional, dependencies: [t], edges: [{target: a}, {target: _complete}]}\n"
    )
    loaded = load_pipeline(project(tmp_path, steps + BY_HOST, manifest=PERSONAS))
    check_repository(loaded, os.environ)
    assert "unknown_persona" in {problem.code for problem in loaded.report.warnings}
    assert loaded.report.is_runnable


def test_an_agent_of_the_code_host_works_in_a_run(runs):
    here = runs(manifest=PERSONAS.replace("name: shop", "name: shop\n  forge: codeberg"))
    here.record("a", {"events": [{"kind": "text", "text": "done"}, {"kind": "done"}]})
    row = here.run(BY_HOST.replace("- {id", "  - {id"))
    assert "persona" not in row.error_message, row.error_message


@needs_git
@pytest.mark.parametrize(("forge", "line"), [
    ("github", "code host: github (metadata.forge of the manifest)"),
    ("", "code host: unknown (the remote origin names no server)"),
])  # fmt: skip
def test_validate_and_the_dry_run_name_the_code_host_and_how_it_was_found(tmp_path, forge, line):
    manifest = MANIFEST.replace("name: shop", f"name: shop\n  forge: {forge}") if forge else MANIFEST
    file = project(tmp_path, HOSTED, manifest=manifest)
    for words in (("validate", file), ("run", file, "--dry-run")):
        code, out, err = said(tmp_path, "pipeline", *words)
        assert code == 0 and line in out, (out, err)
        assert ("no code host is known" in out + err) is (not forge)
    _, out, _ = said(tmp_path, "pipeline", "validate", file, "--json")
    assert json.loads(out)["code_host"]["kind"] == (forge or None)
    project(tmp_path, command("a"))
    assert "code host" not in said(tmp_path, "pipeline", "validate", file)[1]


# --- bases of worktrees ---------------------------------------------------------------------------------


def worktree(step, more):
    return f"\n  - {{id: {step}, workspace: {{type: worktree, {more}}}, exec: {{type: command, source: 'true'}}}}\n"


BASES = [
    ("branch: b1, base: main", True), ("branch: b1, base: origin/main", False), ("branch: b1, base: -x", False),
    ("branch: main2, base: gone", True), ("branch: b1", True), ("branch: b1, base: '{{ input }}'", True),
    ("branch: b1, base: 'HEAD~0'", True),
]  # fmt: skip


@needs_git
@pytest.mark.parametrize(("more", "is_known"), BASES)
def test_a_base_that_git_does_not_know_is_found_before_the_run(repository, more, is_known):
    here = repository
    git(here.root, "branch", "main2")  # a branch that is there needs no base
    here.pipeline(worktree("a", more))
    loaded = load_pipeline(f"{here.root}/p.yaml")
    check_repository(loaded, os.environ)
    assert loaded.report.is_ok and loaded.report.is_runnable is is_known
    found = [problem for problem in loaded.report.found if problem.code == "unknown_base"]
    assert [(problem.line, problem.key) for problem in found] == (
        [] if is_known else [(5, "steps[0].workspace.base")]
    )


@needs_git
def test_no_step_runs_before_a_base_that_git_does_not_know(repository):
    """Neither in the pipeline itself nor in one that it starts; afterwards the same run may be started again."""
    here = repository
    first = "\n  - {id: first, workspace: {root: ./}, exec: {type: command, source: touch ran}}\n"
    late = worktree("late", "branch: b1, base: later").replace(
        "{id: late", "{id: late, dependencies: [first]"
    )
    here.pipeline(late.replace("dependencies: [first], ", ""), name="pipelines/below")
    for steps in (first + late, first + "  - {id: late, dependencies: [first], pipeline: below}\n"):
        row = here.run(steps)
        assert row.status == "failed" and "git does not know later" in row.error_message
        assert not here.states(row.pipeline_id) and not (here.root / "ran").exists()
    git(here.root, "branch", "later")
    assert here.run(first + late).status == "completed"


@needs_git
def test_a_base_that_an_earlier_step_makes_is_no_problem(repository):
    made = worktree("a", "branch: one") + worktree("b", "branch: two, base: one").replace(
        "{id: b", "{id: b, dependencies: [a]"
    )
    row = repository.run(made)
    assert (row.status, row.error_message) == ("completed", "")
