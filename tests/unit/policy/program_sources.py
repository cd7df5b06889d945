"""Where each program of the table comes from, what it may start and write, and the folder in which it is tried.

A program that cannot be had here has the page of its documentation in place of a package: its row keeps the options
that the page describes as read-only, and `--` is not known there.
"""

from msgspec import Struct


class Source(Struct, frozen=True, kw_only=True):
    """Origin of a program and the bounds of what it does."""

    origin: str
    """`debian`, `pypi`, `npm`, `rust`, `maker` (a binary from its maker), `shell` (a builtin) or `not run`."""
    package: str
    """The package; the page of documentation of a program that is not run."""
    commands: tuple[str, ...] = ()
    """Names under which it may be installed, if they differ from that in the table."""
    folder: str = "files"
    children: str = ""
    """Expression for the names of the programs that it may start."""
    writes: str = ""
    """Expression for the paths that it may write; a row may have its own below.

    `RAN` is the file that the project's own modules write: a program that has it in its row imports them.
    """
    is_slow: bool = False
    needs: str = ""
    """The service without which it ends before it has done its work."""


def _debian(package: str, names: str, **more) -> dict[str, Source]:
    return {name: Source(origin="debian", package=package, **more) for name in names.split()}


OPERANDS = "<operands>"
"""Means the paths that the words of the line name, and those below them."""
_CACHE = r"home/\.(cache|config|local|npm|pnpm|yarn|node|jest|vite).*"
_PY = rf"(work/)?(.*__pycache__.*|.*\.(pyc|pytest_cache|mypy_cache|ruff_cache)\b.*)|{_CACHE}"
_SHELL = r"sh|dash|bash"
_C = r"cc1|as|collect2|ld|cc|gcc|c\+\+|x86_64-linux-gnu-.*|lto-wrapper"
SOURCES: dict[str, Source] = {
    **_debian("coreutils", "ls cat head tail wc nl tac fold sort uniq cut tr paste join comm du df stat od md5sum sha1sum"
              " sha256sum cksum base64 expr basename dirname yes realpath readlink date env printenv id whoami uname arch"
              " nproc groups tty tee sleep seq"),
    **_debian("coreutils", "mkdir rmdir touch cp mv rm ln truncate chmod", writes=OPERANDS),
    **_debian("util-linux", "rev whereis"),
    **_debian("bsdextrautils", "column hexdump"),
    **_debian("diffutils", "diff cmp"),
    **_debian("grep", "grep"),
    **_debian("gzip", "zgrep", children=f"{_SHELL}|sed|grep|gzip|cat|zgrep|egrep|fgrep|ls|mktemp|rm|zcat|expr"),
    **_debian("gzip", "gzip gunzip", children="gzip", writes=rf"{OPERANDS}|work/[ab]\.txt(\.gz)?"),
    **_debian("gzip", "zcat", children="gzip|sh"),
    **_debian("findutils", "find"),
    **_debian("sed", "sed"),
    **_debian("mawk", "awk", commands=("mawk", "gawk")),
    **_debian("ripgrep", "rg"), **_debian("fd-find", "fd", commands=("fdfind", "fd"), children="ls"),
    **_debian("jq", "jq"), **_debian("tree", "tree"), **_debian("file", "file"), **_debian("xxd", "xxd"),
    **_debian("binutils", "strings"), **_debian("libc-bin", "iconv"),
    **_debian("bat", "bat", commands=("batcat", "bat")),
    **_debian("debianutils", "which"), **_debian("hostname", "hostname", needs="a network"),
    **_debian("procps", "uptime free ps pgrep"), **_debian("lsof", "lsof"),
    **_debian("tar", "tar", children=f"gzip|bzip2|xz|zstd|{_SHELL}", writes=OPERANDS),
    **_debian("zip", "zip", writes=rf"{OPERANDS}|work/zi\w{{6}}|work/.*/zi\w{{6}}"), **_debian("unzip", "unzip", children="zipinfo"),
    **_debian("curl", "curl", needs="a network"), **_debian("wget", "wget", needs="a network", writes=r"home/\.wget-hsts"),
    **_debian("git", "git", folder="git", children=r"git|git-[a-z0-9-]+|true"),
    **_debian("make", "make", folder="c", children=f"{_SHELL}|{_C}|make|echo|cat|rm|cp|touch|chmod|ar|m4|co|get|f77|pc|lex|yacc|true",
              writes=r"work/.*"),
    **_debian("ninja-build", "ninja", folder="c", children=f"{_SHELL}|{_C}|true|echo", writes=r"work/.*"),
    **_debian("cmake", "cmake", folder="c", children=rf"{_SHELL}|{_C}|make|gmake|ninja|cmake|ctest|ar|ranlib|nm|uname|cmTC_\w+",
              writes=r"work/.*", is_slow=True),
    **_debian("cmake", "ctest", folder="c", children="true|ctest|cmake", writes=r"work/(build/)?Testing.*"),
    **_debian("gcc", "gcc", folder="c", children=_C, writes=r"work/([^/]*\.(o|s|d|gch)|a\.out)|tmp/cc.*"),
    **_debian("maven", "mvn", folder="maven", children=rf"{_SHELL}|java|dirname|uname|which|expr|basename|readlink|ls|mvn|tput|sed",
              writes=rf"{_CACHE}|(home|/.*)/\.m2/.*|work/target.*|/tmp/hsperf.*", is_slow=True, needs="a network"),
    **_debian("gradle", "gradle", folder="gradle",
              children=rf"{_SHELL}|java|dirname|uname|which|expr|basename|readlink|ls|gradle|getopt|find|sed|ps|cut|grep|tr|dpkg|arch|stty",
              writes=rf"{_CACHE}|home/\.(gradle|java).*|work/(\.gradle|build|buildSrc).*|/tmp/hsperf.*|tmp/.*", is_slow=True),
    **_debian("ruby-rspec-core", "rspec", folder="ruby", writes=_CACHE, children="ruby.*", is_slow=True),
    **_debian("mercurial", "hg", folder="hg", writes=rf"{_PY}|work/\.hg/(cache|wcache|tmp|\.?dirstate|undo|wlock|store/lock|branch).*"),
    **_debian("subversion", "svn", folder="svn", writes=r"home/\.subversion.*|work/wc/\.svn/wc\.db.*", needs="a network"),
    **_debian("golang-go", "go", folder="go", children=rf"go|compile|link|asm|cgo|vet|doc|buildid|cover|gofmt|pack|git|{_C}|.*\.test|test2json",
              writes=rf"{_CACHE}|home/go.*|/tmp/go-.*|tmp/go.*|work/(a\.out|demo|demo-go-tmp-umask|go\.(mod|sum).*|.*\.go)", is_slow=True),
    **_debian("golang-go", "gofmt", folder="go", writes=r"work/.*\.go[^/]*"),
    **_debian("gh", "gh", folder="git", children=r"git", writes=_CACHE, needs="a network"),
    # --- builtins, tried in both shells
    **{name: Source(origin="shell", package="bash, dash", commands=("bash", "dash"))
       for name in ["echo", "printf", "true", "false", ":", "pwd", "cd", "test", "[", "set", "exit", "wait", "export", "type", "command"]},
    # --- Python
    **{name: Source(origin="pypi", package=name, folder="python", writes=_PY, is_slow=True, children=more)
       for name, more in {"mypy": "", "flake8": "", "pylint": "", "pyright": r"node|npm|python[\d.]*|sh|uname|nodeenv"}.items()},
    "coverage": Source(origin="pypi", package="coverage", folder="python", is_slow=True, writes=rf"{_PY}|work/\.coverage.*"),
    "pytest": Source(origin="pypi", package="pytest", folder="python", is_slow=True, children=r"python[\d.]*|uname",
                     writes=rf"{_PY}|work/(\.coverage|pytest-cache-files-|RAN).*|(/tmp|tmp)/pytest-of-.*"),
    "unittest": Source(origin="pypi", package="the standard library", commands=("python3",), folder="python", is_slow=True,
                       writes=rf"{_PY}|work/RAN"),
    "tox": Source(origin="pypi", package="tox", folder="python", is_slow=True, children=r"python[\d.]*|pip|uname|gcc|git",
                  writes=rf"{_PY}|work/\.tox.*"),
    "isort": Source(origin="pypi", package="isort", folder="python", is_slow=True,
                    writes=rf"{_PY}|{OPERANDS}|work/.*\.py(\.isorted)?"),
    "black": Source(origin="pypi", package="black", folder="python", writes=rf"{_PY}|work/.*\.py", is_slow=True),
    "ruff": Source(origin="pypi", package="ruff", folder="python", writes=rf"{_PY}|work/.*\.py"),
    "pip": Source(origin="pypi", package="pip", folder="python", children=rf"python[\d.]*|pip|ldconfig.*|gcc|uname|git|hg|lsb_release|getopt|cut|tr|rustc|{_SHELL}",
                  writes=rf"{_PY}|tmp/pip-.*|work/.*\.egg-info.*|work/build.*|{OPERANDS}", is_slow=True, needs="a network"),
    "uv": Source(origin="pypi", package="uv", folder="python", children=rf"python[\d.]*|git|uv|ld-linux.*|ldd|pyenv.*|readlink|basename|{_SHELL}",
                 writes=rf"{_PY}|work/(\.venv|\.tmp|uv\.lock|.*\.egg-info|build).*|tmp/.*", is_slow=True, needs="a network"),
    "pre-commit": Source(origin="pypi", package="pre-commit", folder="git", children=r"git|python[\d.]*|true",
                         writes=rf"{_PY}|work/(\.git/|[^/.]).*|home/\.cache.*", is_slow=True),
    # --- JavaScript
    **{name: Source(origin="npm", package=name, folder="node", is_slow=True, needs="a network",
                    children=rf"{_SHELL}|node|echo|true|npm|npx|git|git-.*|pnpm|yarn|getconf|uname|ldd|jest",
                    writes=rf"{_CACHE}|work/(_tmp_|node_modules|package(-lock)?\.json|\.?pnpm|yarn|\.yarn).*|tmp/.*|/tmp/(v8-|pnpm-).*|work/yarn-error\.log")
       for name in ("npm", "pnpm", "yarn")},
    "tsc": Source(origin="npm", package="typescript", folder="node", is_slow=True, children="tsc",
                  writes=r"work/.*\.(js|jsx|d\.ts|map|tsbuildinfo)"),
    "eslint": Source(origin="npm", package="eslint", folder="node", is_slow=True, writes=r"work/.*\.js|work/\.eslintcache"),
    "prettier": Source(origin="npm", package="prettier", folder="node", is_slow=True, writes=r"work/.*|home/.*"),
    "jest": Source(origin="npm", package="jest", folder="node", is_slow=True, children=r"node|git|hg|sl|find|watchman",
                   writes=rf"{_CACHE}|(/tmp|tmp)/(jest|node).*|work/(coverage|.*__snapshots__).*"),
    "vitest": Source(origin="npm", package="vitest", folder="node", is_slow=True, children=r"node|git|sh|esbuild",
                     writes=rf"{_CACHE}|work/(node_modules(/\.(vite|vitest|cache).*)?|coverage|.*__snapshots__).*|(/tmp|tmp)/.*"),
    "mocha": Source(origin="npm", package="mocha", folder="node", is_slow=True, children="node", writes=_CACHE),
    # --- Rust, and binaries of their makers
    "cargo": Source(origin="rust", package="cargo", folder="cargo", is_slow=True,
                    children=rf"cargo.*|rustc|rustdoc|rustfmt|clippy-driver|{_C}|.*-[0-9a-f]{{16}}|demo|build-script-.*|rust-lld|ld\.lld|git|lsb_release|getopt|cut|tr",
                    writes=r"work/(target|Cargo\.lock).*|work/.*\.rs|home/\.(cargo|cache).*|tmp/rust.*"),
    "rustc": Source(origin="rust", package="rustc", folder="cargo", children="rustc"),
    "rustfmt": Source(origin="rust", package="rustfmt", folder="cargo", children="rustfmt", writes=r"work/.*\.rs"),
    "kubectl": Source(origin="maker", package="kubectl", children=r"kubectl.*", writes=r"home/\.kube/cache.*", needs="a cluster"),
    "docker": Source(origin="maker", package="docker", children=r"docker.*", writes=r"home/\.docker.*", needs="a daemon"),
    "terraform": Source(origin="maker", package="terraform", folder="terraform", children="terraform|diff", is_slow=True,
                        writes=r"home/\.terraform\.d.*|work/(\.terraform|terraform\.tfstate).*|work/.*\.tf|/tmp/.*|tmp/.*"),
    # --- not run here
    "helm": Source(origin="not run", package="helm.sh/docs/helm/helm_list, helm_status, helm_history, helm_version"),
    "dotnet": Source(origin="not run", package="learn.microsoft.com/dotnet/core/tools/dotnet-test, dotnet-build, dotnet-restore"),
}  # fmt: skip
"""By program."""
NOT_RUN_ROWS: dict[str, str] = {
    "cargo nextest": "nexte.st/docs/running", "cargo nextest run": "nexte.st/docs/running",
    "docker compose": "docs.docker.com/reference/cli/docker/compose",
}  # fmt: skip
"""Rows of a program that is run which need a part that cannot be had here, and the page that describes them."""
_GIT_SCRIPT = (
    r"git|git-.*|sh|basename|dirname|envsubst|gettext|sed|uname|cat|rm|expr|grep|ls|cut|tr|printf|test"
)
ROW_CHILDREN: dict[str, str] = {
    **dict.fromkeys(("git submodule", "git bisect"), _GIT_SCRIPT),
    **dict.fromkeys(
        ("git ls-remote", "git remote", "git fetch", "git pull", "git push", "git clone"), r"git|git-.*|sh"
    ),
}
"""Expressions for the programs that one row may start: git has scripts of the shell, and reaches a folder through one."""
_GIT_STATE = r"work/\.git/(?!hooks|config|info).*"
_INDEX = r"work/\.git/index(\.lock)?"
_CHANGES_FILES = (
    "checkout switch restore reset rm mv clean merge rebase cherry-pick revert stash pull am bisect"
)
ROW_WRITES: dict[str, str] = {
    **{f"git {name}": r"work/\.git/.*|work/.*" for name in _CHANGES_FILES.split()},
    **{f"git {name}": _INDEX for name in ["status", "diff", "diff-index", "diff-files", "describe"]},
    **{f"git {name}": _GIT_STATE for name in ["add", "commit", "tag", "notes"]},
    **{f"git {name}": rf"{_GIT_STATE}|work/\.git/config(\.lock)?" for name in ["fetch", "push"]},
    **{f"git {name}": r"work/\.git/.*" for name in ["branch", "remote", "worktree", "submodule", "lfs", "gc"]},
    "git": "(?!)", "git clone": r"work/.*",
}  # fmt: skip
"""Expressions for the paths that one row may write, by the longest beginning of its name."""
