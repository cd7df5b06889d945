"""Where paths lead: inside or not, and what is protected."""

import os
from itertools import permutations

import pytest

from workbench.policy.paths import (
    GOVERNING_NAMES,
    PathRefused,
    read_short_text,
    refuse_protected_path,
    resolve_path,
)


@pytest.fixture
def work(tmp_path):
    root = tmp_path / "work"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("a")
    (tmp_path / "work2").mkdir()
    (tmp_path / "outside").mkdir()
    return root


@pytest.mark.spec(64, 65, 67)
@pytest.mark.parametrize(
    ("given", "relative"),
    [
        ("src/a.py", "src/a.py"),
        ("./src//a.py", "src/a.py"),
        ("src/../src/a.py", "src/a.py"),
        ("new/deep/b.py", "new/deep/b.py"),
        ("src/", "src"),
        (".", "."),
        ("..\\..\\x", "..\\..\\x"),
        ("\\etc\\passwd", "\\etc\\passwd"),
        ("...", "..."),
        ("src/..", "."),
    ],
)
def test_a_path_inside_is_resolved(work, given, relative):
    found = resolve_path(str(work), given)
    assert found.relative == relative
    assert found.path == os.path.normpath(work / relative)
    assert found.exists == (work / relative).exists()


NOT_EXPANDED = [
    ("~", "~ is not expanded"), ("~/x", "~ is not expanded"), ("~root/x", "~ is not expanded"),
    ("$HOME/x", "variables are not expanded"), ("${HOME}/x", "variables are not expanded"),
    ("$OUT", "variables are not expanded"), ("C:", "drive letters are not supported"), ("c:/Users/x", "drive letters are not supported"),
    ("C:\\Users\\x", "drive letters are not supported"), ("file:///etc/passwd", "is a web address"), ("https://a.b/c", "is a web address"),
    ("git+ssh://a/b", "is a web address"), ("a\tb", "control character"), ("src/a\nb", "control character"),
    ("src/\x1b[2J", "control character"), ("a\x7f", "control character"), ("a\x85b/c", "control character"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "hint"), NOT_EXPANDED)
def test_a_path_that_expects_to_be_expanded_is_refused_with_a_hint(work, given, hint):
    with pytest.raises(PathRefused, match=hint):
        resolve_path(str(work), given)


@pytest.mark.parametrize("given", [given for given, _ in NOT_EXPANDED if "://" not in given and given != "~"])
def test_it_is_resolved_where_that_very_file_exists(work, given):
    (work / given).parent.mkdir(parents=True, exist_ok=True)
    (work / given).write_text("here")
    assert resolve_path(str(work), given).relative == given


@pytest.mark.parametrize(
    "given",
    ["./~/x", "src/~x", "src/$id.tsx", "$id.tsx", "$(x)", "ab:c", "a:b", "src/C:/x", "~$lock", "x~"],
)
def test_what_only_looks_alike_is_resolved(work, given):
    assert resolve_path(str(work), given).relative == given.removeprefix("./")


def test_a_path_that_cannot_be_looked_at_is_refused_as_well(work, monkeypatch):
    def fail(path):
        raise OSError

    monkeypatch.setattr("workbench.policy.paths.os.path.lexists", fail)
    with pytest.raises(PathRefused, match="not expanded"):
        resolve_path(str(work), "~/x")


def test_an_absolute_path_inside_is_resolved(work):
    assert resolve_path(str(work), str(work / "src" / "a.py")).relative == "src/a.py"


@pytest.mark.spec(64, 65)
@pytest.mark.parametrize(
    "given",
    [
        "..",
        "../work2",
        "../work2/x",
        "/etc/passwd",
        "/",
        "src/../../work2",
        "",
        "a\0b",
        "x" * 300,
        "a/" * 3000,
        "\ud800",
    ],
)
def test_a_path_that_leads_out_or_is_none_is_refused(work, given):
    with pytest.raises(PathRefused):
        resolve_path(str(work), given)


@pytest.mark.spec(65)
def test_a_sibling_with_the_same_prefix_is_outside(work):
    with pytest.raises(PathRefused, match="outside the workspace"):
        resolve_path(str(work), str(work) + "2/x")


@pytest.mark.spec(66)
@pytest.mark.parametrize(
    ("link", "target", "given"),
    [
        ("out", "../outside", "out"),
        ("out", "../outside", "out/new.txt"),
        ("out", "../outside", "out/a/b/new.txt"),
        ("dangling", "../outside/none", "dangling"),
        ("dangling", "/nowhere/at/all", "dangling"),
        ("up", "src/..", "up/../work2/x"),
        ("src/deep", "../../outside", "src/deep/x"),
        ("src/hop", "../../outside/sub", "src/hop/../x"),
    ],
)
def test_a_link_that_leads_out_is_refused_at_any_place(work, link, target, given):
    (work / link).symlink_to(target)
    with pytest.raises(PathRefused, match="outside"):
        resolve_path(str(work), given)


def test_links_are_followed_before_dots(work):
    (work / "deep").mkdir()
    (work / "deep" / "in").mkdir()
    (work / "jump").symlink_to("deep/in")
    assert resolve_path(str(work), "jump/../x").relative == "deep/x"


def test_a_link_inside_leads_to_its_target(work):
    (work / "l").symlink_to("src/a.py")
    assert resolve_path(str(work), "l").relative == "src/a.py"


def test_links_in_a_circle_are_refused(work):
    (work / "a").symlink_to("b")
    (work / "b").symlink_to("a")
    with pytest.raises(PathRefused, match="circle"):
        resolve_path(str(work), "a/x")


def test_a_workspace_that_is_itself_a_link_works(work, tmp_path):
    (tmp_path / "alias").symlink_to(work)
    assert resolve_path(str(tmp_path / "alias"), "src/a.py").path == str(work / "src/a.py")


def test_a_new_file_behind_a_file_is_left_to_whoever_opens_it(work):
    assert not resolve_path(str(work), "src/a.py/x").exists


PROTECTED = [
    ".git/config",
    ".git",
    "sub/.git/hooks/pre-commit",
    ".GIT/config",
    ".g\u200bit/config",
    ".workbench.json",
    ".Workbench.JSON",
    ".workbench/rules",
    "workbench.yaml",
    "wave.yaml",
    ".wave/personas/x.md",
    ".",
    ".git./config",
    ".git /config",
    "GIT~1/config",
    ".git::$INDEX_ALLOCATION/config",
    ".workbench.json.",
    ".bashrc",
    ".zshenv",
]


@pytest.mark.parametrize("given", PROTECTED)
def test_what_governs_may_be_read_but_not_written(work, given):
    found = resolve_path(str(work), given)
    refuse_protected_path(found, str(work), (), writes=False)
    with pytest.raises(PathRefused, match="may not write"):
        refuse_protected_path(found, str(work), (), writes=True)


@pytest.mark.parametrize(
    "given",
    [
        ".gitignore",
        ".github/x",
        "src/wave.yml",
        "a.git",
        ".workbench.jsonl",
        "home/.bashrc",
        "git~10",
        "x:y",
    ],
)
def test_names_that_only_look_protected_may_be_written(work, given):
    refuse_protected_path(resolve_path(str(work), given), str(work), (), writes=True)


@pytest.mark.parametrize("folder", ["src", "src/deep/er", ".github"])
@pytest.mark.parametrize("name", GOVERNING_NAMES)
def test_a_governing_name_is_closed_in_every_folder(work, folder, name):
    for given in (f"{folder}/{name}", f"{folder}/{name.upper()}", f"{folder}/{name}./x"):
        with pytest.raises(PathRefused, match="controls agents"):
            refuse_protected_path(resolve_path(str(work), given), str(work), (), writes=True)
        refuse_protected_path(resolve_path(str(work), given), str(work), (), writes=False)


def test_a_link_to_what_governs_is_protected_as_well(work):
    (work / ".wave").mkdir()
    (work / "notes").symlink_to(".wave")
    with pytest.raises(PathRefused):
        refuse_protected_path(resolve_path(str(work), "notes/x"), str(work), (), writes=True)


def test_the_data_home_may_not_even_be_read(work):
    home = work / "data"
    for given in ("data", "data/journal.db"):
        with pytest.raises(PathRefused, match="belongs to workbench"):
            refuse_protected_path(resolve_path(str(work), given), str(work), (str(home),), writes=False)
    refuse_protected_path(resolve_path(str(work), "data2"), str(work), (str(home),), writes=False)


@pytest.mark.parametrize("given", [".bashrc", ".ssh/authorized_keys", ".config/fish/config.fish", ".zshrc"])
def test_start_up_files_are_protected_where_the_workspace_is_home(work, given, monkeypatch):
    monkeypatch.setenv("HOME", str(work))
    with pytest.raises(PathRefused, match="shell or login"):
        refuse_protected_path(resolve_path(str(work), given), str(work), (), writes=True)
    refuse_protected_path(resolve_path(str(work), "src/" + given), str(work), (), writes=True)


def test_scripts_that_the_configuration_runs_are_protected(work):
    found = resolve_path(str(work), "src/a.py")
    with pytest.raises(PathRefused, match="is run by the configuration"):
        refuse_protected_path(found, str(work), (), writes=True, governing=(str(work / "src/a.py"),))


def refused(work, given, *closed, writes=True):
    with pytest.raises(PathRefused) as caught:
        refuse_protected_path(resolve_path(str(work), given), str(work), closed, writes=writes)
    return caught.value.why


def test_the_folder_that_a_git_file_names_is_protected(work):
    (work / "store" / "worktrees" / "w").mkdir(parents=True)
    (work / ".git").write_text("gitdir: store/worktrees/w\n")
    (work / "store" / "worktrees" / "w" / "commondir").write_text("../..\n")
    assert "belongs to git" in refused(work, "store/worktrees/w/HEAD")
    assert "belongs to git" in refused(work, "store/hooks/pre-commit")
    refuse_protected_path(resolve_path(str(work), "src/b.py"), str(work), (), writes=True)


def test_the_folder_that_git_is_linked_to_is_protected(work):
    (work / "real").mkdir()
    (work / ".git").symlink_to("real")
    assert "belongs to git" in refused(work, "real/config")


def test_a_repository_without_a_work_tree_is_protected(work):
    for name in ("objects", "refs"):
        (work / "bare" / name).mkdir(parents=True)
    (work / "bare" / "HEAD").write_text("ref: refs/heads/main")
    assert "belongs to git" in refused(work, "bare/config")
    assert "belongs to git" in refused(work, "bare/hooks/post-checkout")
    refuse_protected_path(resolve_path(str(work), "bare2/config"), str(work), (), writes=True)


REPOSITORY = ("HEAD", "objects/a", "refs/heads/.k", "config", "commondir", "gitdir")


def put(work, path):
    (work / path).parent.mkdir(parents=True, exist_ok=True)
    (work / path).write_text("x")


def written(work, paths):
    """Write one file after the other as a file tool does; return those that were refused."""
    kept_out = []
    for path in paths:
        try:
            refuse_protected_path(resolve_path(str(work), path), str(work), (), writes=True)
        except PathRefused as error:
            assert "git repository; an agent may not write it" in str(error) or "belongs to git" in str(error)
            kept_out.append(path)
        else:
            put(work, path)
    return kept_out


@pytest.mark.parametrize("below", ["", "sub/", "a/b/"])
@pytest.mark.parametrize(
    "paths", [*permutations(REPOSITORY[:4]), *permutations(("HEAD", "commondir", "config"))]
)
def test_no_order_of_writes_makes_a_repository(work, below, paths):
    kept_out = written(work, [below + path for path in paths])
    assert kept_out
    standing = {path for path in paths if (work / below / path).exists()}
    assert not (
        "HEAD" in standing and ("commondir" in standing or {"objects/a", "refs/heads/.k"} <= standing)
    )
    assert not {"HEAD", "config"} <= standing


@pytest.mark.parametrize("name", ["HEAD", "head", "Head", "HEAD.", "HEAD ", "HEAD::$DATA", "HE\u200cAD"])
@pytest.mark.parametrize("there", ["objects/a", "refs/b", "config", "commondir", "gitdir"])
def test_no_spelling_of_head_joins_another_part_of_a_repository(work, name, there):
    put(work, f"sub/{there}")
    spelled = there.partition("/")[0]
    assert refused(work, f"sub/{name}").startswith(
        f"with {spelled} beside it makes its folder a git repository"
    )


@pytest.mark.parametrize("name", ["commondir", "COMMONDIR", "gitdir"])
@pytest.mark.parametrize("there", ["objects/a", "refs/b", "config", "HEAD"])
def test_no_file_that_names_a_repository_joins_a_part_of_one(work, name, there):
    put(work, f"sub/{there}")
    assert "makes its folder a git repository" in refused(work, f"sub/{name}")
    put(work, f"other/{name}")
    refuse_protected_path(resolve_path(str(work), f"other/{name}"), str(work), (), writes=True)


@pytest.mark.parametrize("name", ["objects", "objects/aa/b", "refs", "REFS/heads/main", "config", "Config"])
def test_the_rest_of_a_repository_does_not_join_its_head(work, name):
    put(work, "sub/HEAD")
    assert refused(work, f"sub/{name}").startswith("with HEAD beside it makes")


@pytest.mark.parametrize(
    "there, name",
    [
        ("objects/a.py", "config"), ("objects/a.py", "refs/b.py"), ("config/a.py", "objects/b.py"),
        ("config/a.py", "head/index.ts"), ("objects/a.ts", "head/index.ts"), ("head/index.ts", "objects/a.ts"),
        ("head/index.ts", "config"), ("HEAD", "README"), ("HEAD", "config/a"), ("config/a.py", "HEAD"),
        ("objects/a", "HEAD.md"), ("HEAD", "deep/config"),
    ],
)  # fmt: skip
def test_ordinary_folders_of_such_names_are_written(work, there, name):
    put(work, f"sub/{there}")
    refuse_protected_path(resolve_path(str(work), f"sub/{name}"), str(work), (), writes=True)


def test_a_repository_whose_objects_are_elsewhere_is_protected(work):
    for name in ("HEAD", "commondir"):
        put(work, f"linked/{name}")
    assert "belongs to git" in refused(work, "linked/hooks/post-checkout")


@pytest.mark.parametrize("writes", [True, False])
def test_what_is_no_file_is_refused(work, writes):
    os.mkfifo(work / "pipe")
    assert "pipe" in refused(work, "pipe", writes=writes)


def test_a_file_with_several_names_may_be_read_but_not_written(work):
    os.link(work / "src" / "a.py", work / "b.py")
    refuse_protected_path(resolve_path(str(work), "b.py"), str(work), (), writes=False)
    assert "2 names" in refused(work, "b.py")


def test_another_name_of_a_file_of_this_program_is_refused(work, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "key").write_text("k")
    os.link(home / "key", work / "innocent")
    assert "belongs to workbench" in refused(work, "innocent", str(home), writes=False)


def test_a_pipe_that_replaces_a_file_just_before_it_is_read_is_not_read(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("text")
    os.mkfifo(tmp_path / "pipe")
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    os.write(writer, b"x" * 4096)
    looked = (tmp_path / "file").stat()
    monkeypatch.setattr(os, "stat", lambda *_words, **_more: looked)
    assert read_short_text(f"{tmp_path}/pipe", 10) is None
    assert read_short_text(f"{tmp_path}/file", 10) == "text"
    os.close(writer)
