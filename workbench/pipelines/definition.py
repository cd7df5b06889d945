"""What a run was started with, as bytes: documents, prompts, schemas, input; and back.

Owns that a run under way never reads its files again. Sealed, because prompts and input are exact.
"""

import json
from dataclasses import asdict, dataclass, field
from typing import cast

from workbench.pipelines.files import FrozenFiles
from workbench.pipelines.load import LoadedPipeline, from_texts
from workbench.pipelines.model import Manifest, Pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """Everything that a run is made of."""

    pipeline_text: str
    manifest_text: str | None
    pipeline_file: str
    manifest_file: str
    root: str
    """Real path of the project."""
    input: str = ""
    branch: str = ""
    """Of the project's repository when the run was started; empty without one."""
    started_at: str = ""
    grants: tuple[str, ...] = ()
    recordings: str = ""
    depth: int = 0
    forge: dict[str, str] = field(default_factory=dict[str, str])
    """What is known of the project's code host by the address of its repository (`forges`)."""
    texts: dict[str, str] = field(default_factory=dict[str, str])

    def to_bytes(self) -> bytes:
        """Return it as it is sealed."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass")

    @classmethod
    def from_bytes(cls, data: bytes) -> "Definition":
        """Read what `to_bytes` wrote."""
        found = cast("dict[str, object]", json.loads(data))
        found["grants"] = tuple(cast("list[str]", found["grants"]))
        return cls(**found)  # type: ignore[arg-type]

    def files(self) -> FrozenFiles:
        """Return the files that it names."""
        return FrozenFiles(self.texts)

    def read(self) -> tuple[Pipeline, Manifest | None]:
        """Return pipeline and manifest.

        Raises:
            ValueError: they cannot be read any more, which a version that reads more strictly may find.
        """
        names = (self.pipeline_file, self.manifest_file)
        pipeline, manifest, report = from_texts(self.pipeline_text, self.manifest_text, self.files(), names)
        if pipeline is None:
            raise ValueError("; ".join(str(problem) for problem in report.errors))
        return pipeline, manifest


def define(loaded: LoadedPipeline, **facts: object) -> Definition:
    """Return the definition of a run of a pipeline that was loaded."""
    return Definition(
        pipeline_text=loaded.sources.get(loaded.file, ""),
        manifest_text=loaded.sources.get(loaded.manifest_file or ""),
        pipeline_file=loaded.file, manifest_file=loaded.manifest_file or "", root=loaded.root,
        texts=loaded.texts, **facts,  # type: ignore[arg-type]
    )  # fmt: skip
