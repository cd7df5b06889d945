import pytest

from tests.support.runs import Runs


@pytest.fixture
def runs(tmp_path):
    made = []

    def make(**more):
        made.append(Runs(tmp_path / f"r{len(made)}", **more))
        return made[-1]

    (tmp_path / "r0").mkdir()
    (tmp_path / "r1").mkdir()
    yield make
    for one in made:
        one.close()
