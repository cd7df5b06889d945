"""Programs and folders of PATH that commands of agents can change: each line of the search changes a row."""

import os
import sys
import types
from pathlib import Path

import pytest

from workbench.effects import search_path

# A word, PATH, the folder it runs in; then the file in the workspace that it runs. Paths are below one folder.
PROGRAMS = (
    ("tool", "work/bin", "work", "bin/tool"),
    ("tool", "far", "work", ""),
    ("tool", "far:work/bin", "work", ""),
    ("tool", "nothing:work/bin", "work", "bin/tool"),
    ("gone", "work/bin", "work", ""),
    ("", "work/bin", "work", ""),
    ("work/bin/tool", "", "", ""),
    ("made", "far/folders:work/bin", "work", "bin/made"),  # a folder of that name is no program
    ("made", "far/notes:work/bin", "work", "bin/made"),  # nor is a file that cannot be run
    ("tool", "work/linked", "work", "linked/tool"),  # a link in the workspace that leads elsewhere
    ("inner", "far", "work", "bin/tool"),  # a link elsewhere that leads into the workspace
    ("tool", "work2", "work", ""),
    ("own", "work", "work", "own"),
)
# PATH, and what is left of it.
PATHS = (
    ("far:work/bin:far/folders", "far:far/folders"),
    ("work", ""),
    ("work2", "work2"),
    ("far:work/linked/deep", "far"),
    ("intowork", ""),
    ("relative", ""),
    ("far/../work/bin", ""),
    ("looped:far", "far"),
)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A workspace, `work`, and other folders; links lead from each to the other."""
    folder = tmp_path_factory.mktemp("base").resolve()
    for name in ("work/bin", "work2", "far/folders/made", "far/notes", "far/deep"):
        (folder / name).mkdir(parents=True)
    for name in ("work/bin/tool", "work/bin/made", "work/own", "work2/tool", "far/tool"):
        (folder / name).touch(0o755)
    (folder / "far/notes/made").touch(0o644)
    (folder / "work/linked").symlink_to(folder / "far")
    (folder / "far/inner").symlink_to(folder / "work/bin/tool")
    (folder / "intowork").symlink_to(folder / "work/bin")
    (folder / "relative").symlink_to("work/bin")
    (folder / "looped").symlink_to("looped")
    return folder


def absolute(base, path):
    return os.pathsep.join(str(base / name) for name in path.split(":") if name)


def differing_rows(module, base):
    """Yield the rows that come to something else than the tables say."""
    workspace = str(base / "work")
    for word, path, folder, expected in PROGRAMS:
        at = str(base / folder)
        if module.program_in_workspace(word, absolute(base, path), at, workspace) != expected:
            yield word, path
    for path, left in PATHS:
        kept = module.search_path_outside(f"bin:{absolute(base, path)}:.", [str(base / "other"), workspace])
        if kept != absolute(base, left):
            yield path


def test_programs_and_folders_are_where_the_tables_say(base):
    assert list(differing_rows(search_path, base)) == []


MUTATIONS = (
    ("if _is_below(here, workspace) or links", "if links"),
    (" or links > _MOST_LINKS:\n            return", ":\n            return"),
    ("        links += is_link\n", ""),
    ("            return True\n", "            return False\n"),
    ("    return False\n", "    return True\n"),
    ("passed = os.path.dirname(passed)", "pass"),
    ('"/" if target.startswith("/") else passed', "passed"),
    ('"/" if target.startswith("/") else passed', '"/"'),
    ('due += [] if target is None else target.split("/")[::-1]', "pass"),
    (' if folder.startswith("/")]', "]"),
    (" if not leads_through(folder, workspace)]", "]"),
    (" if not leads_through(folder, workspace)]", " if not _is_below(folder, workspace)]"),
    ("for folder in kept if", "for folder in path.split(os.pathsep) if"),
    (' or "/" in name or', " or"),
    ("if not name or", "if"),
    (' or "\\0" in name:', ":"),
    ("os.path.isfile(file) and ", ""),
    (" and os.access(file, os.X_OK)", ""),
    ("if not found or not leads_through(found, workspace):", "if not leads_through(found, workspace):"),
    ("if not found or not leads_through(found, workspace):", "if not found:"),
    ("not leads_through(found, workspace):", "not _is_below(os.path.realpath(found), workspace):"),
    ("real if _is_below(real, workspace) else found", "real"),
    ("real if _is_below(real, workspace) else found", "found"),
    ("return path == folder or path", "return path"),
    ('folder.rstrip("/") + "/"', 'folder.rstrip("/")'),
)
EQUIVALENT = {
    "if not name or": "an empty word names a folder, which is no file",
    ' or "\\0" in name:': "no file has such a name",
    "if not found or not leads_through(found, workspace):": "an empty path leads nowhere",
}


@pytest.mark.parametrize(("old", "new"), MUTATIONS)
def test_each_change_of_a_line_changes_a_row(base, monkeypatch, old, new):
    monkeypatch.chdir(base)
    source = Path(search_path.__file__).read_text(encoding="utf-8")
    assert source.count(old) == 1
    changed = types.ModuleType("changed_search_path")
    exec(compile(source.replace(old, new), "search_path.py", "exec"), vars(changed))
    is_equivalent = old in EQUIVALENT and new != "if not found:"
    assert any(differing_rows(changed, base)) != is_equivalent


def test_modules_are_imported_from_no_workspace_but_from_our_closed_environment(tmp_path, monkeypatch):
    work = tmp_path.resolve() / "work"
    (tmp_path / "far").symlink_to(work / "src")
    site, package = f"{work}/.venv/lib/python3/site-packages", search_path._PACKAGE
    path = [f"{work}/src", "", str(tmp_path / "far"), str(work), package, site, "/usr/lib/python3"]
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setattr(sys, "prefix", f"{work}/.venv")
    assert search_path.import_path_outside(path, str(work)) == [package, site, "/usr/lib/python3"]
    monkeypatch.setattr(search_path, "_PACKAGE", f"{work}/src")
    assert search_path.import_path_outside(path, str(work))[-2:] == ["/usr/lib/python3", f"{work}/src"]


def test_the_noted_workspace_leaves_the_import_path(tmp_path, monkeypatch):
    monkeypatch.setattr(search_path, "_NOTED", set())
    monkeypatch.setattr(sys, "path", [str(tmp_path / "src"), *sys.path])
    search_path.note_workspace(str(tmp_path))
    assert str(tmp_path / "src") not in sys.path
