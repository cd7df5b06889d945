import pytest

from tests.support.stage import Stage


@pytest.fixture
def staged(tmp_path):
    made = []

    def make(script, **more):
        made.append(Stage(tmp_path / f"stage{len(made)}", script, **more))
        return made[-1]

    yield make
    for stage in made:
        stage.close()
