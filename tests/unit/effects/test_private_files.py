"""Private files in folders of tools are hidden, and nothing that a tool needs."""

import pytest

from workbench.effects import private_files as module
from workbench.effects.home_view import home_view
from workbench.effects.private_files import holds_secret, private_files

KEY = "AKIA" + "Q7RZ2KXW4MNB5TPL"
"""Looks like a key of a service."""


@pytest.fixture
def home(tmp_path):
    return tmp_path.resolve()


def make(folder, name, mode=0o644, text="x\n"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return str(path)


PRIVATE = (
    (".dotnet/corefx/cryptography/x509stores/my/ABCD.pfx", 0o644), (".opam/plugins/opam-publish/me%repo.token", 0o644),
    (".pyenv/.pypirc", 0o644), (".nvm/.netrc", 0o644), (".sdkman/etc/id_ed25519", 0o644), (".rbenv/credentials", 0o644),
    (".rustup/credentials.toml", 0o644), (".dotnet/session", 0o600), (".ghcup/bin/notes", 0o640), (".volta/state", 0o400),
)  # fmt: skip
NEEDED = (
    (".rustup/settings.toml", 0o644), (".rustup/toolchains/stable/bin/rustc", 0o700), (".rustup/update-hashes/stable", 0o644),
    (".rustup/toolchains/stable/lib/rustlib/components", 0o600), (".rustup/toolchains/stable/lib/libstd.rlib", 0o600),
    (".pyenv/versions/3.11/lib/python3.11/os.py", 0o600), (".pyenv/versions/3.11/bin/python", 0o700), (".pyenv/shims/python", 0o755),
    (".pyenv/version", 0o644), (".pyenv/libexec/pyenv", 0o700), (".pyenv/plugins/virtualenv/bin/tool", 0o700),
    (".nvm/nvm.sh", 0o644), (".nvm/alias/default", 0o644), (".nvm/versions/node/v20/lib/node_modules/npm/npmrc", 0o600),
    (".cargo/bin/cargo", 0o700), (".cargo/registry/src/x/credentials.json", 0o600), (".cargo/registry/src/x/key.pfx", 0o600),
    ("go/pkg/mod/x/go.mod", 0o400), (".m2/repository/x/x.jar", 0o600), (".local/lib/python3/site-packages/x.py", 0o600),
    (".local/bin/mine", 0o700), (".local/share/uv/tools/x/lib/python3/site-packages/x.py", 0o600), (".opam/config", 0o644),
    ("miniconda3/pkgs/cache/1.json", 0o600), ("miniconda3/lib/x.so", 0o600), (".npmrc", 0o600), (".gitconfig", 0o600),
)  # fmt: skip


def hidden(home, *files):
    paths = {name: make(home, name, mode) for name, mode in files}
    view = home_view(str(home), "", "/w")
    return {name for name, path in paths.items() if path in view.private}


def test_what_looks_private_is_hidden_and_nothing_that_a_tool_needs(home):
    assert hidden(home, *PRIVATE, *NEEDED) == {name for name, _ in PRIVATE}


def test_where_nobody_else_reads_anything_only_names_count(home):
    """A user whose files are all private."""
    paths = [make(home, name, mode & 0o700) for name, mode in (*PRIVATE, *NEEDED)]
    for folder in {
        top for name, _ in (*PRIVATE, *NEEDED) for top in (home / name).parents if home in top.parents
    }:
        folder.chmod(0o700)
    named = {f"{home}/{name}" for name, mode in PRIVATE if mode == 0o644}
    assert set(home_view(str(home), "", "/w").private) == named
    assert len(paths) > len(named)


def test_where_many_files_are_private_only_names_count(home):
    files = [(f".asdf/{number}", 0o600) for number in range(module.MOST_FILES + 1)]
    assert hidden(home, *files, (".asdf/x.pfx", 0o600)) == {".asdf/x.pfx"}


@pytest.mark.parametrize(
    "name", [".npmrc", ".condarc", "etc/npmrc", ".git/config", "nuget.config", ".env", "config.json"]
)
def test_settings_are_hidden_only_with_a_secret(home, name):
    path = make(home, name)
    assert private_files(str(home)) == ()
    make(home, name, text=f"token = {KEY}\n")
    module._found.cache_clear()
    assert private_files(str(home)) == (path,)


def test_what_cannot_be_looked_at_is_no_answer(home):
    assert holds_secret(make(home, "x", text="x" * 70_000)) is None
    assert holds_secret(f"{home}/none") is None
    assert holds_secret(make(home, "y")) is False
    assert private_files(f"{home}/none") == private_files(f"{home}/x") == ()


def test_the_search_has_limits(home, monkeypatch):
    monkeypatch.setattr(module, "_MOST_FOLDERS", 3)
    monkeypatch.setattr(module, "MOST_FILES", 2)
    for number in range(9):
        make(home, f"{number}/x.pfx")
    make(home, "a/b/c/x.pfx")
    make(home, "x.pfx")
    assert len(private_files(str(home))) == 2
    assert f"{home}/x.pfx" in private_files(str(home)), "the top first"


def test_links_are_not_followed(home):
    make(home, "elsewhere/x.pfx")
    (home / "tool").mkdir()
    (home / "tool/link.pfx").symlink_to(home / "elsewhere/x.pfx")
    (home / "tool/folder").symlink_to(home / "elsewhere")
    assert private_files(f"{home}/tool") == ()
