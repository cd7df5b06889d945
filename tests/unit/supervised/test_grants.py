"""A grant of some files lets a patch pass only if it covers every file of the patch."""

import os
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from workbench.domain.values import PermissionPattern
from workbench.policy.gate import GateCall, GateContext, GateVerdict, judge_screened_call, screen_call
from workbench.supervised.tools import SessionTools, patch_paths
from workbench.tools.registry import tool_registry

TOOLS = SessionTools(tool_registry())
FOLDERS = st.sampled_from(
    ["src/", "src/deep/", "./src/", "lib/", "", "src/../", "../", "src/link/", "lib/../src/"]
)
FILES = st.sampled_from(
    ["a.py", "b.txt", ".env", ".envrc", ".git/hooks/pre-commit", "package.json", "x/../../y.py"]
)
PATHS = st.builds(lambda folder, file: folder + file, FOLDERS, FILES)
SECTIONS = st.tuples(st.sampled_from(["Add", "Update", "Delete"]), PATHS)
GRANTS = tuple(
    PermissionPattern(text=f"{tool}(src/**)", origin="test") for tool in ("Edit", "Write", "apply_patch")
)


def patch(sections):
    bodies = {"Add": "+x", "Update": "@@\n-x\n+y", "Delete": ""}
    lines = [part for kind, path in sections for part in (f"*** {kind} File: {path}", bodies[kind]) if part]
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch"))


def verdict_of(workspace, text):
    context = GateContext(
        descriptors=TOOLS.descriptors(), provider="fake", workspace=str(workspace), session_id="s", now=0,
        allow=GRANTS, outside="ask",
    )  # fmt: skip
    call = GateCall(tool="apply_patch", parameters={"patch": text}, paths=patch_paths({"patch": text}))
    passed = screen_call(call, context)
    return passed if isinstance(passed, GateVerdict) else judge_screened_call(passed, context)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sections=st.lists(SECTIONS, min_size=1, max_size=5, unique_by=lambda section: section[1]))
@example(sections=[("Add", "src/a.py"), ("Update", "src/deep/a.py")])
def test_a_patch_passes_only_if_each_of_its_files_is_granted(tmp_path, sections):
    (tmp_path / "work/src").mkdir(parents=True, exist_ok=True)
    (tmp_path / "work/lib").mkdir(exist_ok=True)
    if not (tmp_path / "work/src/link").is_symlink():
        (tmp_path / "work/src/link").symlink_to(tmp_path / "work/lib")
    workspace = os.path.realpath(tmp_path / "work")
    verdict = verdict_of(workspace, patch(sections))
    real = [str((Path(workspace) / path).resolve()) for _, path in sections]
    inside = all(path.startswith(f"{workspace}/src/") for path in real)
    runs = any(name in path for path in real for name in (".git/", ".envrc"))
    if verdict.outcome == "allowed":
        assert inside and not runs
    elif all(path in ("src/a.py", "src/deep/a.py") for _, path in sections):
        raise AssertionError(f"granted and not allowed: {verdict}")
