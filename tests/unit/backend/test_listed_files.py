"""Files that `@` offers: all of the workspace, also of a large one."""

import subprocess
from types import SimpleNamespace

from workbench.backend.local_backend import LocalBackend
from workbench.tui.backend import MAX_LISTED_FILES
from workbench.tui.conversation.completion import best_file_matches

COUNT = 100_000


def backend(folder):
    return LocalBackend(SimpleNamespace(path=folder), None, str(folder))


def test_a_hundred_thousand_files_are_all_offered(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    blob = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=tmp_path, input=b"", check=True, capture_output=True
    ).stdout.decode().strip()  # fmt: skip
    index = "".join(f"100644 {blob}\tpkg{n // 250}/src/mod_{n}.py\n" for n in range(COUNT))
    subprocess.run(
        ["git", "update-index", "--add", "--index-info"], cwd=tmp_path, input=index.encode(), check=True
    )
    files = tuple(backend(tmp_path).list_files())
    assert len(files) == COUNT < MAX_LISTED_FILES
    last = f"pkg399/src/mod_{COUNT - 1}.py"
    assert best_file_matches(files, f"pkg399/src/mod_{COUNT - 1}") == [last]
    assert best_file_matches(files, "mod_99999") == [last]


def test_without_git_no_file_of_a_large_folder_is_left_out(tmp_path):
    for folder in range(30):
        (tmp_path / f"d{folder}").mkdir()
        for n in range(20):
            (tmp_path / f"d{folder}" / f"{n}.txt").touch()
    assert len(backend(tmp_path).list_files()) == 600
