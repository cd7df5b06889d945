"""`workbench pipeline graph` as a program: names, files, formats, widths, wrong input."""

import subprocess
import sys

import pytest

from workbench.cli.main import main

STEPS = "steps:\n" + "".join(
    f"  - id: s{n}\n    type: command\n    script: 'true'\n"
    + (f"    dependencies: [s{n - 1}]\n" if n else "")
    for n in range(3)
)


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / ".wave" / "pipelines"
    folder.mkdir(parents=True)
    (folder / "p.yaml").write_text(f"kind: WavePipeline\nmetadata: {{name: p}}\n{STEPS}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.mark.parametrize("name", ["p", ".wave/pipelines/p.yaml"])
def test_a_pipeline_is_drawn_by_name_and_by_file(project, capsys, name):
    main(["pipeline", "graph", name, "--width", "80", "--ascii"])
    assert ". s0 -- . s1 -- . s2" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("command", [["graph", "p"], ["list"]])
def test_nothing_of_the_screen_is_loaded(project, command):
    code = f"from workbench.cli.main import main; main({['pipeline', *command]}); import sys; print('loaded', *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=True
    )
    loaded = done.stdout.rpartition("loaded")[2].split()
    assert not {name for name in loaded if name.partition(".")[0] in ("textual", "rich")}


def test_mermaid_and_svg(project, capsys):
    main(["pipeline", "graph", "p", "--format", "mermaid"])
    assert capsys.readouterr().out.startswith("flowchart LR")
    main(["pipeline", "graph", "p", "--format", "svg"])
    assert capsys.readouterr().out.startswith("<svg")


@pytest.mark.parametrize("arguments", [["nobody"], ["p", "--width", "3"], ["nobody.yaml"], ["p#7"]])
def test_what_cannot_be_drawn_is_refused_with_a_remedy(project, capsys, arguments):
    assert main(["pipeline", "graph", *arguments]) != 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(("Nothing was drawn.", "Run "))
    assert len(said.err.splitlines()) == 3


def test_a_matrix_is_counted_from_its_definition(project, capsys):
    matrix = "strategy: {type: matrix, items: [a, b, c]}\n    exec: {type: command, source: 'true'}"
    late = matrix.replace("items: [a, b, c]", "items_source: s2/list")
    steps = f"{STEPS}  - id: m\n    {matrix}\n  - id: n\n    dependencies: [s2]\n    {late}\n"
    steps = steps.replace("id: s2\n", "id: s2\n    output_artifacts: [{name: list, path: l.json}]\n")
    file = project / ".wave" / "pipelines" / "p.yaml"
    file.write_text(f"kind: WavePipeline\nmetadata: {{name: p}}\n{steps}")
    main(["pipeline", "graph", "p", "--width", "80"])
    said = capsys.readouterr()
    assert "◯ m (3)" in said.out, said
    assert "◯ n (?)" in said.out
