"""Runs the spellings of denials with their real programs in a scratch folder, and reports what they did."""

import os
import shlex
import shutil
import stat
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

OBSERVED = {
    "git push": {"force", "delete", "noverify"}, "git commit": {"amend", "noverify"}, "git reset": {"hard"},
    "git clean": {"force", "dirs", "ignored"}, "git branch": {"delete", "force"}, "git checkout": {"force"},
    "git add": {"all"}, "git stash": {"untracked"}, "git tag": {"delete"}, "git rebase": {"interactive"},
    "git worktree": {"force"}, "rm": {"recursive", "force", "build"}, "chmod": {"recursive", "all"},
    "kill": {"kill"}, "sed": {"inplace"}, "find": {"delete"}, "tar": {"extract"}, "cp": {"recursive"},
    "mv": {"force"}, "curl": {"post", "delete"}, "make": {"deploy"},
}  # fmt: skip
"""By section the facts that can be seen from outside."""
_SCRIPT = "#!/bin/sh\ntouch '{}'\n"


def environment(home):
    """Return an environment in which git has no settings of the person who runs the tests."""
    marker = home / "edited"
    editor = home / "editor"
    if not editor.exists():
        editor.write_text(_SCRIPT.format(marker))
        editor.chmod(0o755)
    return {
        "PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true", "LC_ALL": "C",
        "GIT_SEQUENCE_EDITOR": str(editor), "GIT_TERMINAL_PROMPT": "0", "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@b.example", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b.example",
        "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
    }  # fmt: skip


class Oracle:
    """A template folder; each command runs in a copy."""

    def __init__(self, base):
        self.base = base
        self.home = base / "home"
        self.home.mkdir()
        self.env = environment(self.home)
        self.methods = []
        self._count = 0
        self._make_repository()
        self.env["GIT_COMMITTER_DATE"] = "2026-02-02T00:00:00Z"

    def run(self, words, folder):
        return subprocess.run(
            words, cwd=folder, env=self.env, capture_output=True, text=True, timeout=600, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def git(self, folder, *words):
        done = self.run(["git", *words], folder)
        return done.stdout.strip()

    def facts(self, section, command):
        """Return the facts that a command made true."""
        self._count += 1
        words = shlex.split(command)
        if section.startswith("git "):
            return self._git_facts(section, words)
        folder = self.base / f"files{self._count}"
        folder.mkdir()
        _make_files(folder)
        try:
            return set(getattr(self, f"_{section}_facts")(words, folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    # --- git -----------------------------------------------------------------------------------------

    def _make_repository(self):
        top = self.base / "template"
        work, remote = top / "work", top / "remote.git"
        work.mkdir(parents=True)
        self.git(top, "init", "-q", "--bare", "-b", "main", str(remote))
        self.git(remote, "config", "receive.advertisePushOptions", "true")
        self.git(work, "init", "-q", "-b", "main")
        for name in ("tracked.txt", "removed.txt"):
            (work / name).write_text("1\n")
        (work / ".gitignore").write_text("*.log\n")
        self._commit(work, "one")
        self.git(work, "branch", "merged")
        self.git(work, "tag", "old")
        for branch in ("gone", "dev", "other"):
            self.git(work, "checkout", "-q", "-b", branch, "main")
            (work / "tracked.txt").write_text(f"{branch}\n")
            self._commit(work, branch)
        self.git(work, "checkout", "-q", "main")
        self._commit(work, "two")
        self._commit(work, "three")
        self.git(work, "remote", "add", "origin", "../remote.git")
        self.git(work, "push", "-q", "origin", "--all")
        self.git(work, "push", "-q", "origin", "main:remoteonly")
        for branch in ("dev", "main"):
            self.git(work, "checkout", "-q", branch)
            (work / f"{branch}.txt").write_text("again\n")
            self.git(work, "add", f"{branch}.txt")
            self.git(work, "commit", "-q", "--amend", "-m", f"{branch} again")
        self.git(work, "worktree", "add", "-q", "../tree", "other")
        self.template = top

    def _commit(self, work, message):
        self.git(work, "add", "-A")
        self.git(work, "commit", "-q", "--allow-empty", "-m", message)

    def _git_facts(self, section, words):
        top = self.base / f"git{self._count}"
        shutil.copytree(self.template, top)
        work = top / "work"
        self.git(work, "worktree", "repair", "../tree")
        if section != "git rebase":
            _make_dirty(work)
        (top / "tree" / "tracked.txt").write_text("dirty\n")
        for hook in ("pre-push", "pre-commit"):
            place = work / ".git" / "hooks" / hook
            place.parent.mkdir(exist_ok=True)
            place.write_text(_SCRIPT.format(top / hook))
            place.chmod(0o755)
        (self.home / "edited").unlink(missing_ok=True)
        before = self._state(top)
        said = self.run(words, work).stderr
        after = {**self._state(top), "said": said}
        found = set(getattr(self, f"_{section.replace(' ', '_')}_facts")(top, before, after))
        shutil.rmtree(top, ignore_errors=True)
        return found

    def _state(self, top):
        work = top / "work"
        shown = ("for-each-ref", "--format=%(refname) %(objectname)")
        return {
            "remote": dict(line.split() for line in self.git(top / "remote.git", *shown).splitlines()),
            "local": dict(line.split() for line in self.git(work, *shown).splitlines()),
            "head": self.git(work, "rev-parse", "HEAD"),
            "branch": self.git(work, "symbolic-ref", "-q", "HEAD"),
            "count": self.git(work, "rev-list", "--count", "HEAD"),
            "staged": set(self.git(work, "diff", "--cached", "--name-only").splitlines()),
            "files": {str(path.relative_to(work)) for path in work.rglob("*") if ".git" not in path.parts},
            "tracked": (work / "tracked.txt").read_text() if (work / "tracked.txt").exists() else "",
            "tree": (top / "tree").exists(),
        }

    def _git_push_facts(self, top, before, after):
        for name, old in before["remote"].items():
            new = after["remote"].get(name)
            if new is None:
                yield "delete"
            elif new != old and self._is_rewritten(top, old, new):
                yield "force"
        is_judged = before["remote"] != after["remote"] or "[rejected]" in after["said"]
        if is_judged and not (top / "pre-push").exists():
            yield "noverify"

    def _is_rewritten(self, top, old, new):
        return self.run(["git", "merge-base", "--is-ancestor", old, new], top / "remote.git").returncode != 0

    def _git_commit_facts(self, top, before, after):
        if before["head"] != after["head"]:
            if before["count"] == after["count"]:
                yield "amend"
            if not (top / "pre-commit").exists():
                yield "noverify"

    def _git_reset_facts(self, top, before, after):
        if after["tracked"] != before["tracked"]:
            yield "hard"

    def _git_clean_facts(self, top, before, after):
        lost = before["files"] - after["files"]
        if lost:
            yield "force"
        if lost & {"junk/x", "tree/x"}:
            yield "dirs"
        if "x.log" in lost:
            yield "ignored"

    def _git_branch_facts(self, top, before, after):
        lost = before["local"].keys() - after["local"].keys()
        is_renamed = any(name not in before["local"] for name in after["local"])
        if lost and not is_renamed:
            yield "delete"
        if ("refs/heads/gone" in lost and not is_renamed) or any(
            after["local"].get(name, old) != old for name, old in before["local"].items()
        ):
            yield "force"

    def _git_checkout_facts(self, top, before, after):
        if after["branch"] == "refs/heads/dev" and after["tracked"] == "dev\n":
            yield "force"

    def _git_add_facts(self, top, before, after):
        if {"untracked.txt", "removed.txt"} <= after["staged"]:
            yield "all"

    def _git_stash_facts(self, top, before, after):
        if "untracked.txt" not in after["files"]:
            yield "untracked"

    def _git_tag_facts(self, top, before, after):
        if "refs/tags/old" not in after["local"]:
            yield "delete"

    def _git_rebase_facts(self, top, before, after):
        if (self.home / "edited").exists():
            yield "interactive"

    def _git_worktree_facts(self, top, before, after):
        if not after["tree"]:
            yield "force"

    # --- files ---------------------------------------------------------------------------------------

    def _rm_facts(self, words, folder):
        done = self.run([*words, "missing"], folder)
        if not (folder / "build").exists() or not (folder / "other").exists():
            yield "recursive"
        if not (folder / "build").exists():
            yield "build"
        if done.returncode == 0:
            yield "force"

    def _chmod_facts(self, words, folder):
        self.run(words, folder)
        modes = {
            name: stat.S_IMODE((folder / name).stat().st_mode) for name in ("a.txt", "tree", "tree/in.txt")
        }
        if modes["tree/in.txt"] != 0o444:
            yield "recursive"
        if 0o777 in (modes["a.txt"], modes["tree"]):
            yield "all"

    def _kill_facts(self, words, folder):
        with subprocess.Popen(["sleep", "60"]) as process:
            line = " ".join(words).replace("PID", str(process.pid))
            self.run(["bash", "-c", line], folder)  # its own `kill`
            process.terminate()
            if process.wait() == -9:
                yield "kill"

    def _sed_facts(self, words, folder):
        before = (folder / "a.txt").stat().st_ino
        self.run(words, folder)
        if (folder / "a.txt").stat().st_ino != before:
            yield "inplace"

    def _find_facts(self, words, folder):
        self.run(words, folder)
        if not (folder / "a.txt").exists() or not (folder / "tree" / "in.txt").exists():
            yield "delete"

    def _tar_facts(self, words, folder):
        self.run(words, folder)
        if (folder / "inside.txt").exists() or (folder / "tree" / "inside.txt").exists():
            yield "extract"

    def _cp_facts(self, words, folder):
        self.run(words, folder)
        if (folder / "new" / "in.txt").exists():
            yield "recursive"

    def _mv_facts(self, words, folder):
        (folder / "new").write_text("old")
        self.run([words[0], "-i", *words[1:]], folder)  # a later -f takes -i back
        if (folder / "new").read_text() != "old":
            yield "force"

    def _curl_facts(self, words, folder):
        seen = []
        server = _MethodServer(seen)
        try:
            self.run([word.replace("URL", server.url) for word in words], folder)
        finally:
            server.stop()
        yield from ({"POST": "post", "DELETE": "delete"}[name] for name in seen if name in ("POST", "DELETE"))

    def _make_facts(self, words, folder):
        self.run(words, folder)
        if list(folder.rglob("deployed")):
            yield "deploy"


class _MethodServer:
    """A server on this machine that notes the methods of requests."""

    def __init__(self, seen):
        class Handler(BaseHTTPRequestHandler):
            def handle_one_request(self):
                line = self.rfile.readline(4096).split()
                seen.extend([line[0].decode()] if line else [])
                self.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n")
                self.close_connection = True

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/"

    def stop(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _make_dirty(work):
    (work / "tracked.txt").write_text("changed\n")
    (work / "removed.txt").unlink()
    for name in ("untracked.txt", "x.log", "junk/x", "tree/x"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text("x")


def _make_files(folder: Path):
    (folder / "a.txt").write_text("a\n")
    for name in ("build", "other", "tree", "sub", "deploy"):
        (folder / name).mkdir()
        (folder / name / "in.txt").write_text("x")
    (folder / "inside.txt").write_text("x")
    subprocess.run(["tar", "-cf", "old.tar", "inside.txt"], cwd=folder, check=True)
    (folder / "inside.txt").unlink()
    (folder / "tree" / "in.txt").chmod(0o444)
    rules = ".PHONY: deploy build\ndeploy:\n\ttouch deployed\nbuild:\n\ttrue\n"
    for name in ("Makefile", "sub/Makefile", "deploy/Makefile"):
        (folder / name).write_text(rules)
