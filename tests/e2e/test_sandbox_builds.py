"""What people build runs in a box, twice; git reads there and does not write; nothing reaches the network."""

import io
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.support import boxes
from workbench.effects.own_processes import bare_interpreter
from workbench.host.command_box import ClosedChanges, quarantine_new_closed


def needs(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


@pytest.fixture
def base(tmp_path):
    boxes.sandbox()
    folder = tmp_path.resolve()
    (folder / "project").mkdir()
    return folder


def built(base, script, times=2, **more):
    """Run a script in a box of its own, as often as asked; return what it printed at last."""
    output = ""
    for _ in range(times):
        planned = boxes.plan(base, **more)
        output = boxes.says(planned, script)
        assert quarantine_new_closed(planned) == ClosedChanges()
    return output


def make_wheel(folder):
    folder.mkdir()
    with zipfile.ZipFile(folder / "demo-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("demo.py", "print('demo runs')\n")
        wheel.writestr("demo-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n")
        wheel.writestr(
            "demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(
            "demo-1.0.dist-info/RECORD",
            "demo.py,,\ndemo-1.0.dist-info/METADATA,,\ndemo-1.0.dist-info/WHEEL,,\n",
        )


def test_pip_installs_from_local_files(base):
    """By the Python that runs the tests, which may be in a virtual environment of the home folder."""
    make_wheel(base / "project/wheels")
    pip = f"{sys.executable} -m pip install -q --no-index --find-links wheels --target lib --upgrade demo"
    visible = (sys.prefix, bare_interpreter()[1])
    assert built(base, f"{pip} && PYTHONPATH=lib {sys.executable} -m demo", visible=visible) == "demo runs\n"


ENVIRONMENT = """
{python} -m venv --without-pip .venv && mkdir src && echo 'print("app runs")' > src/app.py
echo "$PWD/src" > $(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/__editable__.app.pth
"""


def test_an_environment_of_python_is_made_in_one_command_and_used_in_the_next(base):
    visible = (sys.prefix, bare_interpreter()[1])
    assert built(base, ENVIRONMENT.format(python=sys.executable), times=1, visible=visible) == ""
    assert built(base, ".venv/bin/python -m app", visible=visible) == "app runs\n"


def add_text(archive, name, text):
    entry = tarfile.TarInfo(name)
    entry.size = len(text)
    archive.addfile(entry, io.BytesIO(text.encode()))


@needs("npm")
def test_npm_installs_and_runs_local_files(base):
    project = base / "project"
    with tarfile.open(project / "lib-1.0.0.tgz", "w:gz") as archive:
        add_text(archive, "package/package.json", '{"name": "lib", "version": "1.0.0", "main": "index.js"}')
        add_text(archive, "package/index.js", "module.exports = 'lib runs'\n")
    (project / "package.json").write_text(
        '{"name": "app", "version": "1.0.0", "scripts": {"say": "node -e \\"console.log(require(\'lib\'))\\""}}'
    )
    script = "npm install --silent --offline --no-audit --no-fund ./lib-1.0.0.tgz && npm run --silent say"
    assert built(base, script) == "lib runs\n"
    assert any((base / "data/sandbox/caches/c/npm").iterdir()), "its cache is the workspace's"


@needs("cargo")
def test_cargo_builds(base):
    """With the toolchain of the user's own home folder."""
    home = Path(os.path.expanduser("~root") if os.geteuid() == 0 else "/nonexistent")  # noqa: PTH111
    cargo = os.path.realpath(shutil.which("cargo"))
    if not cargo.startswith(("/usr/", f"{home}/")):
        pytest.skip("cargo is where a box does not show it")
    project = base / "project"
    (project / "src").mkdir()
    (project / "Cargo.toml").write_text('[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n')
    (project / "src/main.rs").write_text('fn main() { println!("app runs"); }\n')
    output = built(base, "cargo run -q --offline", times=2, home=str(home))
    assert output == "app runs\n"


@needs("make")
def test_make_builds_again_only_what_changed(base):
    (base / "project/Makefile").write_text("out: in\n\tcat in > out\n")
    (base / "project/in").write_text("x\n")
    assert built(base, "make", times=1) == "cat in > out\n"
    assert "up to date" in built(base, "make", times=1)


def test_a_test_run_uses_shared_memory_processes_and_a_server_of_its_own(base):
    (base / "project/check.py").write_text(
        """
import multiprocessing, socket, tempfile, threading
def square(number):
    return number * number
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        assert pool.map(square, range(4)) == [0, 1, 4, 9]
    server = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=lambda: server.accept()[0].sendall(b"served")).start()
    with socket.create_connection(server.getsockname()) as connection:
        assert connection.recv(10) == b"served"
    with tempfile.TemporaryDirectory() as folder:
        assert folder.startswith("/tmp/")
    print("all holds")
"""
    )
    python, installation = bare_interpreter()
    assert built(base, f"{python} check.py", visible=(installation,)) == "all holds\n"


def test_tmp_and_caches_last_from_one_command_to_the_next(base):
    script = 'for place in /tmp /var/tmp "$HOME/.cache" "$HOME/.npm"; do cat $place/kept; echo kept > $place/kept; done'
    assert built(base, f"touch /tmp/kept ~/.cache/kept ~/.npm/kept; {script}").count("kept") == 4


def test_the_packages_of_the_system_are_listed(base):
    if not Path("/var/lib/dpkg/status").exists():
        pytest.skip("not a system with dpkg")
    assert "install ok installed" in built(base, "dpkg -s dash bash 2>/dev/null || dpkg -s bash", times=1)


# --- git


@pytest.fixture
def repository(base):
    project = base / "project"
    (project / "file").write_text("one\n")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        settings = ("-c", "user.name=a", "-c", "user.email=a@b.example")
        environment = {"PATH": os.environ["PATH"], "HOME": str(base)}
        subprocess.run(
            ["git", *settings, *words], cwd=project, env=environment, check=True, capture_output=True
        )
    (project / "file").write_text("two\n")
    return base


def test_git_reads(repository):
    output = built(
        repository, "git status --short; git diff; git log --oneline; git show HEAD:file; git stash list"
    )
    assert " M file" in output and "+two" in output and " first" in output and "one\n" in output


@pytest.mark.parametrize(
    "command",
    ["git commit -am x", "git add file", "git stash", "git checkout -f", "git tag t", "git config a.b c"],
)
def test_git_does_not_write(repository, command):
    before = sorted(path for path in (repository / "project/.git").rglob("*"))
    done, output = boxes.run(boxes.plan(repository), command)
    assert done.code != 0
    assert "Read-only file system" in output or command == "git stash"
    assert sorted(path for path in (repository / "project/.git").rglob("*")) == before


# --- the network


@needs("curl")
def test_nothing_outside_is_reached(base):
    done, output = boxes.run(boxes.plan(base), "curl -sS http://example.com")
    assert done.code == 6 and "Could not resolve" in output
    done, output = boxes.run(boxes.plan(base), "curl -sS http://192.0.2.1")
    assert done.code == 7
