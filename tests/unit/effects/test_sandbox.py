"""The words that make a box: what is mounted, in which order, and what a command finds in its environment."""

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from msgspec.structs import replace

from workbench.effects import box_start, sandbox
from workbench.effects.box_start import BoxGate, BoxNotMade, with_filter, with_gate
from workbench.effects.mounts import MountRow, mounted_source, read_mounts
from workbench.effects.sandbox import (
    BoxDescription,
    Sandbox,
    boxed_argv,
    boxed_environment,
    make_places,
)

FULL = Sandbox(backend="bubblewrap", program="/usr/bin/bwrap")
FILES = Sandbox(backend="landlock")


@pytest.fixture
def box(tmp_path):
    base = tmp_path.resolve()
    for name in ("w/sub/deep", "w/.git", "home/.pyenv", "data", "repository/inner"):
        (base / name).mkdir(parents=True)
    for name in ("w/sub/deep/.envrc", "w/pipe", "home/.gitconfig"):
        (base / name).touch()
    return BoxDescription(
        level="workspace", workspace=f"{base}/w", folder=f"{base}/w", visible=(f"{base}/home/.pyenv",), closed=(),
        hidden=(), home=f"{base}/home", temporary=f"{base}/data/tmp", caches=f"{base}/data/caches",
    )  # fmt: skip


def mounts(box):
    """Return what is mounted by place: `rw`, `ro` or `empty`, and from where, in the order of the words."""
    words, found = list(boxed_argv(FULL, box, ("true",))), {}
    for at, word in enumerate(words[: words.index("--")]):
        if word in ("--bind", "--ro-bind"):
            found[words[at + 2]] = ("rw" if word == "--bind" else "ro", words[at + 1])
        elif word == "--tmpfs":
            found[words[at + 1]] = ("empty", "")
    return found


def test_the_strength_of_each_backend():
    strengths = {backend: Sandbox(backend=backend).strength for backend in ("bubblewrap", "landlock", "none")}
    assert strengths == {"bubblewrap": "full", "landlock": "files", "none": "none"}
    with pytest.raises(ValueError, match="no sandbox"):
        boxed_argv(Sandbox(backend="none"), None, ("true",))


def test_a_command_gets_namespaces_no_capabilities_and_its_filter(box):
    words = boxed_argv(FULL, box, ("make", "--", "x"))
    assert words[0] == "/usr/bin/bwrap"
    assert words[words.index("--") + 1 :] == ("make", "--", "x")
    for kind in ("user", "pid", "net", "ipc", "uts"):
        assert f"--unshare-{kind}" in words
    assert {"--die-with-parent", "--cap-drop"} <= set(words)
    assert words[words.index("--seccomp") + 1] == "command"
    assert boxed_argv(FULL, replace(box, can_nest=True), ("x",))[words.index("--seccomp") + 1] == "agent"


def test_the_workspace_can_be_written_unless_the_level_is_read_only(box):
    assert mounts(box)[box.workspace] == ("rw", box.workspace)
    assert mounts(replace(box, level="read-only"))[box.workspace] == ("ro", box.workspace)


def test_a_read_only_level_leaves_tmp_and_caches(box):
    found = mounts(replace(box, level="read-only", closed=(f"{box.workspace}/.git",)))
    assert found["/tmp"] == found["/var/tmp"] == ("rw", box.temporary)
    assert found[f"{box.home}/.cache"] == ("rw", f"{box.caches}/cache")
    assert f"{box.workspace}/.git" not in found, "it is read-only already"


def test_a_closed_path_is_read_only_and_the_folders_to_it_cannot_be_renamed(box):
    path = f"{box.workspace}/sub/deep/.envrc"
    found = mounts(replace(box, closed=(path, f"{box.workspace}/.git")))
    assert found[path] == ("ro", path)
    assert found[f"{box.workspace}/.git"] == ("ro", f"{box.workspace}/.git")
    for folder in (f"{box.workspace}/sub", f"{box.workspace}/sub/deep"):
        assert found[folder] == ("rw", folder)
    places = list(found)
    assert (
        places.index(f"{box.workspace}/sub") < places.index(f"{box.workspace}/sub/deep") < places.index(path)
    )


def test_what_is_closed_in_a_closed_folder_takes_no_mount(box):
    inner = f"{box.workspace}/sub/deep/.envrc"
    found = mounts(replace(box, closed=(f"{box.workspace}/sub", inner)))
    assert found[f"{box.workspace}/sub"][0] == "ro"
    assert inner not in found and f"{box.workspace}/sub/deep" not in found


def test_hidden_files_are_masked_and_hidden_folders_empty(box):
    file, folder = f"{box.workspace}/pipe", f"{box.workspace}/sub"
    hidden = replace(box, hidden=(file, folder))
    assert mounts(hidden)[file] == ("ro", "/dev/null")
    words = boxed_argv(FULL, hidden, ("true",))
    at = words.index(folder)
    assert words[at - 3 : at + 1] == ("--perms", "0000", "--tmpfs", folder)
    assert list(itertools.pairwise(words)).count(("--remount-ro", folder)) == 1


def test_an_empty_folder_is_read_only_once_all_in_it_is_mounted(box):
    above = os.path.dirname(box.workspace)  # noqa: PTH120
    hidden, visible = (above, f"{box.workspace}/sub"), (f"{box.home}/.pyenv", os.path.dirname(above))  # noqa: PTH120
    words = boxed_argv(FULL, replace(box, visible=visible, hidden=hidden), ("true",))
    pairs = list(itertools.pairwise(words))
    emptied = {place for word, place in pairs if word == "--tmpfs"} - {"/dev/shm"}
    assert {*hidden} <= emptied
    for place in ("/dev", "/", *emptied):
        assert pairs.count(("--remount-ro", place)) == 1
        rest = words[pairs.index(("--remount-ro", place)) :]
        later = [rest[at + 2] for at, word in enumerate(rest) if word in ("--bind", "--ro-bind")]
        assert not [inner for inner in later if inner.startswith(place.rstrip("/") + "/")]


def test_what_is_hidden_stays_hidden_in_what_is_shown_and_by_each_name(box):
    secret = f"{box.home}/.pyenv/secret"
    found = mounts(replace(box, hidden=(secret,), shown_as=((f"{box.home}/.pyenv", "/srv/other"),)))
    assert found[secret] == found["/srv/other/secret"] == ("ro", "/dev/null")
    above = mounts(replace(box, hidden=(box.home,)))
    assert f"{box.home}/.pyenv" not in above, "a hidden folder shows nothing in it"


def test_what_is_hidden_but_not_shown_takes_no_mount(box):
    assert mounts(
        replace(box, hidden=("/somewhere/else", "/tmp/other.sock", f"{box.home}/secret"))
    ) == mounts(box)


def test_a_workspace_in_a_hidden_folder_is_there_all_the_same(box):
    above = os.path.dirname(box.workspace)  # noqa: PTH120
    nearby = replace(box, visible=(os.path.dirname(above),), hidden=(above,))  # noqa: PTH120
    found = mounts(nearby)
    assert found[above] == ("empty", "")
    assert found[box.workspace] == ("rw", box.workspace)
    words = boxed_argv(FULL, nearby, ("true",))
    assert words[words.index(above) - 2] == "0111", "its folder has to be entered, and lists nothing"


def test_what_is_visible_in_a_writable_place_stays_writable(box):
    found = mounts(replace(box, visible=(f"{box.workspace}/sub",), writable=("/srv/out",)))
    assert f"{box.workspace}/sub" not in found
    assert found["/srv/out"] == ("rw", "/srv/out")


def test_a_visible_folder_in_a_cache_is_read_only_there(box):
    registry = f"{box.home}/.cargo/registry"
    found = mounts(replace(box, visible=(registry,)))
    assert found[f"{box.home}/.cargo"] == ("rw", f"{box.caches}/cargo")
    assert found[registry] == ("ro", registry)


def test_a_repository_around_the_workspace_is_read_only(box):
    above = os.path.dirname(box.workspace)  # noqa: PTH120
    found = mounts(replace(box, visible=(above,)))
    places = list(found)
    assert found[above] == ("ro", above)
    assert places.index(above) < places.index(box.workspace)


def test_the_home_folder_is_empty_but_for_what_is_shown(box):
    found = mounts(box)
    assert found[box.home] == ("empty", "")
    assert found[f"{box.home}/.pyenv"] == ("ro", f"{box.home}/.pyenv")


def test_a_home_folder_that_is_the_root_covers_nothing(box):
    found = mounts(replace(box, home="/"))
    assert "/" not in found and found["/.cache"] == ("rw", f"{box.caches}/cache")


def test_root_cannot_write_settings_of_the_kernel(box, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert mounts(box)["/proc/sys"] == ("ro", "/proc/sys")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "/proc/sys" not in mounts(box), "a box in the box needs a /proc of its own"


def test_what_brings_mounts_of_its_own_comes_last(box):
    places = [place for place in mounts(box) if place != "/sys" and not place.startswith("/sys/")]
    assert list(mounts(box))[: len(places)] == places


def test_links_of_the_system_stay_links(box, monkeypatch, tmp_path):
    folder, link = tmp_path / "usr", tmp_path / "bin"
    folder.mkdir()
    link.symlink_to("usr")
    monkeypatch.setattr(sandbox, "SYSTEM_FOLDERS", (str(folder), str(link), str(tmp_path / "none")))
    words = boxed_argv(FULL, box, ("true",))
    assert words[words.index("--symlink") :][:3] == ("--symlink", "usr", str(link))
    assert mounts(box)[str(folder)] == ("ro", str(folder))
    assert str(tmp_path / "none") not in words


# --- folders of ours


def test_places_are_made_and_what_a_command_left_there_is_taken_away(box, tmp_path):
    inner = f"{box.home}/.cargo/registry"
    os.makedirs(inner)  # noqa: PTH103
    box = replace(box, visible=(inner, f"{box.home}/.cargo/config.toml"))
    open(f"{box.home}/.cargo/config.toml", "w").close()  # noqa: PTH123
    make_places(box)
    cargo = tmp_path / "data" / "caches" / "cargo"
    assert (cargo / "registry").is_dir() and (cargo / "config.toml").is_file()
    (cargo / "registry").rmdir()
    (cargo / "registry").symlink_to(tmp_path)
    (cargo / "config.toml").unlink()
    (cargo / "config.toml").mkdir()
    make_places(box)
    assert (cargo / "registry").is_dir() and not (cargo / "registry").is_symlink()
    assert (cargo / "config.toml").is_file()


def test_places_are_made_by_several_at_once(box):
    for name in (".cargo/registry", "go/pkg/mod"):
        os.makedirs(f"{box.home}/{name}")  # noqa: PTH103
    visible = tuple(f"{box.home}/{name}" for name in (".cargo/registry", "go/pkg/mod", ".cargo/config.toml"))
    Path(f"{box.home}/.cargo/config.toml").touch()
    with ThreadPoolExecutor(4) as pool:
        for number in range(15):
            fresh = replace(box, visible=visible, caches=f"{box.caches}{number}")
            barrier = Barrier(4)
            done = [
                pool.submit(lambda box=fresh, gate=barrier: (gate.wait(), make_places(box))) for _ in range(4)
            ]
            assert [each.result()[1] for each in done] == [None] * 4


def test_a_folder_that_leads_to_a_mount_in_a_cache_is_mounted_too(box):
    inner = f"{box.home}/go/pkg/mod"
    os.makedirs(inner)  # noqa: PTH103
    box = replace(box, visible=(inner,))
    make_places(box)
    found = mounts(box)
    assert found[f"{box.home}/go/pkg"] == ("rw", f"{box.caches}/go/pkg")
    assert os.path.isdir(f"{box.caches}/go/pkg/mod")  # noqa: PTH112


# --- the environment


LEADS_OUT = (
    "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "GPG_AGENT_INFO", "GPG_TTY", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY",
    "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DOCKER_HOST", "CONTAINER_HOST", "PULSE_SERVER", "TMUX", "STY",
    "TMUX_PANE", "KUBECONFIG", "VSCODE_IPC_HOOK_CLI", "WSL_INTEROP", "KRB5CCNAME", "SWAYSOCK", "SESSION_MANAGER",
    "XDG_CACHE_HOME", "PIP_CACHE_DIR", "npm_config_cache", "GOCACHE", "GOMODCACHE", "CARGO_HOME", "TMP", "TEMP",
    "SOME_PROGRAM_SOCKET", "X_AUTH_SOCK",
)  # fmt: skip


@pytest.mark.parametrize("name", LEADS_OUT)
def test_a_variable_that_leads_out_is_left_out(box, name):
    assert name not in boxed_environment({name: "x"}, box)


@pytest.mark.parametrize(
    "name", ["PATH", "LANG", "LC_ALL", "TERM", "CI", "PYTHONPATH", "WORKBENCH_AGENT", "CC", "GIT_AUTHOR_NAME"]
)
def test_all_else_stays(box, name):
    assert boxed_environment({name: "x"}, box)[name] == "x"


def test_what_a_box_says_itself(box):
    own = boxed_environment({"HOME": "/other", "TMPDIR": "/other", "PWD": "/other"}, box)
    assert own == {"HOME": box.home, "PWD": box.folder, "TMPDIR": "/tmp", "GIT_OPTIONAL_LOCKS": "0"}


# --- Landlock


def test_landlock_gets_the_same_writable_places(box):
    words = boxed_argv(FILES, replace(box, writable=("/srv/out",)), ("make", "x"))
    assert words[words.index("--") :] == ("--", "make", "x")
    pairs = list(itertools.pairwise(words))
    written = [path for option, path in pairs if option == "--write"]
    assert written == [box.workspace, "/srv/out", box.temporary, box.caches]
    assert ("--set", f"TMPDIR={box.temporary}") in pairs
    read_only = boxed_argv(FILES, replace(box, level="read-only", writable=("/srv/out",)), ("true",))
    assert box.workspace not in [
        path for option, path in itertools.pairwise(read_only) if option == "--write"
    ]


# --- the gate, and what was mounted


def test_the_gate_is_put_behind_the_options():
    words = ("bwrap", "--seccomp", "command", "--chdir", "/", "--", "printf", "--", "--seccomp")
    assert with_gate(words, ("sh",)) == (*words[:6], "sh", *words[6:])
    assert with_filter(words, 7) == ("bwrap", "--seccomp", "7", *words[3:])


def test_a_gate_is_there_when_its_line_is():
    gate = BoxGate("mark-1")
    assert not gate.is_there(b"sh: warning: set")
    assert not gate.is_there(b"locale\nmark")
    assert gate.is_there(b"-1\n")
    assert gate.printed == b"sh: warning: setlocale\n"
    with pytest.raises(BoxNotMade, match="ended before"):
        BoxGate("mark-1").is_there(b"")


def row(place, source, device="8:1", is_read_only=False):
    return MountRow(place=place, device=device, source=source, is_read_only=is_read_only, kind="ext4")


OURS = {"/": row("/", "/"), "/home": row("/home", "/@home", "8:2"), "/home/u/w": row("/home/u/w", "/", "8:3")}


@pytest.mark.parametrize(
    ("path", "source"),
    [("/etc", ("8:1", "/etc")), ("/home", ("8:2", "/@home")), ("/home/u", ("8:2", "/@home/u")), ("/home/u/w/.git", ("8:3", "/.git")),
     ("/homes", ("8:1", "/homes")), ("/", ("8:1", "/"))],
)  # fmt: skip
def test_where_a_path_is_on_its_file_system(path, source):
    assert mounted_source(path, OURS) == source


WORDS = (
    "bwrap",
    "--seccomp",
    "command",
    "--bind",
    "/w",
    "/w",
    "--ro-bind",
    "/w/.git",
    "/w/.git",
    "--tmpfs",
    "/e",
    "--",
    "true",
)
RIGHT = {"/w": row("/w", "/w"), "/w/.git": row("/w/.git", "/w/.git", is_read_only=True), "/e": row("/e", "/")}


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({}, None),
        ({"/w/.git": None}, "/w/.git"),
        ({"/w/.git": row("/w/.git", "/w/.git")}, "/w/.git"),
        ({"/w/.git": row("/w/.git", "/other", is_read_only=True)}, "/w/.git"),
        ({"/w": row("/w", "/w", device="8:9")}, "/w"),
        ({"/w": row("/w", "/w//deleted")}, "/w"),
        ({"/e": None}, "/e"),
    ],
)  # fmt: skip
def test_a_box_is_refused_that_is_not_as_described(monkeypatch, changed, named):
    inside = {place: found for place, found in (RIGHT | changed).items() if found is not None}
    monkeypatch.setattr(box_start, "_first_inside", lambda leader: 77)
    monkeypatch.setattr(box_start, "read_mounts", lambda process: inside if process == 77 else {})
    if named is None:
        assert box_start.check_box(WORDS, 1, OURS) == 77
        return
    with pytest.raises(BoxNotMade, match=f"{named} changed"):
        box_start.check_box(WORDS, 1, OURS)


def test_a_box_without_a_process_is_refused():
    with pytest.raises(BoxNotMade, match="first process"):
        box_start.check_box(WORDS, os.getpid(), OURS)


def test_the_mounts_of_this_process_are_read():
    assert "/" in read_mounts()
    assert read_mounts(0) == {}
