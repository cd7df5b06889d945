"""Which first words of a command run another command, run code, or change the shell: tables, as data.

Owns the tables that shell analysis reads, and nothing else. A word that is missing here makes a pattern
allow less carefully, so a doubtful program belongs in.
"""

import re
from typing import Final

WRAPPERS: Final = frozenset({
    "ash", "builtin", "busybox", "caffeinate", "chpst", "chroot", "chrt", "command", "coproc", "daemonize",
    "dbus-run-session", "dbus-launch", "doas", "docker", "entr", "env", "eval", "exec", "expect", "fakeroot",
    "faketime", "fd", "fdfind", "find", "firejail", "flatpak", "flatpak-spawn", "flock", "gdb", "gtimeout",
    "ionice", "kubectl", "lldb", "ltrace", "machinectl", "nice", "nix-shell", "nohup", "noglob", "nsenter",
    "parallel", "pkexec", "podman", "prlimit", "proot", "rlwrap", "run-parts", "runuser", "screen",
    "script", "setarch", "setpriv", "setsid", "softlimit", "sshpass", "start-stop-daemon", "stdbuf",
    "strace", "su", "sudo", "systemd-run", "taskset", "time", "timeout", "tmux", "toybox", "unbuffer",
    "unshare", "uv", "uvx", "npx", "pnpx", "bunx", "pipx", "poetry", "pipenv", "direnv", "watch",
    "watchexec", "xargs", "xvfb-run", "zsh-defer", "bwrap", "valgrind", "perf", "hyperfine", "dumb-init",
    "tini", "trap", "gosu", "su-exec", "vagrant", "wsl", "socat", "ssh", "rsync", "scp", "at", "batch",
})  # fmt: skip
"""Programs that run what their arguments name."""

CODE_TAKERS: Final = frozenset({
    "sh", "bash", "rbash", "dash", "zsh", "ksh", "ksh93", "mksh", "pdksh", "oksh", "yash", "fish", "csh",
    "tcsh", "elvish", "nu", "xonsh", "pwsh", "powershell", "python", "pypy", "ipython", "perl", "raku",
    "ruby", "irb", "node", "nodejs", "deno", "bun", "ts-node", "tsx", "php", "lua", "luajit", "tclsh",
    "wish", "awk", "gawk", "mawk", "nawk", "sed", "gsed", "ed", "ex", "vi", "vim", "nvim", "view", "emacs",
    "osascript", "rscript", "julia", "guile", "scala", "groovy", "jshell", "ghci", "runghc", "erl",
    "elixir", "iex", "m4", "make", "gmake", "dc", "bc", "sqlite3", "psql", "mysql", "gnuplot", "octave",
    "source", ".", "eval", "trap", "ssh", "su", "sudo", "doas", "xargs", "parallel", "watch", "tmux",
    "screen", "script", "expect", "find", "env", "at", "batch", "crontab", "flock", "busybox",
    "start-stop-daemon", "runuser", "systemd-run", "fd", "fdfind",
})  # fmt: skip
"""Programs and builtins that take code as text: as an argument, or from a pipe."""

PLAIN_ANYWAY: Final = frozenset({
    "make", "gmake", "docker", "podman", "kubectl", "uv", "uvx", "npx", "pnpx", "bunx", "pipx", "poetry",
    "pipenv",
})  # fmt: skip
"""Of both tables, those that run what stands in plain sight behind them or in a file of the project.

A pattern that allows them has to spell out what they run; `TOO_BROAD` keeps rules from leaving it open.
"""

RESERVED: Final = frozenset({
    "!", "{", "}", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function",
    "if", "in", "select", "then", "time", "until", "while",
})  # fmt: skip
"""Words of the shell's grammar that a command may follow."""

SHELL_CHANGERS: Final = frozenset({
    "alias", "bind", "cd", "complete", "declare", "disown", "enable", "export", "fc", "hash", "history",
    "let", "local", "mapfile", "popd", "printf", "pushd", "read", "readarray", "readonly", "set", "shopt",
    "typeset", "ulimit", "umask", "unalias", "unset",
})  # fmt: skip
"""Builtins that change what later words mean, or assign."""

RISKY_OPTIONS: Final[dict[str, tuple[str, ...]]] = {
    "git": (
        "-c", "-O", "--config-env", "--exec-path", "--ext-diff", "--textconv", "--output",
        "--upload-pack", "--receive-pack", "--exec", "--open-files-in-pager", "--extcmd", "--tool",
        "--git-dir", "--work-tree", "--template", "--upload-archive", "--no-index",
    ),
    "cargo": ("--config",),
    "curl": ("-o", "-O", "-K", "--output", "--remote-name", "--config", "-T", "--upload-file"),
    "go": ("-exec", "-toolexec", "-vettool"),
    "gcc": ("-wrapper", "-fplugin"),
    "make": ("-C", "-E", "-I", "-f", "--directory", "--eval", "--file", "--include-dir", "--makefile"),
    "man": ("-P", "-H", "--pager", "--html"),
    "rg": ("--pre", "--hostname-bin"),
    "ripgrep": ("--pre", "--hostname-bin"),
    "sort": ("-o", "--output", "--compress-program", "-T", "--temporary-directory"),
    "tar": (
        "-I", "-F", "--to-command", "--checkpoint-action", "--use-compress-program", "--info-script",
        "--new-volume-script", "--rsh-command", "--rmt-command",
    ),
    "tree": ("-o",),
    "wget": ("-O", "-e", "--output-document", "--execute", "--use-askpass", "--post-file"),
    "zip": ("-TT", "--unzip-command"),
}  # fmt: skip
"""Options with which an otherwise harmless program runs another or writes where it likes."""

GLOBAL_OPTIONS: Final[dict[str, frozenset[str]]] = {
    "git": frozenset({
        "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix",
        "--attr-source",
    }),
}  # fmt: skip
"""Options in front of a subcommand that take the next word as their value."""

TOO_BROAD: Final[dict[str, str]] = {
    "git": "git -c and aliases run programs",
    "npm": "npm run and npm exec run any program",
    "pnpm": "pnpm run and pnpm exec run any program",
    "yarn": "yarn run and yarn exec run any program",
    "go": "go run runs any program",
    "cargo": "cargo run runs any program",
    "gh": "gh api and extensions do anything with your account",
    "pip": "pip install runs what it installs",
    "make": "a make argument can set SHELL and other variables",
    "gmake": "a make argument can set SHELL and other variables",
    "docker": "docker run reaches every file of this machine",
    "podman": "podman run reaches every file of yours",
    "kubectl": "kubectl exec and apply change a cluster",
    "uv": "uv run runs any program",
    "uvx": "uvx runs any program",
    "npx": "npx runs any program",
    "pnpx": "pnpx runs any program",
    "bunx": "bunx runs any program",
    "pipx": "pipx run runs any program",
    "poetry": "poetry run runs any program",
    "pipenv": "pipenv run runs any program",
}
"""Programs whose name alone, followed by anything, says too little for a rule."""

_VERSION: Final = re.compile(r"[0-9.]+\Z")


def program(word: str) -> str:
    """Return the name of the program that a first word runs: no folder, no version, lower case."""
    name = word.rstrip("/").rsplit("/", 1)[-1].lower()
    bare = _VERSION.sub("", name)
    return bare if bare in CODE_TAKERS or bare in WRAPPERS else name
