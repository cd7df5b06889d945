"""Files of the workspace that a line runs outside: a grant does not cover them, since commands inside can write them."""

import types
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from tests.unit.policy.gate_cases import rule
from tests.unit.policy.test_gate_places import AUTO, command, globs, judged, place, where
from workbench.policy.shell import run_files
from workbench.policy.shell.run_files import files_run_by
from workbench.policy.shell.scanner import scan_commands

FOLDER = "the folder"
ROWS = (
    # --- by a path
    ("./deploy.sh --now", ["./deploy.sh"]), ("scripts/deploy", ["scripts/deploy"]), ("/opt/deploy x", ["/opt/deploy"]),
    ("./gradlew publish", ["./gradlew", FOLDER]), ("/usr/bin/make x", ["/usr/bin/make", FOLDER]),
    # --- by a shell or an interpreter
    ("bash deploy.sh", ["deploy.sh"]), ("sh -x deploy.sh now", ["deploy.sh", "now"]),
    ("bash -o pipefail deploy.sh now", ["pipefail", "deploy.sh"]), ("python tools/x.py --all", ["tools/x.py"]),
    ("python3.12 -u x.py a", ["x.py", "a"]), ("python3 -m build", [FOLDER]), ("python -Bm build", [FOLDER]),
    ("node x.js", ["x.js"]), ("ruby /opt/x.rb data", ["/opt/x.rb"]), ("java -jar x.jar", ["x.jar"]), ("perl x.pl", ["x.pl"]),
    ("php x.php", ["x.php"]), ("Rscript x.R", ["x.R"]), ("deno run x.ts", [FOLDER]),
    ("python --version", []), ("bash --help", []), ("node -V", []), ("make --version", []), ("npm --silent view x", []), ("pip install --find-links=./dist x", [FOLDER]),
    # --- by what files of the folder say
    ("make deploy", [FOLDER]), ("gmake", [FOLDER]), ("make -C sub install", [FOLDER]), ("just deploy", [FOLDER]),
    ("npm run deploy", [FOLDER]), ("npm publish", [FOLDER]), ("npm install", [FOLDER]), ("npm --prefix web ci", [FOLDER]),
    ("npm view left-pad", []), ("npm whoami", []), ("yarn deploy", [FOLDER]), ("yarn info x", []), ("pnpm store path", []),
    ("npx cdk deploy", [FOLDER]), ("uv run x.py", [FOLDER]), ("uv sync", [FOLDER]), ("uvx ruff check", []), ("uv cache clean", []),
    ("cargo publish", [FOLDER]), ("cargo fetch", []), ("go run .", [FOLDER]), ("go get x", []), ("go mod download", []),
    ("poetry install", [FOLDER]), ("poetry show", []), ("docker compose up -d", [FOLDER]), ("docker compose ps", []),
    ("docker-compose up", [FOLDER]), ("docker push x", []), ("docker buildx bake", [FOLDER]), ("terraform apply", [FOLDER]),
    ("terraform fmt", []), ("pytest -q", [FOLDER]), ("bundle install", [FOLDER]), ("mise run x", [FOLDER]),
    # --- by an installer
    ("pip install .", ["."]), ("pip install -e .", [FOLDER, "."]), ("pip install ./pkg", ["./pkg"]),
    ("pip install -r requirements.txt", [FOLDER]), ("pip install --requirement=a.txt", [FOLDER]),
    ("pip install requests", []), ("pip install git+https://example.org/x", []), ("uv pip install ../x", ["../x"]),
    ("pip install --index-url=https://example.org/simple x", []), ("pip install file:///w/x", ["file:///w/x"]),
    ("pip install x-1.whl", ["x-1.whl"]), ("pip install --python=./py x", ["./py"]), ("pipx install x.tar.gz", ["x.tar.gz"]), ("pip install --find-links dist x", [FOLDER]),
    ("apt install ./x.deb", ["./x.deb"]), ("dpkg -i x.deb", ["x.deb"]), ("gem install x", [FOLDER]),
    # --- in a container
    ("docker build .", [FOLDER]), ("docker run -itv .:/w x", [FOLDER]), ("podman run --mount=type=bind,src=.,dst=/w x", [FOLDER]),
    # --- nothing
    ("git commit -m x", []), ("git push", []), ("gh pr create", []), ("curl https://example.org", []), ("kubectl get pods", []),
    ("rsync a b", []), ("unheard-of deploy.sh", []), ("docker run --rm x", []), ("apt install x", []), ("conda install -c conda-forge x", []), ("pip install x.y", []),
)  # fmt: skip


def found(line, read=files_run_by):
    words = scan_commands(line).segments[0].words
    return [file.path or FOLDER for file in read(words)]


def differing_rows(read):
    return [line for line, names in ROWS if found(line, read) != names]


@each_row("line, names", ROWS)
def test_what_a_command_runs(line, names):
    assert found(line) == names


@given(
    st.lists(st.text(alphabet="ab./-=:m ", max_size=8), min_size=1, max_size=5).filter(lambda words: words[0])
)
def test_any_words_are_read(words):
    for file in files_run_by(words):
        assert file.program == words[0] and (not file.path or any(file.path in word for word in words))


MUTATIONS = (
    ('if "/" in head:', "if False:"),
    ("if len(words) == 2 and words[1] in _VERSION_WORDS:", "if words[-1] in _VERSION_WORDS and False:"),
    ("if name in INTERPRETERS:", "if False:"),
    ("        yield RunFile(program=head)\n", "        pass\n"),
    ("if name in PATH_INSTALLERS:", "if False:"),
    ("and _MODULE_OPTION.fullmatch(word)", "and False"),
    ('if word.startswith("-"):\n', "if False:\n"),
    ("            is_behind_option = True\n", "            pass\n"),
    ("        if not is_behind_option:\n            return\n", ""),
    ("        is_behind_option = False\n\n", "\n"),
    ("if name in FOLDER_RUNNERS:", "if False:"),
    ("name not in FETCHING_RUNNERS and", ""),
    ("and inner_program_start(name, words) is not None", ""),
    ("first_operand_from(name, words, 1)", "1"),
    ('subcommand == "compose"', "False"),
    ("return subcommand not in QUIET_SUBCOMMANDS[name]", "return subcommand in QUIET_SUBCOMMANDS[name]"),
    ("return subcommand in RUNNING_SUBCOMMANDS.get(name, ())", "return False"),
    ("name in PYTHON_INSTALLERS and _LIST_OPTION.fullmatch(word)", "False"), ("name in PYTHON_INSTALLERS and ", ""),
    ('place.startswith(".") or "/" in place', '"/" in place'),
    ('place.startswith(".") or "/" in place', 'place.startswith(".")'),
    ("and not _REMOTE_ADDRESS.match(place)", ""),
    (r"(?!.*\bfile:)", ""),
    ("return any(map(_MOUNT_OPTION.fullmatch, words[start:]))", "return False"),
    (" or _PACKAGE_FILE.fullmatch(place)", ""), ("|find-links", ""),
    ('word.partition("=")[2] if word.startswith("-") else word', "word"),
)  # fmt: skip


@pytest.mark.parametrize(("old", "new"), MUTATIONS)
def test_each_change_of_a_line_changes_a_row(old, new):
    source = Path(run_files.__file__).read_text(encoding="utf-8")
    assert source.count(old) >= 1, old
    changed = types.ModuleType("changed_run_files")
    exec(compile(source.replace(old, new, 1), "run_files.py", "exec"), vars(changed))
    assert differing_rows(changed.files_run_by)


# --- the gate


@pytest.fixture
def work(tmp_path):
    for name in ("deploy.sh", "sub/x.sh", "src/a.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch(0o755)
    return tmp_path


LINES = (
    # a line, and the file of the workspace or program that the question names; empty is allowed without one
    ("./deploy.sh", "./deploy.sh runs ./deploy.sh"), ("bash deploy.sh", "bash runs deploy.sh"),
    ("{work}/deploy.sh", "/deploy.sh"), ("bash {work}/deploy.sh", "a file of the workspace"),
    ("make deploy", "make runs what files"), ("python src/a.py", "python runs src/a.py"), ("bash not-there.sh", "bash runs not-there.sh"),
    ("cd sub && bash x.sh", "bash runs x.sh"), ("cd sub && bash ../deploy.sh", "bash runs ../deploy.sh"),
    ("git status && bash deploy.sh", "bash runs deploy.sh"), ("{elsewhere}/linked.sh", "a file of the workspace"),
    ("git push", ""), ("{elsewhere}/tool", ""), ("unheard-of now", ""),
)  # fmt: skip


@pytest.mark.parametrize(("line", "named"), LINES)
def test_a_grant_for_outside_asks_about_a_line_that_runs_a_file_of_the_workspace(
    work, tmp_path_factory, line, named
):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "tool").touch(0o755)
    (elsewhere / "linked.sh").symlink_to(work / "deploy.sh")
    line = line.format(work=work, elsewhere=elsewhere)
    parts = [*line.split(" && "), "cd sub", "git status"]
    granted = where(
        work, rules=tuple(rule(id=part, pattern=f"Bash({part})", place="outside") for part in parts)
    )
    verdict = judged(command(line), granted)
    assert (verdict.outcome, verdict.place) == ("ask" if named else "allowed", "outside"), verdict.reason
    assert named in verdict.reason
    if named:
        assert "otherwise: " in verdict.reason
        settings = where(work, allow=globs(*(f"Bash({part})" for part in parts), place="outside"))
        assert place(command(line), settings) == ("ask", "outside"), "as by a rule"


def test_a_grant_for_inside_and_one_without_a_sandbox_are_as_before(work):
    inside = where(work, rules=(rule(pattern="Bash(make deploy)"),))
    assert place(command("make deploy"), inside) == ("allowed", "inside")
    outside = where(work, rules=(rule(pattern="Bash(make deploy)", place="outside"),))
    for sandbox in (
        None,
        AUTO.__class__(level="outside", strength="full"),
        AUTO.__class__(level="workspace", strength="none"),
    ):
        changed = judged(command("make deploy"), where(work, sandbox, rules=outside.rules))
        assert changed.outcome == "allowed"


def test_a_grant_of_every_command_of_a_run_covers_such_a_line(work):
    whole = rule(scope="run", scope_id="r", pattern="Bash", place="outside")
    assert place(command("make deploy"), where(work, rules=(whole,), run_id="r")) == ("allowed", "outside")
