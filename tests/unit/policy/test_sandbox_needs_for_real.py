"""What needs nothing succeeds in a sandbox, and what needs something fails there: real programs, run in both."""

import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from zipfile import ZipFile

import pytest

from tests.support.plain_sandbox import sandboxed, why_no_sandbox
from tests.unit.policy.sandbox_lines import GIT_READS, GIT_WRITES
from workbench.policy.shell.sandbox_needs import line_needs

pytestmark = pytest.mark.skipif(bool(why_no_sandbox()), reason=why_no_sandbox())

ENVIRONMENT = {
    "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "T", "GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_NAME": "T",
    "GIT_COMMITTER_EMAIL": "t@example.org", "GIT_EDITOR": "true", "GIT_TERMINAL_PROMPT": "0", "npm_config_audit": "false",
    "npm_config_update_notifier": "false", "no_proxy": "*",
}  # fmt: skip
REPOSITORY = """
git init -q -b main --template= . && git init -q --bare --template= ../origin.git
mkdir -p .git/hooks sub && echo one > a.txt && echo two > b.txt && echo s > sub/c.txt
git add . && git commit -qm first && git branch side && git tag v1
echo more >> a.txt && git commit -qam second
git checkout -q side && echo s > side.txt && git add side.txt && git commit -qm side && git checkout -q main
git remote add origin ../origin.git && git push -q -u origin main
echo three >> b.txt && git diff > p.patch && git diff > q.patch && git add b.txt && git commit -qm third
git revert --no-edit HEAD > /dev/null && git push -q
echo x > stash.txt && git add stash.txt && git stash -q && cp p.patch .. && git apply p.patch && echo n > new.txt
"""
"""Makes a repository with a branch, a tag, a remote, a stash and a change that is not committed."""
WITH_CLEAN_TREE = (
    "git rebase -q side",
    "git revert --no-edit HEAD",
    "git apply --index q.patch",
    "git stash pop",
)


def run(argv, folder, **changed):
    return subprocess.run(
        argv, cwd=folder, env={**ENVIRONMENT, **changed}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "w"
    folder.mkdir()
    done = run(["bash", "-ec", REPOSITORY.strip().replace("\n", " && ")], folder, HOME=str(folder.parent))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def place(made, tmp_path):
    """Return what runs a line in a fresh copy of the repository: outside, or in a sandbox."""
    home = tmp_path / "home"
    home.mkdir()

    def place(line, *, inside):
        folder = tmp_path / "w"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder, symlinks=True)
        shutil.copytree(made.parent / "origin.git", tmp_path / "origin.git", dirs_exist_ok=True)
        shutil.copy(made.parent / "p.patch", tmp_path)
        if line in WITH_CLEAN_TREE:
            run(["git", "checkout", "-q", "b.txt"], folder)
        argv = sandboxed(line, folder) if inside else ["bash", "-c", line]
        return run(argv, folder, HOME=str(home))

    return place


@pytest.mark.parametrize("line", GIT_READS)
def test_what_only_reads_a_repository_works_inside(place, line):
    outside, inside = place(line, inside=False), place(line, inside=True)
    assert (inside.returncode, inside.stdout) == (outside.returncode, outside.stdout), inside.stderr


@pytest.mark.parametrize("line", GIT_WRITES)
def test_what_writes_a_repository_works_outside_only(place, line):
    outside, inside = place(line, inside=False), place(line, inside=True)
    assert outside.returncode == 0, outside.stderr
    assert inside.returncode != 0, inside.stdout


OUTSIDE_WRITES = (
    "echo x > ../x", "mkdir ../x", "cp a.txt ..", "mv a.txt ../x", "tee ../x", "ln -s a.txt ../x", "touch ~/x",
    "cp -t .. a.txt", "install -t .. a.txt", "dd if=a.txt of=../x", "tar -cf ../x a.txt", "sed -i s/p/q/ ../p.patch",
    "chmod 600 ../p.patch", "gzip ../p.patch", "git archive -o ../x HEAD", "unset GIT_CONFIG_GLOBAL; git config --global a.b c",
    "cd .. && touch x", "find . -name a.txt -exec cp -t .. {} +", "bash -c 'touch ../x'", "git worktree add ../x",
)  # fmt: skip
WORKSPACE_WRITES = (
    "echo x > x", "mkdir -p x/y", "cp a.txt x", "mv a.txt x", "tee x", "ln -s a.txt x", "touch /tmp/x",
    "install a.txt sub", "dd if=a.txt of=x", "tar -cf x a.txt", "sed -i s/o/0/ a.txt", "chmod 600 a.txt", "gzip a.txt",
    "cd sub && touch ../x", "find . -name a.txt -exec cp {} x \\;", "rm -rf sub", "python3 -c 'print(1)'", "true",
    "env A=1 touch x", "cat /etc/passwd", "echo x >/dev/null", "kill %1 || true",
)  # fmt: skip


@pytest.mark.parametrize("line", OUTSIDE_WRITES)
def test_what_writes_outside_works_outside_only(place, line):
    assert {need.kind for need in line_needs(line, "/srv/w", "")} & {"outside", "git"}
    outside, inside = place(line, inside=False), place(line, inside=True)
    assert outside.returncode == 0, outside.stderr
    assert inside.returncode != 0


@pytest.mark.parametrize("line", WORKSPACE_WRITES)
def test_what_writes_the_workspace_works_inside(place, line):
    assert line_needs(line, "/srv/w", "") == ()
    assert place(line, inside=True).returncode == 0


class _Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"here")

    def log_message(self, *_):
        pass


@pytest.fixture
def address():
    server = HTTPServer(("127.0.0.1", 0), _Answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    "line", ["curl -sf {}", "wget -qO- {}", "git ls-remote {} ; curl -sf {}", "bash -c 'curl -sf {}'"]
)
def test_a_server_outside_is_not_reached_from_inside(place, address, line):
    for program in ("curl", "wget"):
        if program in line and shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    line = line.replace("{}", address)
    assert {need.kind for need in line_needs(line, "/w", "")} == {"network"}
    outside, inside = place(line, inside=False), place(line, inside=True)
    assert outside.stdout == "here"
    assert inside.returncode != 0 and inside.stdout == ""


def test_a_package_is_installed_from_a_file_without_the_network(place, made):
    wheel = "tiny-1-py3-none-any.whl"
    with ZipFile(made / wheel, "w") as file:
        file.writestr("tiny.py", "")
        file.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
        file.writestr(
            "tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr("tiny-1.dist-info/RECORD", "")
    python = f"{sys.executable} -m pip --disable-pip-version-check"
    needing_nothing = f"{python} install -q --no-index --target out ./{wheel} && ls out/tiny.py"
    needing = f"{python} install -q --retries 0 --target out tiny-that-is-nowhere"
    assert line_needs(needing_nothing, "/w", "") == ()
    assert [need.kind for need in line_needs(needing, "/w", "")] == ["network"]
    inside = place(needing_nothing, inside=True)
    assert inside.returncode == 0, inside.stderr
    assert place(needing, inside=True).returncode != 0


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_npm_installs_a_folder_offline_and_nothing_else(place, made):
    (made / "pkg").mkdir()
    (made / "pkg/package.json").write_text('{"name": "pkg", "version": "1.0.0"}')
    (made / "package.json").write_text('{"name": "w", "version": "1.0.0"}')
    line = (
        "npm_config_cache=/tmp/npm npm install --offline --no-audit ./pkg && ls node_modules/pkg/package.json"
    )
    assert line_needs(line, "/w", "") == ()
    inside = place(line, inside=True)
    assert inside.returncode == 0, inside.stderr
