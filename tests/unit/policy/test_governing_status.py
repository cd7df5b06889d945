"""The status of the governing files is another one whenever one of them may be."""

import os

import pytest

from workbench.policy.trust import TrustRefused, governing_status


def touch(path):
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))


CHANGES = {
    "content": lambda top: (top / ".agents/a").write_text("longer"),
    "time": lambda top: touch(top / ".agents/a"),
    "a new file": lambda top: (top / ".agents/b").touch(),
    "a file less": lambda top: (top / ".agents/a").unlink(),
    "a link's file": lambda top: touch(top / "target"),
    "a link that leads nowhere": lambda top: (top / "target").unlink(),
    "a file that a hook names": lambda top: touch(top / "check.sh"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_shows_in_the_status(tmp_path, name):
    (tmp_path / ".agents").mkdir()
    (tmp_path / ".agents/a").write_text("1")
    (tmp_path / "target").write_text("2")
    (tmp_path / ".agents/link").symlink_to("../target")
    (tmp_path / "check.sh").touch()
    hook = '{"hooks": {"PreToolUse": [{"matcher": "*", "command": "sh check.sh"}]}}'
    (tmp_path / ".workbench.json").write_text(hook)
    before = governing_status(str(tmp_path))
    assert governing_status(str(tmp_path)) == before
    CHANGES[name](tmp_path)
    assert governing_status(str(tmp_path)) != before


def test_what_cannot_be_judged_has_no_status(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.policy.trust.MAX_GOVERNING_FILES", 1)
    (tmp_path / ".agents").mkdir()
    for name in "ab":
        (tmp_path / ".agents" / name).touch()
    with pytest.raises(TrustRefused, match="more than 1 files"):
        governing_status(str(tmp_path))
