"""What a box shows of the home folder: a line for each thing, and nothing that no line names."""

import os

import pytest

from workbench.effects.home_view import SETTINGS, TOOLCHAINS, home_view
from workbench.effects.search_path import leads_through

KEY = "AKIA" + "Q7RZ2KXW4MNB5TPL"
"""Looks like a key of a service."""


@pytest.fixture
def home(tmp_path):
    folder = tmp_path.resolve() / "home"
    folder.mkdir()
    return folder


def shown(home, path="", workspace="/w"):
    return home_view(str(home), path, workspace)


def make(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.write_text("x\n")


@pytest.mark.parametrize("name", TOOLCHAINS)
def test_a_toolchain_is_shown(home, name):
    (home / name).mkdir(parents=True)
    assert shown(home).visible == (f"{home}/{name}",)


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_shown_unless_they_hold_a_secret(home, name):
    make(home, name)
    assert shown(home).visible == (f"{home}/{name}",)
    (home / name).write_text(f"key = {KEY}\n")
    assert (shown(home).visible, shown(home).withheld) == ((), (f"{home}/{name}",))
    (home / name).write_text("x" * 70_000)
    assert shown(home).withheld == (f"{home}/{name}",), "too long to be looked at"


PRIVATE = (
    ".ssh/id_ed25519", ".aws/credentials", ".netrc", ".npmrc", ".pypirc", ".docker/config.json", ".kube/config",
    ".gnupg/private-keys-v1.d/x", ".config/gh/hosts.yml", ".config/gcloud/credentials.db", ".cargo/credentials.toml",
    ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties", ".local/share/keyrings/login.keyring",
    ".mozilla/firefox/x/logins.json", ".config/chromium/Default/Cookies", ".bash_history", ".python_history",
    ".claude.json", ".codex/auth.json", ".local/share/workbench/key", ".unheard-of/token", "Documents/letter.txt",
    ".config/unheard-of/token", "secrets.txt", ".local/state/x", ".cache/huggingface/token",
)  # fmt: skip


def test_nothing_else_is_shown(home):
    make(home, *PRIVATE)
    assert shown(home) == shown(home / "none")


def is_shown(view, path):
    return any(path == top or path.startswith(f"{top}/") for top in view.visible)


def test_nothing_private_is_shown_next_to_everything_that_is(home):
    make(home, *PRIVATE, *SETTINGS, *(f"{name}/" for name in TOOLCHAINS), "bin/tool", ".local/bin/tool")
    path = os.pathsep.join([f"{home}/bin", f"{home}/.local/bin", str(home), f"{home}/.cargo/bin"])
    view = shown(home, path)
    assert [name for name in PRIVATE if is_shown(view, f"{home}/{name}")] == []
    assert is_shown(view, f"{home}/bin/tool") and is_shown(view, f"{home}/.local/bin/tool")


def test_a_link_is_shown_where_it_is_and_where_it_leads(home, tmp_path):
    make(home, "dotfiles/gitconfig")
    (home / ".gitconfig").symlink_to("dotfiles/gitconfig")
    view = shown(home)
    real = f"{home}/dotfiles/gitconfig"
    assert (view.visible, view.shown_as) == ((real,), ((real, f"{home}/.gitconfig"),))


@pytest.mark.parametrize("target", ["", ".local", ".config", ".."])
def test_a_link_to_too_much_is_not_followed(home, target):
    (home / target).mkdir(exist_ok=True)
    (home / ".pyenv").symlink_to(home / target)
    assert shown(home).visible == ()


# --- folders of PATH


@pytest.mark.parametrize(
    ("path", "passes"),
    [("w", True), ("w/deep/er", True), ("none/x", False), ("out/x", False), ("w/back/x", True), ("in/x", True), ("w/../out", True),
     ("other/in/x", True), ("", False), ("/", False), ("//", False), ("relative/x", False)],
)  # fmt: skip
def test_a_path_that_passes_the_workspace_leads_through_it(tmp_path, path, passes):
    base = tmp_path.resolve()
    make(base, "w/", "out/x", "other/")
    (base / "w/back").symlink_to(base / "out")
    (base / "in").symlink_to(base / "w")
    (base / "other/in").symlink_to(base / "w/back")
    whole = path if not path.strip("/") or path.startswith("relative") else f"{base}/{path}"
    assert leads_through(whole, f"{base}/w") == passes


def test_a_folder_of_path_alone_is_shown(home):
    make(home, "scripts/x", "bin/y")
    assert shown(home, f"{home}/scripts:{home}/bin").visible == (f"{home}/scripts", f"{home}/bin")


def test_an_installation_is_shown_by_its_parts(home):
    make(home, "tool/bin/x", "tool/lib/y", "tool/share/z", "tool/.env", "tool/notes.txt")
    parts = {f"{home}/tool/{name}" for name in ("bin", "lib", "share")}
    assert set(shown(home, f"{home}/tool/bin").visible) == parts


def test_an_installation_with_nothing_else_is_shown_whole(home):
    make(home, "venv/bin/python", "venv/lib/x", "venv/pyvenv.cfg", "venv/.gitignore")
    assert shown(home, f"{home}/venv/bin").visible == (f"{home}/venv",)


def test_a_project_is_no_installation(home):
    make(home, "shop/bin/rails", "shop/lib/x.rb", "shop/.git/HEAD", "shop/.env")
    assert shown(home, f"{home}/shop/bin").visible == (f"{home}/shop/bin",)
    make(home, "plain/bin/x", "plain/secret")
    assert shown(home, f"{home}/plain/bin").visible == (f"{home}/plain/bin",)


def test_the_interpreter_of_an_environment_is_shown(home, tmp_path):
    make(home, "venv/bin/python", "venv/lib/x", "py/bin/python3", "py/lib/x", "py/notes")
    (home / "venv/pyvenv.cfg").write_text(f"home = {home}/py/bin\nversion = 3.11\n")
    assert {f"{home}/venv", f"{home}/py/bin", f"{home}/py/lib"} == set(
        shown(home, f"{home}/venv/bin").visible
    )


@pytest.mark.parametrize("named", ["{home}/bin", "{home}/.local/bin", "/bin"])
def test_the_interpreter_of_an_environment_shows_no_home(home, named):
    make(home, "venv/bin/python", "venv/lib/x", "lib/x", ".local/lib/x")
    (home / "venv/pyvenv.cfg").write_text(f"home = {named.format(home=home)}\n")
    assert shown(home, f"{home}/venv/bin").visible == (f"{home}/.local/lib", f"{home}/venv")


def test_what_the_workspace_says_adds_nothing(home):
    make(home, "shop/.venv/bin/python", "shop/.venv/lib/x", "private/bin/x", "private/lib/x")
    (home / "shop/.venv/pyvenv.cfg").write_text(f"home = {home}/private/bin\n")
    (home / "shop/link").symlink_to(home / "private/bin")
    view = shown(home, f"{home}/shop/.venv/bin:{home}/shop/link", f"{home}/shop")
    assert not is_shown(view, f"{home}/private/lib/x")
    assert f"{home}/shop/.venv/bin" not in view.visible


@pytest.mark.parametrize("folder", ["/usr/bin", "/bin", "/sbin", "relative/bin", "", "/no/such/folder"])
def test_what_is_there_anyway_or_not_at_all(home, folder):
    assert shown(home, folder).visible == ()
