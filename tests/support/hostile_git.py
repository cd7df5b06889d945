"""A repository whose configuration names a program wherever git takes one, and what of them ran."""

import subprocess
from pathlib import Path


def plain(folder, *words):
    return subprocess.run(
        ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *words],
        cwd=folder, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip


class Hostile:
    """A repository with a program in every place that names one; `ran` are those that were started."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._marks = folder, folder.parent / "marks"
        self._marks.mkdir()
        folder.mkdir()
        (folder / ".gitattributes").write_text("* filter=evil diff=evil\n*.late filter=late\n")
        for name in ("a.txt", "b.late", "sub/c.txt"):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(f"{name} as it is stored\n")
        plain(folder, "init", "-q", "-b", "main")
        plain(folder, "add", "-A")
        plain(folder, "commit", "-qm", "first")
        self._configure()

    def program(self, name: str, then: str = "cat") -> str:
        path = self.folder.parent / f"{name}.sh"
        path.write_text(f"#!/bin/sh\n: > {self._marks}/{name}\n{then}\n")
        path.chmod(0o755)
        return str(path)

    @property
    def ran(self) -> list[str]:
        return sorted(path.name for path in self._marks.iterdir())

    def _configure(self) -> None:
        hooks = self.folder.parent / "hooks"
        hooks.mkdir()
        for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"):
            (hooks / name).symlink_to(self.program(f"hook-{name}", "exit 0"))
        (self.folder / "git").symlink_to(self.program("git-of-the-folder", "exit 0"))
        late = self.folder / ".git/late"
        smudge, clean = self.program("late-smudge"), self.program("late-clean")
        late.write_text(f'[filter "late"]\n\tsmudge = {smudge}\n\tclean = {clean}\n\trequired = true\n')
        evil = self.program("filter")
        settings = {
            "core.fsmonitor": self.program("fsmonitor", "exit 1"), "core.hooksPath": str(hooks),
            "filter.evil.smudge": evil, "filter.evil.clean": evil, "filter.evil.process": self.program("process"),
            "filter.evil.required": "true", "diff.external": self.program("external", "exit 0"),
            "diff.evil.textconv": self.program("textconv"), "diff.evil.command": self.program("command", "exit 0"),
            "core.pager": self.program("pager"), "pager.ls-files": "true", "pager.branch": "true",
            "core.sshCommand": self.program("ssh"), "core.askPass": self.program("askpass"),
            "core.alternateRefsCommand": self.program("alternates"), "gpg.program": self.program("gpg"),
            "commit.gpgSign": "true", "credential.helper": self.program("credential"),
            "alias.ls-files": f"!{self.program('alias')}", "protocol.ext.allow": "always",
            "hook.evil.command": self.program("hook"), "hook.evil.event": "post-checkout",
            "includeIf.gitdir:**/worktrees/**.path": "late", "submodule.recurse": "true",
            "core.editor": self.program("editor"), "remote.origin.url": f"ext::{self.program('ext')}",
        }  # fmt: skip
        for name, value in settings.items():
            plain(self.folder, "config", name, value)
