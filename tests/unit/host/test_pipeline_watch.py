"""Changed pipelines and manifests are validated at once, told, and touch no run under way."""

import queue

import pytest

from tests.support.runs import Runs
from tests.support.waits import PATIENCE, until
from tests.unit.pipelines.projects import MANIFEST, PROMPTS, command, write
from workbench.effects import folder_changes
from workbench.host.pipeline_watch import MAX_REPORTED_FILES, PipelineWatch
from workbench.pipelines import load
from workbench.pipelines.documents import watched_paths

HEAD = "kind: WavePipeline\nmetadata: {name: %s}\nsteps:\n"


@pytest.fixture
def project(tmp_path):
    write(tmp_path, {**PROMPTS, "wave.yaml": MANIFEST, ".wave/pipelines/a.yaml": HEAD % "a" + command("x")})
    return tmp_path.resolve()


def test_what_is_watched(tmp_path):
    ours = {
        "wave.yaml", "workbench.yaml", ".wave/wave.yaml", ".wave/pipelines/a.yaml", ".agents/pipelines/a.yml",
        "pipelines/a.yaml",
    }  # fmt: skip
    others = {".wave/pipelines/a.txt", ".wave/output/a.yaml", "src/wave.yaml", "a.yaml"}
    write(tmp_path, dict.fromkeys(ours | others, ""))
    assert set(watched_paths(str(tmp_path))) == {f"{tmp_path}/{name}" for name in ours}


def test_verdicts(project):
    path = str(project / ".wave/pipelines/a.yaml")

    def said():
        found = load.change_report(str(project), path)
        return found.words, found.is_error, found.pipeline

    assert said() == (".wave/pipelines/a.yaml changed: valid", False, "a")
    write(project, {".wave/pipelines/a.yaml": HEAD % "a" + command("x", surprise="1")})
    assert said() == (".wave/pipelines/a.yaml changed: valid, 1 warning", False, "a")
    write(project, {".wave/pipelines/a.yaml": HEAD % "a" + command("x", dependencies="[x]") + command("x")})
    words, is_error, _ = said()
    assert (is_error, "line 6: the steps wait for one another" in words, "(and 1 more)" in words) == (
        True,
        True,
        True,
    )
    write(project, {".wave/pipelines/a.yaml": "a: [\n"})
    assert said()[1:] == (True, "")
    (project / ".wave/pipelines/a.yaml").unlink()
    assert said()[:2] == (".wave/pipelines/a.yaml is gone; no run can be started with it", False)
    manifest = load.change_report(str(project), str(project / "wave.yaml"))
    assert (manifest.is_error, manifest.words) == (False, "wave.yaml changed: valid")
    write(project, {"wave.yaml": MANIFEST.replace("adapter: own", "adapter: gone")})
    manifest = load.change_report(str(project), str(project / "wave.yaml"))
    assert manifest.is_error
    assert "line 14: there is no adapter gone" in manifest.words


def until_told(told, change, expected):
    """Change something until that is told: a watch begins a moment after its thread says so, and may tell twice."""

    def look():
        change()
        try:
            return expected(*told.get(timeout=0.5))
        except queue.Empty:
            return False

    until(look)


def test_a_change_is_told_also_in_a_folder_that_was_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_changes, "_REST_STEP_MS", 50)
    (tmp_path / "r").mkdir()
    here, told = Runs(tmp_path / "r"), queue.Queue()
    watching = PipelineWatch(here.journal, str(here.root), lambda *said: told.put(said))
    try:
        assert watching.is_watching.wait(PATIENCE)
        path = ".workbench/pipelines/b.yaml"
        good, bad = HEAD % "b" + command("x", "true #"), HEAD % "b" + "- 1\n"
        until_told(
            told, lambda: write(here.root, {path: good}),
            lambda words, is_error: (words, is_error) == (f"{path} changed: valid", False),
        )  # fmt: skip
        until_told(
            told, lambda: write(here.root, {path: bad}), lambda words, is_error: is_error and path in words
        )
    finally:
        watching.close()
        here.close()


def test_a_run_under_way_keeps_what_it_was_started_with_and_that_is_said(tmp_path):
    (tmp_path / "r").mkdir()
    here, told = Runs(tmp_path / "r"), []
    watching = PipelineWatch(here.journal, str(here.root), lambda *said: told.append(said), delay=60.0)
    try:
        steps = "\n  - {id: g, gate: {prompt: go?}}\n  - {id: z, dependencies: [g], exec: {type: command, source: 'true'}}\n"
        write(here.root, {"pipelines/p.yaml": HEAD % "p" + steps})
        here.trust()
        run = here.drive(here.request("p")).pipeline_id
        write(here.root, {"pipelines/p.yaml": HEAD % "p" + command("other", "false")})
        watching._report_changes([f"{here.root}/pipelines/p.yaml"])
        assert told == [
            ("pipelines/p.yaml changed: valid; the run under way keeps what it was started with", False)
        ]
        here.answer(run)
        assert here.drive(run).status == "completed"
        assert set(here.states(run)) == {"g", "z"}
        told.clear()
        watching._report_changes([f"{here.root}/pipelines/{n}.yaml" for n in range(MAX_REPORTED_FILES + 2)])
        assert len(told) == MAX_REPORTED_FILES + 1
        assert told[-1] == ("2 more files of pipelines changed", False)
    finally:
        watching.close()
        here.close()
