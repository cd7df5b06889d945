"""Files of a work tree that git runs or obeys because its settings, or links in its folder, name them."""

import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.waits import until_file_clock_moves
from workbench.policy import git_settings
from workbench.policy.git_settings import GitSetting, files_named_by_git, read_git_settings

PROGRAMS = ("EDITOR", "PAGER", "SSH_ASKPASS", "VISUAL")


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Make a work tree with a repository and some files; the home folder is next to it."""
    monkeypatch.setattr(git_settings, "_SYSTEM_FILES", ())
    for variable in [name for name in os.environ if name in PROGRAMS or name.startswith("GIT_")]:
        monkeypatch.delenv(variable)
    for name in (".git/hooks", ".git/info", "tools", "src"):
        (tmp_path / "work" / name).mkdir(parents=True)
    for name in ("tools/fs", "conv.py", "shared.inc"):
        (tmp_path / "work" / name).touch()
    return tmp_path / "work"


def named(work):
    """Return what is named in the work tree, relative to it, and what is named elsewhere, whole."""
    start = f"{work}/"
    return sorted(
        path.removeprefix(start) for path in files_named_by_git(str(work), str(work.parent / "home"))
    )


@pytest.mark.parametrize(
    ("settings", "paths"),
    [
        ("[core]\n\tfsmonitor = tools/fs\n", ["tools/fs"]),
        ("[core]\n\tfsmonitor = tools/\\\nfs ; why\n", ["tools/fs"]),
        ("[core]\n\thooksPath = ours\n", ["ours"]),
        ('[filter "x"]\n\tclean = python3 conv.py\n', ["conv.py"]),
        ("[alias]\n\tx = !tools/fs now\n\ty = log -- conv.py\n", ["tools/fs"]),
        ("[core]\n\tpager = tools/later src\n", ["tools/later"]),
        ('[filter "x"]\n\tclean = \\"./tools/fs\\" %f\n', ["tools/fs"]),
        ("[core]\n\tpager = true\\ntools/fs\n", ["tools/fs"]),
        ("[core]\n\tpager =\n[user]\n\tname = conv.py\nno setting\n", []),
        ("[core]\n\teditor = conv.py\0\n", []),
        ("[include]\n\tpath = ../shared.inc\n", [".git/../shared.inc", "shared.inc"]),
        ("[include]\n\tpath = config\n", [".git/config"]),
        ('\ufeff[core]\r\n\tpager = "cd src ; tools/fs"\r\n', ["tools/fs"]),
        ("[core]\n\tpager = tools/fs#c\n", ["tools/fs"]),
        ("[core]\n\talternateRefsCommand = tools/fs\n", ["tools/fs"]),
        ('[tar "x"]\n\tcommand = tools/fs -c\n', ["tools/fs"]),
        ('[remote "x"]\n\turl = ext::sh tools/fs %S\n\tpushurl = tools/fs\n', ["tools/fs"]),
        ('[url "ext::sh tools/fs"]\n\tinsteadOf = x:\n', ["tools/fs"]),
        ('[sendemail "x"]\n\ttoCmd = tools/fs\n\tsmtpServer = tools/mail\n', ["tools/fs", "tools/mail"]),
        ('[lfs "customtransfer.x"]\n\tpath = python3\n\targs = conv.py\n', ["conv.py"]),
        ('[guitool "x"]\n\tcmd = tools/fs\n\ttitle = conv.py\n', ["tools/fs"]),
        ('[diff "x"]\n\ttextconv = python3 later.py %f -v\n', ["later.py"]),
        ("[init]\n\ttemplateDir = src\n", ["src"]),
        ("[alias]\n\tx = -c core.pager=tools/fs log\n\ty = rebase -x ./conv.py\n", ["conv.py", "tools/fs"]),
        ('[alias]\n\tx = "!\\"$(git rev-parse --show-toplevel)\\"/tools/fs"\n', ["/tools/fs", "tools/fs"]),
        ("[user] [core] fsmonitor = tools/fs\n", ["tools/fs"]),
        ("; why \\\n[core]\n\tpager = tools/fs ; \\\n\teditor = tools/ed\n", ["tools/ed", "tools/fs"]),
        (
            '[filter "x"]\n\tclean = \\"/nowhere/python3\\" -m strip\n',
            ["/nowhere/python3", "strip.py", "strip/__init__.py", "strip/__main__.py"],
        ),
        (
            "[core]\n\tpager = python3 -Bm tools.page\n",
            [
                "tools.py",
                "tools/__init__.py",
                "tools/page.py",
                "tools/page/__init__.py",
                "tools/page/__main__.py",
            ],
        ),
        (
            "[core]\n\tworktree = ../src\n\tpager = ./page\n\thooksPath = h\n",
            ["h", "page", "src/h", "src/page"],
        ),
    ],
)
def test_what_settings_name(work, settings, paths):
    (work / ".git/config").write_text(settings)
    assert named(work) == paths


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("`git rev-parse --show-toplevel`/tools/fs", "tools/fs"),
        ("cd tools && ./fs", "tools/fs"),
        ("env -C tools fs", "tools/fs"),
        ("python3 -m 'page'", "page.py"),
        ("PYTHONPATH=src:tools python3 -m page", "tools/page.py"),
        ("python3 pack", "pack/__main__.py"),
        ("node tools/page", "tools/page.js"),
        ("bun pack", "pack/index.ts"),
        ("'my tools/a b' %f", "my tools/a b"),
        ("my\\\\ tools/a\\\\ b %f", "my tools/a b"),
        ("sh -c 'exec \\\"my tools/a b\\\"'", "my tools/a b"),
        ("my tools/a b", "my tools/a b"),
    ],
)
def test_how_commands_name_files(work, command, path):
    for name in ("tools/page.js", "pack/__main__.py", "pack/index.ts", "my tools/a b"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).touch()
    (work / ".git/config").write_text(f'[filter "x"]\n\tclean = "{command}"\n')
    assert path in named(work)


@pytest.mark.parametrize("command", ["cd src && make conv", "less src", "node src", "cd src; cat x.y"])
def test_other_words_of_commands_name_no_files(work, command):
    (work / ".git/config").write_text(f"[core]\n\tpager = {command}\n")
    assert named(work) == []


def test_settings_of_variables_name_files_too(work, monkeypatch):
    for variable, value in {
        "GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "Core.hooksPath", "GIT_CONFIG_VALUE_0": "ours",
        "GIT_CONFIG_KEY_1": "filter.a.b.clean", "GIT_CONFIG_VALUE_1": "tools/clean",
        "GIT_CONFIG_PARAMETERS": "'core.pager'='tools/a b' 'include.path=more.inc'",
        "GIT_SSH_COMMAND": "sh tools/fs", "GIT_EXEC_PATH": str(work / "core"),
    }.items():  # fmt: skip
        monkeypatch.setenv(variable, value)
    assert named(work) == ["core", "more.inc", "ours", "tools/a", "tools/clean", "tools/fs"]
    monkeypatch.setenv("GIT_CONFIG_COUNT", "many")
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.pager")
    assert named(work) == ["core", "tools/fs"]


PIECES = st.sampled_from((
    "[core]", "[a.b]", '[s "m"]', "name", "key-2", " = ", "=", "v", "a b", '"', "\\\n", "\\\\", '\\"', "\\n", "#", ";", "\n",
    "\n", " ", "\t", "\n[core]\nname = ", "tools/x",
))  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_drawn_settings_are_read_as_git_reads_them(tmp_path_factory, text):
    file = tmp_path_factory.getbasetemp() / "drawn"
    file.write_text(f"[core]\n{text}\n")
    git = subprocess.run(["git", "config", "-z", "--list", "--file", file], capture_output=True, check=False)
    if git.returncode:
        return
    listed = (entry.partition("\n") for entry in git.stdout.decode().split("\0"))
    expected = [(name, " ".join(value.split())) for name, _, value in listed]
    found = [
        (
            setting.name.replace(".", f".{setting.middle}." if setting.middle else "."),
            " ".join(setting.value.split()),
        )
        for setting in read_git_settings(str(file))
    ]
    assert found == [pair for pair in expected if pair[1]]


def test_included_files_are_read_up_to_a_number(work):
    for number in range(60):
        more = f"[include]\n\tpath = part{number + 1}\n"
        (work / ".git" / f"part{number}").write_text(f"{more}[core]\n\tpager = tools/p{number}\n")
    (work / ".git/config").write_text("[include]\n\tpath = part0\n")
    found = named(work)
    assert "tools/p0" in found
    assert "tools/p59" not in found


def test_what_links_lead_to_is_named(work):
    (work / ".git/hooks/pre-commit").symlink_to("../../tools/link")
    (work / "tools/link").symlink_to("fs")
    (work / ".git/info/exclude").symlink_to("/nowhere/at-all")
    assert named(work) == [
        ".git/hooks/pre-commit",
        ".git/info/exclude",
        "/nowhere/at-all",
        "tools/fs",
        "tools/link",
    ]


def test_a_folder_without_a_repository_names_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(git_settings, "_SYSTEM_FILES", ())
    assert files_named_by_git(str(tmp_path), str(tmp_path / "home")) == frozenset()


def test_the_middle_part_is_not_in_the_name(work):
    (work / ".git/config").write_text('[diff "a b"] textconv = x\n[core]\n\tPager = "y" # z\n')
    assert list(read_git_settings(str(work / ".git/config"))) == [
        GitSetting(name="diff.textconv", value="x", middle="a b"),
        GitSetting(name="core.pager", value="y"),
    ]


def test_settings_of_the_user_and_of_the_system_are_read(work, tmp_path, monkeypatch):
    for name in ("xdg/git/config", "system"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"[core]\n\tpager = tools/{name[:3]}\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", str(tmp_path / "system"))
    assert named(work) == ["tools/sys", "tools/xdg"]


def test_settings_that_changed_are_read_again(work, monkeypatch):
    monkeypatch.setattr(git_settings, "is_settled", lambda changed: True)
    file = work / ".git/config"
    file.touch()
    for name in ("fs", "gs", "hs"):
        until_file_clock_moves(file)
        file.write_text(f"[core]\n\tpager = tools/{name}\n")
        os.utime(file, (1, 1))
        assert named(work) == [f"tools/{name}"]
