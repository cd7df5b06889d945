import stat

from workbench.backend.screen_files import LARGEST_DRAFT, Draft
from workbench.journal.home import Home


def test_a_draft_is_there_until_the_one_who_took_it_leaves_without_words(tmp_path):
    home = Home.open(tmp_path / "home")
    first, second = Draft(home, "/w"), Draft(home, "/w")
    assert (first.read(), Draft(home, "/other").read()) == ("", "")
    first.keep("half a\nthought \x1b[31m")
    (path,) = (home.path / "drafts").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    second.keep("")
    assert path.exists()
    assert second.read() == "half a\nthought ⟨ESC[31m⟩" and Draft(home, "/other").read() == ""
    second.keep(" \n")
    assert not path.exists()
    second.keep("x" * (LARGEST_DRAFT + 1))
    assert Draft(home, "/w").read() == ""
