"""docs/pipelines.md: each file that it prints is one that validates without an error."""

import re
from pathlib import Path

from workbench.pipelines.load import load_pipeline
from workbench.providers.recording import load_recording

PAGE = (Path(__file__).parents[3] / "docs/pipelines.md").read_text("utf-8")
STEP = "  - id: x\n    exec: {type: command, source: echo x > report.json}\n"
HEAD = "kind: WavePipeline\nmetadata: {name: page}\nsteps:\n"
MANIFEST = "apiVersion: v1\nkind: WaveManifest\nmetadata: {name: page}\n"
PERSONA = "personas:\n  p: {adapter: claude, system_prompt_file: p.md}\nruntime: {}\n"


def examples(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)


def problems(folder, pipeline, manifest=None):
    """Return the errors of a pipeline of a project, and what stops a run of it."""
    (folder / ".workbench/personas").mkdir(parents=True)
    for prompt in (".workbench/personas/writer.md", "p.md"):
        (folder / prompt).write_text("You write.")
    file = folder / "page.yaml"
    file.write_text(pipeline)
    if manifest is not None:
        (folder / "workbench.yaml").write_text(manifest)
    loaded = load_pipeline(str(file), missing_adapters=False, root=str(folder))
    found = [problem.message for problem in loaded.report.found if problem.fatal]
    return found if loaded.pipeline else [*found, "it is no pipeline"]


def test_the_file_of_the_tutorial_validates_with_its_manifest_and_recording(tmp_path):
    tutorial = examples("yaml")
    pipeline, manifest = tutorial[0], next(text for text in tutorial if text.startswith("apiVersion"))
    parts = PAGE.partition("## Watch it on the screen")[0]
    steps = [text for text in re.findall(r"```yaml\n(.*?)```", parts, re.S) if text.startswith("  - id:")]
    assert problems(tmp_path, pipeline + "\n".join(steps), manifest) == []
    (tmp_path / "notes.json").write_text(examples("json")[0])
    assert len(load_recording(tmp_path / "notes.json").exchanges) == 2


def test_every_other_example_validates(tmp_path):
    tasks = re.findall(r"```yaml\n(.*?)```", PAGE.partition("## Watch it on the screen")[2], re.S)
    wrong = []
    for number, text in enumerate(tasks):
        folder = tmp_path / str(number)
        if text.startswith("adapters:"):
            found = problems(folder, HEAD + STEP, MANIFEST + text + PERSONA)
        else:
            found = problems(folder, HEAD + (text if text.startswith("  - id:") else STEP + text))
        wrong += [(text, found)] if found else []
    assert len(tasks) > 5 and wrong == []
