"""Files that are looked at: what changed is told once it is quiet, and in the end also when it is not."""

from workbench.host.file_poller import file_states, poll_changes


class Steps:
    """An event whose waits take no time: each does the next of some things, and after the last it is set."""

    def __init__(self, *steps):
        self.steps = list(steps)

    def wait(self, seconds):
        del seconds
        if not self.steps:
            return True
        self.steps.pop(0)()
        return False


def nothing():
    pass


def told(path, *steps):
    files = [str(path), str(path.parent / "gone")]
    found = list(poll_changes(lambda: file_states(files), file_states(files), Steps(*steps)))
    return [sorted(name.rpartition("/")[2] for name in group) for group in found]


def test_what_is_made_written_replaced_or_removed_is_told_once_it_is_quiet(tmp_path):
    path = tmp_path / "a"

    def replaced():
        (tmp_path / "b").write_text("456")
        (tmp_path / "b").replace(path)

    steps = [
        lambda: path.write_text("123"),
        nothing,
        nothing,
        replaced,
        nothing,
        path.unlink,
        nothing,
        nothing,
    ]
    assert told(path, *steps) == [["a"]] * 3


def test_what_never_rests_is_told_anyway_and_other_files_are_not(tmp_path):
    path = tmp_path / "a"
    growing = [lambda size=size: path.write_text("x" * size) for size in range(1, 7)]
    assert told(path, *growing, nothing) == [["a"]]
    assert told(path, lambda: (tmp_path / "other").write_text("x"), nothing) == []


def test_what_is_half_told_when_it_is_over_is_not_told(tmp_path):
    path = tmp_path / "a"
    assert told(path, lambda: path.write_text("1")) == []
