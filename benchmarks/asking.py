"""What `workbench ask` does before a model is asked: `python -m benchmarks.asking` prints it beside its aim.

The context of a folder with 10,000 files, 500 of them in docs/, with a README, a Makefile and scripts of npm:
as much documentation as may be sent at all (aim: 150 ms, processor time).
"""

import statistics
import tempfile
import time
from pathlib import Path

from workbench.ask.context import AskContext, collect_context
from workbench.config.ask_settings import AskSettings

FOLDERS, FILES, DOCUMENTS = 95, 100, 500
AIM_MS = 150


def make_tree(root: Path) -> None:
    """Make 10,000 files and those that are read."""
    for folder in range(FOLDERS):
        (root / f"src{folder}").mkdir()
        for file in range(FILES):
            (root / f"src{folder}" / f"module{file}.py").touch()
    (root / "docs").mkdir()
    for page in range(DOCUMENTS):
        text = f"# Page {page}\n\n## Usage\n\n" + f"Run the program with its option number {page}.\n" * 100
        (root / "docs" / f"page{page}.md").write_text(text)
    (root / "README.md").write_text("# x\n\n## Usage\n\n" + "Use `make all` and look at it.\n" * 1_200)
    (root / "Makefile").write_text("".join(f"target{n}: other ## Does {n}\n" for n in range(1_000)))
    scripts = ", ".join(f'"script{n}": "node run.js {n}"' for n in range(100))
    (root / "package.json").write_text(f'{{"scripts": {{{scripts}}}}}')


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        root, home = Path(made, "tree"), Path(made, "home")
        root.mkdir()
        home.mkdir()
        make_tree(root)
        spent: list[float] = []
        context = AskContext()
        for _ in range(15):
            begun = time.process_time()
            context = collect_context(str(root), AskSettings(), data_folder=home, environ={})
            spent.append((time.process_time() - begun) * 1000)
    print(f"context of 10,000 files, {len(context.documentation):,} characters: first {spent[0]:.0f} ms,")
    print(f"then {statistics.median(spent[1:]):.0f} ms (aim {AIM_MS} ms)")


if __name__ == "__main__":
    main()
