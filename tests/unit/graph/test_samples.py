"""The drawings look as they did: `python -m tests.unit.graph.gallery` writes them anew to be looked at."""

from tests.support.tables import each_row
from tests.unit.graph.gallery import FOLDER, SPECIAL, drawing
from tests.unit.graph.shapes import REAL


@each_row("name", [*REAL, *SPECIAL])
def test_samples(name):
    assert drawing(name) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_no_sample_is_left_over():
    assert {path.stem for path in FOLDER.iterdir()} == {*REAL, *SPECIAL}
