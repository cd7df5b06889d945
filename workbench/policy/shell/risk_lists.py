"""Lists of what programs and options can do behind a harmless look, as data."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

COMMAND_WRAPPERS: Final = frozenset({
    "env", "exec", "command", "builtin", "nice", "ionice", "nohup", "timeout", "gtimeout", "setsid", "stdbuf",
    "sudo", "doas", "xargs", "caffeinate", "chronic", "pkexec", "unbuffer", "eatmydata", "catchsegv",
    "torsocks", "torify", "dbus-run-session", "valgrind", "linux32", "linux64", "aa-exec", "ifne", "noglob",
    "nocorrect", "dumb-init", "tini", "run-one", "run-this-one", "systemd-inhibit", "systemd-run", "prlimit",
    "softlimit", "setpriv", "time",
})  # fmt: skip
"""Programs that run the command that their first operand begins; options and times stand in front of it."""
WRAPPERS: Final = COMMAND_WRAPPERS | {
    "strace", "ltrace", "rlwrap", "proxychains", "proxychains4", "xvfb-run", "chpst", "grc", "fakeroot",
    "multitime", "su", "runuser", "gosu", "su-exec", "sshpass", "parallel", "chrt", "taskset", "script",
    "watch", "watchexec", "entr", "flock", "chroot", "faketime", "proot", "unshare", "nsenter", "bwrap",
    "firejail", "setarch", "gdb", "lldb", "perf", "hyperfine", "machinectl", "start-stop-daemon", "daemonize",
    "dbus-launch", "run-parts", "flatpak", "flatpak-spawn", "ssh", "scp", "sftp", "mosh", "socat", "wsl",
    "vagrant", "tmux", "screen", "zellij", "at", "batch", "crontab", "busybox", "toybox", "coproc",
    "zsh-defer", "expect", "nix-shell", "direnv", "dotenv", "ansible", "fzf", "cpulimit", "capsh", "cgexec",
    "choom", "ld.so", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "osascript", "open", "xdg-open",
    "when-changed", "nodemon", "concurrently", "nq", "pee", "vipe", "cmd.exe", "powershell", "pwsh",
    "powershell.exe", "agetty", "ansible-playbook", "ansible-test", "aoss", "arch", "autossh", "aws-vault",
    "bpftrace", "chamber", "chruby-exec", "clush", "cross-env", "cross-env-shell", "csvtool", "distcc",
    "dotenvx", "dsh", "dtrace", "dtruss", "env-cmd", "envchain", "envdir", "genie", "heaptrack", "ksu",
    "logrotate", "logsave", "lxc-attach", "lxc-execute", "mpiexec", "mpirun", "msgexec", "msgfilter",
    "newgrp", "niceload", "npm-run-all", "openvt", "pdsh", "pexec", "pssh", "rexec", "rlogin", "rr", "rsh",
    "run-mailcap", "run-p", "run-s", "sbatch", "sem", "service", "setlock", "sg", "srun", "ssh-agent",
    "ssh-copy-id", "stap", "tsocks", "winpty", "xdotool", "nyc", "c8", "wait-for-it", "wait-for-it.sh",
    "dockerize", "start-server-and-test", "s6-setuidgid", "execlineb", "systemd-nspawn", "startx", "xinit",
    "xterm", "x-terminal-emulator", "gnome-terminal", "konsole", "alacritty", "kitty", "foot", "wezterm",
    "byobu", "dtach", "abduco", "ttyd", "gotty", "asciinema", "pm2", "forever", "foreman", "honcho",
    "overmind", "reflex", "with-lock-ex", "lckdo", "retry", "timelimit", "numactl", "trickle", "schedtool",
    "pasuspender", "padsp", "optirun", "primusrun", "gamemoderun", "nsjail", "minijail0", "sandbox-exec",
    "wine", "wine64", "memusage", "uftrace", "py-spy", "memray", "scalene", "austin", "samply", "flamegraph",
    "rush", "xe", "viztracer", "kernprof", "supervisord",
}  # fmt: skip
"""Programs that run what their words, their input or a file names; a grant never covers one."""
EVALUATORS: Final = frozenset({
    "eval", "source", ".", "trap", "alias", "unalias", "bind", "complete", "compgen", "compopt", "declare",
    "typeset", "local", "readonly", "let", "read", "readarray", "mapfile", "getopts", "unset", "shopt",
    "enable", "hash", "fc", "history", "disown", "exec", "builtin", "umask", "ulimit", "pushd", "popd",
    "dirs", "logout", "suspend", "caller", "select", "function",
})  # fmt: skip
"""Builtins that define, evaluate, or change what later words mean."""
SHELLS: Final[dict[str, tuple[str, ...]]] = {
    "sh": ("c", "s", "i"), "bash": ("c", "s", "i", "O"), "rbash": ("c", "s", "i"), "dash": ("c", "s", "i"),
    "ash": ("c", "s", "i"), "zsh": ("c", "s", "i"), "ksh": ("c", "s", "i"), "ksh93": ("c", "s", "i"),
    "mksh": ("c", "s", "i"), "pdksh": ("c", "s", "i"), "oksh": ("c", "s", "i"), "yash": ("c", "s", "i"),
    "fish": ("c", "C"), "csh": ("c", "s"), "tcsh": ("c", "s"), "elvish": ("c",), "nu": ("c", "e"),
    "xonsh": ("c",), "posh": ("c", "s"), "rc": ("c", "i"), "es": ("c", "i"), "sash": ("c",),
}  # fmt: skip
"""Shells, and the letters of options with which they run text or load code."""
INTERPRETERS: Final[dict[str, tuple[str, ...]]] = {
    **SHELLS,
    "python": ("c", "i"), "pythonw": ("c", "i"), "pypy": ("c", "i"), "ipython": ("c", "i"),
    "perl": ("e", "E", "i", "I", "M", "m", "d", "n", "p"), "raku": ("e", "I", "M"),
    "ruby": ("e", "i", "I", "r", "n", "p"), "irb": ("r", "I"), "node": ("e", "p", "r", "i"),
    "nodejs": ("e", "p", "r", "i"), "tsx": ("e", "p", "r"), "ts-node": ("e", "p", "r"),
    "php": ("r", "B", "R", "E", "d", "a", "S", "z"), "lua": ("e", "l", "i"), "luajit": ("e", "l", "i", "j"),
    "tclsh": (), "wish": (), "Rscript": ("e",), "R": ("e", "f"), "julia": ("e", "E", "L", "i"), "octave": (),
    "guile": ("c", "e", "l", "L"), "scala": ("e",), "groovy": ("e",), "jshell": (), "ghci": ("e",),
    "runghc": ("e",), "erl": (), "elixir": ("e", "r"), "iex": ("e", "r", "S"), "swift": ("e",), "java": (),
    "kotlin": ("e",), "m4": (), "sbcl": (), "clisp": ("x",), "racket": ("e",), "bb": ("e",),
    "clojure": ("e", "M"), "jruby": ("e", "r", "I"), "mruby": ("e", "r"), "pry": ("e", "r", "I"),
    "byebug": ("e", "r", "I"), "hy": ("c", "i"), "fennel": ("e",), "gjs": ("c", "I"), "qjs": ("e", "i", "I"),
    "d8": ("e",), "js": ("e",), "escript": (), "swipl": ("g", "t", "c"), "gprolog": (), "ocaml": ("e", "I"),
    "utop": ("e", "I"), "gforth": ("e",), "slsh": ("e", "i", "l"), "jjs": (), "jrunscript": ("e", "f"),
}  # fmt: skip
"""Shells and other programs that run a script, and the letters of options that run text or load code.

A script that is a word of its own has to be spelled out by the pattern.
"""
INTERPRETER_OPTIONS: Final = frozenset({
    "--eval", "--print", "--require", "--import", "--loader", "--experimental-loader", "--command",
    "--init-file", "--rcfile", "--init-command", "--run", "--execute", "--interactive",
    "--check-hash-based-pycs", "--env-file", "--eval-file", "--jars", "-agentpath", "-javaagent",
    "-agentlib", "--norc-file",
})  # fmt: skip
"""Long options of interpreters that run text or load code."""
CODE_MODULES: Final = frozenset({
    "asyncio", "bdb", "cProfile", "code", "debugpy", "idlelib", "ipdb", "IPython", "pdb", "profile", "pudb",
    "runpy", "timeit", "trace", "line_profiler", "memory_profiler", "pyinstrument", "xonsh",
})  # fmt: skip
"""Modules of Python that run text or another script: a grant of `python -m` never covers one."""
SHELL_LIKE_PROGRAMS: Final = frozenset({
    "vi", "vim", "nvim", "view", "vimdiff", "ex", "ed", "red", "emacs", "emacsclient", "nano", "pico", "dc",
    "bc", "sqlite3", "psql", "mysql", "mariadb", "mongosh", "mongo", "redis-cli", "duckdb", "ftp", "telnet",
    "gnuplot", "lftp", "mutt", "mail", "mailx", "info", "w3m", "lynx", "joe", "jed", "micro", "kak",
    "hx", "mc", "mcedit", "ne", "rview", "rvim", "vipw", "vigr", "visudo", "sudoedit", "pg", "links",
    "elinks", "smbclient", "psftp", "ncftp", "tftp", "debugfs", "ginsh", "msfconsole", "rtorrent", "tasksh",
    "ncdu", "iftop", "virsh", "minicom", "dosbox", "gimp", "weechat", "irssi", "maxima", "scanmem", "crash",
    "ksshell", "bconsole", "fdisk", "parted", "octave-cli", "cpan", "hping3", "ispell", "xdg-user-dir",
    "knife",
    "puppet", "cdist", "gpg-connect-agent", "tmsh", "vtysh", "pgcli", "mycli",
    "litecli", "iredis", "usql", "sqlcmd", "sqlplus", "hdbsql", "bteq", "cqlsh", "influx",
    "clickhouse-client",
})  # fmt: skip
"""Programs with a language of their own that reaches a shell or files."""
RUNNERS: Final[dict[str, frozenset[str]]] = {
    "npx": frozenset(), "pnpx": frozenset(), "bunx": frozenset(), "uvx": frozenset(),
    "npm": frozenset({"exec", "x", "init", "create"}), "pnpm": frozenset({"exec", "dlx", "create"}),
    "yarn": frozenset({"exec", "dlx", "create", "node"}), "bun": frozenset({"run", "x", "create", "exec"}),
    "deno": frozenset({"run", "eval", "x"}), "uv": frozenset({"run", "x"}), "poetry": frozenset({"run"}),
    "pipenv": frozenset({"run"}), "pipx": frozenset({"run"}), "hatch": frozenset({"run"}),
    "rye": frozenset({"run"}), "pdm": frozenset({"run"}), "pixi": frozenset({"run", "exec"}),
    "conda": frozenset({"run"}), "mamba": frozenset({"run"}), "micromamba": frozenset({"run"}),
    "bundle": frozenset({"exec"}), "mise": frozenset({"exec", "x"}), "asdf": frozenset({"exec"}),
    "rbenv": frozenset({"exec"}), "pyenv": frozenset({"exec"}),
    "nix": frozenset({"run", "shell", "develop"}), "go": frozenset({"run", "tool"}),
    "dotnet": frozenset({"exec"}), "rustup": frozenset({"run"}), "composer": frozenset({"exec"}),
    "coverage": frozenset({"run"}), "lerna": frozenset({"exec"}), "fnm": frozenset({"exec"}),
    "nvm": frozenset({"exec", "run"}), "volta": frozenset({"run"}), "rvm": frozenset({"do", "exec"}),
    "bazel": frozenset({"run"}), "tox": frozenset({"exec"}), "devbox": frozenset({"run"}),
    "guix": frozenset({"shell", "environment"}), "opam": frozenset({"exec"}),
    "stack": frozenset({"exec", "runghc", "ghci"}), "cabal": frozenset({"exec"}),
}  # fmt: skip
"""Programs that run another one, named after one of these words or at once: a pattern has to spell it out."""
REMOTE_RUNNERS: Final[dict[str, frozenset[str]]] = {
    "docker": frozenset({"run", "exec", "plugin"}),
    "podman": frozenset({"run", "exec", "unshare", "machine"}), "nerdctl": frozenset({"run", "exec"}),
    "docker-compose": frozenset({"run", "exec"}), "helm": frozenset({"plugin"}),
    "heroku": frozenset({"run", "ps:exec"}), "mix": frozenset({"eval", "cmd"}),
    "rails": frozenset({"runner", "r", "console", "c", "dbconsole"}), "gem": frozenset({"open"}),
    "wp": frozenset({"eval", "eval-file", "shell"}), "openssl": frozenset({"engine"}),
    "kubectl": frozenset({"exec", "run", "debug", "plugin", "edit", "krew"}),
    "oc": frozenset({"exec", "run", "rsh", "debug"}), "lxc": frozenset({"exec"}),
    "incus": frozenset({"exec"}), "multipass": frozenset({"exec"}), "ip": frozenset({"netns"}),
    "gh": frozenset({"extension", "alias", "codespace", "api"}), "systemctl": frozenset({"edit"}),
    "hg": frozenset({"extdiff", "debugshell"}), "svn": frozenset({"propedit"}),
    "brew": frozenset({"ruby", "sh", "irb", "edit"}), "snap": frozenset({"run"}),
    "limactl": frozenset({"shell"}),
    "minikube": frozenset({"ssh"}), "fly": frozenset({"ssh", "console"}), "flyctl": frozenset({"ssh",
    "console"}),
    "railway": frozenset({"run", "shell"}), "doppler": frozenset({"run"}), "op": frozenset({"run"}),
    "infisical": frozenset({"run"}), "sops": frozenset({"exec-env", "exec-file", "edit"}),
    "nx": frozenset({"exec"}),
    "distrobox": frozenset({"enter"}), "toolbox": frozenset({"run", "enter"}), "colima": frozenset({"ssh"}),
}  # fmt: skip
"""Programs whose named subcommand runs any program elsewhere or in a container; a grant never covers it."""
OPENERS: Final[dict[str, frozenset[str]]] = {
    **RUNNERS, **REMOTE_RUNNERS, "find": frozenset({"-exec", "-execdir", "-ok", "-okdir"}),
    "fd": frozenset({"-x", "-X", "--exec", "--exec-batch"}),
    "git": frozenset({"run", "foreach", "-x", "--exec", "for-each-repo"}),
}  # fmt: skip
"""Words after which a deny looks for another command; without any, right after the name."""
QUIET_CODE_TAKERS: Final = frozenset({"sed", "awk", "find", "fd", "make"})
"""Programs that may take code, but take none where nothing else is known of them."""
RESERVED_WORDS: Final = frozenset({
    "!", "{", "}", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while",
})  # fmt: skip
"""Words of the shell's grammar that a command may follow."""
COMMAND_STARTERS: Final = frozenset({"if", "then", "elif", "else", "do", "while", "until", "!", "{"})
"""Those that stand right in front of a command."""
RISKY_OPTIONS: Final[dict[str, tuple[str, ...]]] = {
    "hg": ("--config", "--config-file", "--debugger", "--cwd", "-R", "--repository"),
    "svn": ("--config-option", "--editor-cmd", "--diff-cmd", "--diff3-cmd", "--config-dir"),
    "dmsetup": ("--exec",), "ip": ("-b", "-batch", "-force"), "xsltproc": ("-o", "--output"),
    "sdiff": ("-o", "--output", "--diff-program"), "diff3": ("--diff-program",), "dot": ("-o", "-O"),
    "tidy": ("-m", "-o", "-config", "-modify", "-output"), "xmlstarlet": ("-L", "--inplace"),
    "nm": ("--plugin",), "ar": ("--plugin",), "objdump": ("--plugin",), "updatedb": ("-o", "--output"),
    "dmidecode": ("--dump-bin",), "groff": ("-U",), "troff": ("-U",), "pic": ("-U",),
    "cobc": ("-j", "--job"),
    "gpg": ("-o", "--output", "--exec-path", "--photo-viewer", "--agent-program", "--dirmngr-program"),
    "kubectl": ("--kubeconfig",),
    "helm": ("--post-renderer", "--kubeconfig", "--registry-config", "--repository-config"),
    "docker": ("-H", "--host", "--config"), "docker save": ("-o", "--output"),
    "docker export": ("-o", "--output"), "cmake": ("-P", "-E", "-C", "--install", "--open"),
    "ctest": ("-S", "--script", "--build-and-test", "--script-new-process"), "ninja": ("-f",),
    "bazel": ("--run_under", "--bazelrc", "--workspace_status_command", "--package_path"),
    "javac": ("-processorpath", "-processor", "--processor-path", "--processor-module-path"),
    "pytest": ("--pdbcls",), "eslint": ("--rulesdir", "--resolve-plugins-relative-to", "--parser"),
    "prettier": ("--plugin", "--plugin-search-dir"),
    "just": ("-f", "--justfile", "-c", "--command", "--shell", "--shell-arg", "--chooser", "-e", "--edit"),
    "find": ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"),
    "fd": ("-x", "-X", "--exec", "--exec-batch"), "rg": ("--pre", "--hostname-bin", "-z", "--search-zip"),
    "rsync": ("-e", "--rsh", "--rsync-path", "--config", "--log-file", "--write-batch",
        "--only-write-batch"),
    "terraform": ("-chdir", "-out", "-state-out", "-backup", "-plugin-dir", "-generate-config-out"),
    "shuf": ("-o", "--output"), "jobs": ("-x",), "apt": ("-o", "-c", "--option", "--config-file"),
    "apt-get": ("-o", "-c", "--option", "--config-file"),
    "rpm": ("--eval", "-E", "--pipe", "--define", "-D"), "dnf": ("--setopt",), "yum": ("--setopt",),
    "aria2c": ("-o", "-d", "--out", "--dir", "--conf-path", "--save-session", "--on-download-start",
        "--on-download-complete", "--on-download-error", "--on-download-pause", "--on-download-stop",
        "--on-bt-download-complete"), "exiftool": ("-if", "-config", "-p", "-o"),
    "openvpn": ("--up", "--down", "--plugin", "--config", "--script-security"), "ssh-keygen": ("-D",),
    "ssh-add": ("-s",), "scrot": ("-e", "--exec"), "cowsay": ("-f",), "cowthink": ("-f",),
    "restic": ("--password-command", "-o", "--option"), "sqlmap": ("--eval", "--os-cmd", "--os-shell"),
    "pandoc": ("-o", "--output", "-F", "--filter", "-L", "--lua-filter", "--pdf-engine", "--extract-media",
        "-d", "--defaults", "-H"),
    "tex": ("-shell-escape", "-enable-write18", "-output-directory", "-output-driver"),
    "gs": ("-dNOSAFER", "-o", "-sOutputFile", "-c", "-f"), "ghc": ("-e", "-F", "-pgmF", "-package-db"),
    "ld": ("-plugin", "--plugin", "-dynamic-linker", "--dynamic-linker"),
    "pylint": ("--init-hook", "--load-plugins"), "mix run": ("-e", "--eval", "-r", "--require"),
    "rake": ("-e", "-E", "-p", "-r", "-f", "-I", "--execute", "--execute-print", "--execute-continue",
        "--require", "--rakefile", "--libdir"), "ss": ("-D", "--diag"), "msgattrib": ("-o", "--output-file"),
    "yarn": ("--use-yarnrc",), "ag": ("--pager",), "ack": ("--pager", "--output-file", "--ackrc"),
    "sort": ("--compress-program",),
    "tar": ("-I", "-F", "--to-command", "--checkpoint-action", "--use-compress-program", "--info-script",
        "--new-volume-script", "--rsh-command", "--rmt-command"), "bsdtar": ("--use-compress-program",),
    "zip": ("-TT", "-T", "--unzip-command"), "cpio": ("--rsh-command",), "split": ("--filter",),
    "man": ("-P", "-H", "-C", "--pager", "--html", "--preprocessor", "--config-file"),
    "less": ("-o", "-O", "-k", "--log-file", "--LOG-FILE", "--lesskey-file", "--lesskey-src",
        "--lesskey-context"), "bat": ("--pager",), "delta": ("--pager",),
    "curl": ("-K", "--config", "--libcurl", "--engine"),
    "wget": ("-e", "--execute", "--use-askpass", "--config"),
    "nc": ("-e", "-c", "--exec", "--sh-exec", "--lua-exec"),
    "ncat": ("-e", "-c", "--exec", "--sh-exec", "--lua-exec"),
    "nmap": ("--script", "--datadir", "-oN", "-oX", "-oG", "-oA"), "tcpdump": ("-z", "-w"),
    "openssl": ("-out", "-engine", "-provider", "-provider-path", "-writerand", "-config"),
    "gcc": ("-wrapper", "-fplugin", "-B", "-specs"),
    "clang": ("-fplugin", "-Xclang", "-load", "-B", "-fpass-plugin"), "rustc": ("-C", "--codegen", "-Z"),
    "cargo": ("--config", "-C", "--manifest-path"),
    "make": ("-E", "-I", "-f", "--eval", "--file", "--include-dir", "--makefile"),
    "gradle": ("-I", "--init-script", "-b", "--build-file", "-c", "--settings-file", "-p", "--project-dir"),
    "mvn": ("-f", "--file", "-s", "--settings", "-gs", "--global-settings"),
    "go build": ("-exec", "-toolexec", "-vettool", "-overlay", "-modfile"),
    "go test": ("-exec", "-toolexec", "-vettool", "-overlay", "-modfile"),
    "go vet": ("-toolexec", "-vettool", "-overlay"), "go run": ("-exec", "-toolexec", "-overlay"),
    "go env": ("-w", "-u"),
    "npm": ("--script-shell", "--node-options", "--shell", "--editor", "--viewer", "--browser",
        "--init-module", "--userconfig", "--globalconfig", "--git"),
    "pnpm": ("--script-shell", "--shell-emulator", "--config"), "pip": ("--python",),
    "yq": ("-i", "--inplace", "-s", "--split-exp"), "xmllint": ("--output", "-o"),
    "ctags": ("--options", "-o", "-f"), "test": ("-v", "-R"), "[": ("-v", "-R"), "printf": ("-v",),
    "git": ("-c", "-C", "--config-env", "--exec-path", "--git-dir", "--work-tree", "--namespace",
        "--super-prefix"), "git am": ("--exec",), "git apply": ("--unsafe-paths",),
    "git archive": ("--remote", "--exec"),
    "git clone": ("-c", "--config", "-u", "--upload-pack", "--template"),
    "git diff": ("--ext-diff", "--textconv"),
    "git difftool": ("-x", "--extcmd", "-t", "--tool", "-y", "--no-prompt"), "git fetch": ("--upload-pack",),
    "git fast-export": ("--export-marks",),
    "git format-patch": ("-o", "--output-directory", "--output", "--ext-diff", "--textconv"),
    "git grep": ("-O", "--open-files-in-pager", "--textconv"), "git help": ("-w", "--web"),
    "git interpret-trailers": ("--in-place",), "git init": ("--template", "--separate-git-dir"),
    "git log": ("--ext-diff", "--textconv"), "git ls-remote": ("--upload-pack", "--exec"),
    "git pull": ("--upload-pack",), "git push": ("--receive-pack", "--exec"), "git rebase": ("-x", "--exec"),
    "git range-diff": ("--ext-diff", "--textconv"), "git diff-index": ("--ext-diff", "--textconv"),
    "git diff-files": ("--ext-diff", "--textconv"), "git read-tree": ("--index-output",),
    "git fetch-pack": ("--upload-pack", "--exec"), "git send-pack": ("--receive-pack", "--exec"),
    "git bugreport": ("-o", "--output-directory"), "git diagnose": ("-o", "--output-directory"),
    "git checkout-index": ("--prefix",), "git reflog": ("--ext-diff", "--textconv"),
    "git remote": ("--upload-pack",), "git replace": ("-e", "--edit"),
    "git send-email": ("--to-cmd", "--cc-cmd", "--header-cmd", "--sendmail-cmd", "--smtp-server"),
    "git show": ("--ext-diff", "--textconv"), "git stash": ("--ext-diff", "--textconv"),
    "git cat-file": ("--textconv", "--filters"), "git diff-tree": ("--ext-diff", "--textconv"),
    "git whatchanged": ("--ext-diff", "--textconv"),
}  # fmt: skip
"""Options with which a program or subcommand runs another or loads code; no pattern covers one.

Programs that are not in `known_programs` also have their options here that write files. Long options count
cut short as well (`--outp`), a letter also within a group of letters.
"""
RISKY_SUBCOMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "git": ("bisect run", "credential", "difftool", "filter-branch", "filter-repo", "instaweb", "mergetool",
        "submodule foreach", "submodule add", "send-email", "upload-pack", "receive-pack", "daemon",
        "http-backend", "remote-ext", "hook run", "maintenance", "gui", "citool", "web--browse",
        "for-each-repo", "shell", "svn", "p4", "cvsserver", "fast-import", "imap-send", "notes edit",
        "lfs install",
        "credential-store", "credential-cache", "fsmonitor--daemon", "update-index"),
    "docker": ("compose run", "compose exec", "container run", "container exec"),
    "podman": ("compose run", "compose exec", "container run", "container exec"),
    "npm": ("config set", "config edit", "edit", "explore", "set", "repo", "docs", "bugs", "pkg set"),
    "kubectl": ("config set", "config set-credentials", "config set-cluster", "config set-context"),
    "aws": ("configure set", "configure import"), "gcloud": ("compute ssh", "config set"),
    "pnpm": ("config set", "env use"), "yarn": ("config set", "plugin import"),
    "pip": ("config set", "config edit", "config debug"), "go": ("generate", "env -w"), "uv": ("tool run",),
}  # fmt: skip
"""Subcommands that run programs, or write configuration that later runs some."""
OPTIONS_WITH_VALUE: Final[dict[str, frozenset[str]]] = {
    "git": frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env",
        "--super-prefix", "--attr-source"}),
    "docker": frozenset({"-H", "--host", "-c", "--context", "--config", "-l", "--log-level"}),
    "kubectl": frozenset({"-n", "--namespace", "--context", "--cluster", "--kubeconfig", "-s", "--server"}),
    "npm": frozenset({"--prefix", "-C", "--loglevel", "--workspace", "-w"}),
    "uv": frozenset({"--directory", "--project", "--with", "--python", "-p", "--extra", "--group",
        "--env-file"}),
    "npx": frozenset({"-p", "--package"}), "make": frozenset({"-C", "-f", "-I", "-E"}),
    "go": frozenset({"-C"}),
}  # fmt: skip
"""Options in front of a subcommand that take the next word as their value."""
SINGLE_DASH_LONG_OPTIONS: Final = frozenset({
    "go", "mvn", "gradle", "openssl", "gcc", "clang", "rustc", "xmllint", "ctags", "exiftool", "tex", "gs",
    "ghc", "ld", "find", "java", "javac", "ip", "tidy", "cmake", "terraform",
})  # fmt: skip
"""Programs whose options of one dash are whole words: `-count` holds no `-o`."""
LETTERS_WITH_VALUE: Final[dict[str, str]] = {
    "curl": "XHduAebmwxFrzUCyYPQt", "sort": "tkS", "tar": "fCXTbgK", "rg": "egfABCmtTMjd", "fd": "eEtdcSj",
    "git log": "nSGL", "git grep": "efABCm", "git diff": "SGUl", "less": "pPxyzjb", "wget": "tTQwABIDRUX",
    "zip": "xibnt", "man": "sSmMLe", "tree": "LPI", "cargo": "pjF", "make": "jloC", "rsync": "BTMf",
    "git clone": "bo", "git archive": "", "nc": "wpsqiIOTVXx", "rustc": "LlO", "gcc": "ILlDUOo",
    "clang": "ILlDUOo", "date": "Idfr",
}  # fmt: skip
"""Letters of options after which the rest of the word is a value."""
OPERAND_WRITERS: Final[dict[str, int]] = {"tee": 0, "uniq": 1, "xxd": 1, "cpp": 1}
"""Programs that write the operand behind so many others, although they look like readers."""
OUTPUT_SINKS: Final = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2"})
"""Where output may go without asking: it writes no file."""
INPUT_DEVICES: Final = frozenset({"/dev/null", "/dev/stdin", "/dev/fd/0"})
TOO_BROAD_PROGRAMS: Final[dict[str, str]] = {
    "git": "git -c and aliases run programs", "npm": "npm run and npm exec run any program",
    "pnpm": "pnpm run and pnpm exec run any program", "yarn": "yarn run and yarn exec run any program",
    "go": "go run runs any program", "cargo": "cargo run runs any program",
    "gh": "gh api and extensions do anything with your account", "pip": "pip install runs what it installs",
    "make": "a make argument can set SHELL and other variables",
    "gmake": "a make argument can set SHELL and other variables",
    "docker": "docker run reaches every file of this machine",
    "podman": "podman run reaches every file of yours",
    "kubectl": "kubectl exec and apply change a cluster", "uv": "uv run runs any program",
    "uvx": "uvx runs any program", "npx": "npx runs any program", "pnpx": "pnpx runs any program",
    "bunx": "bunx runs any program", "pipx": "pipx run runs any program",
    "poetry": "poetry run runs any program", "pipenv": "pipenv run runs any program",
}  # fmt: skip
"""Programs whose name alone, followed by anything, says too little for a rule."""
NETWORK_PROGRAMS: Final = frozenset({
    "curl", "wget", "nc", "ncat", "netcat", "ssh", "scp", "sftp", "rsync", "ftp", "lftp", "telnet", "socat",
    "http", "https", "xh", "aria2c", "nmap", "dig", "ping", "git clone", "git fetch", "git pull",
    "git push", "pip install", "npm install", "npm ci", "npm publish", "docker pull", "docker push", "gh",
    "aws", "gcloud", "az",
})  # fmt: skip
"""Programs, or subcommands, that reach the network: shown to who decides."""
REMOVING_PROGRAMS: Final = frozenset({
    "rm", "rmdir", "shred", "dd", "mkfs", "truncate", "mv", "chmod", "chown", "git clean", "git reset",
    "git push", "git checkout", "git restore", "git rebase", "kill", "pkill", "killall", "reboot",
    "shutdown", "unlink",
})  # fmt: skip
"""Programs, or subcommands, that remove or overwrite: shown to who decides."""
PROGRAM_ALIASES: Final = {
    "gmake": "make", "gsed": "sed", "gawk": "awk", "mawk": "awk", "nawk": "awk", "ripgrep": "rg",
    "fdfind": "fd", "batcat": "bat", "egrep": "grep", "fgrep": "grep", "gtar": "tar", "gfind": "find",
    "gsort": "sort", "zsort": "sort", "clang++": "clang", "pip3": "pip", "netcat": "nc", "guniq": "uniq",
    "gtee": "tee", "gtimeout": "timeout", "c++": "gcc", "g++": "gcc", "cc": "gcc", "c89": "gcc",
    "c99": "gcc", "latex": "tex", "pdflatex": "tex", "xelatex": "tex", "lualatex": "tex", "pdftex": "tex",
    "luatex": "tex", "rpmdb": "rpm", "rpmverify": "rpm", "rpmquery": "rpm", "rpmkeys": "rpm", "neato": "dot",
    "fdp": "dot", "sfdp": "dot", "gpg2": "gpg", "bazelisk": "bazel", "xml": "xmlstarlet", "xetex": "tex",
    "gshuf": "shuf", "gbase64": "base64", "gdd": "dd", "gradlew": "gradle", "mvnw": "mvn",
    "tofu": "terraform", "gdate": "date",
}  # fmt: skip
CODE_TAKERS: Final = (
    frozenset(INTERPRETERS) | SHELL_LIKE_PROGRAMS | frozenset(RUNNERS) | frozenset(REMOTE_RUNNERS)
    | {"eval", "source", ".", "trap", "sed", "awk", "make", "find", "fd"} | WRAPPERS
)  # fmt: skip
"""Programs and builtins that may be given another command as text, as words or on their input."""
_VERSION_SUFFIX: Final = re.compile(r"[0-9.]+\Z")
_LISTED_PROGRAMS: Final = CODE_TAKERS | frozenset(RISKY_OPTIONS) | frozenset(PROGRAM_ALIASES)


@lru_cache(maxsize=4096)
def program_name(word: str) -> str:
    """Return the name of the program that a first word runs: no folder, no version, no alias."""
    name = word.rstrip("/").rsplit("/", 1)[-1]
    bare = _VERSION_SUFFIX.sub("", name)
    name = bare if bare in _LISTED_PROGRAMS and name not in _LISTED_PROGRAMS else name
    return PROGRAM_ALIASES.get(name, name)


def program_and_subcommand(words: Sequence[str]) -> frozenset[str]:
    """Return the names under which a command may be listed: `git`, and `git push`."""
    name = program_name(words[0])
    return frozenset({name, f"{name} {words[1]}"} if len(words) > 1 else {name})


DATA_TAKERS: Final = frozenset({
    ":", "[", "apt-cache", "awk", "base32", "base64", "basename", "break", "bzip2", "cal", "cat", "cd",
    "chgrp", "chmod", "chown", "cksum", "clear", "cmp", "column", "comm", "continue", "cp", "curl", "cut",
    "date", "dd", "df", "diff", "dig", "dirname", "du", "echo", "exit", "expand", "export", "expr", "factor",
    "false", "file", "find", "fmt", "fold", "free", "grep", "groups", "gunzip", "gzip", "head", "hexdump",
    "host", "hostname", "iconv", "id", "jobs", "join", "jq", "kill", "killall", "less", "ln", "locale", "ls",
    "lsof", "make", "md5sum", "mkdir", "mkfifo", "mktemp", "more", "mv", "nl", "nproc", "nslookup", "numfmt",
    "od", "paste", "pgrep", "ping", "pip", "pkill", "printenv", "printf", "ps", "pwd", "readlink", "realpath",
    "return", "rev", "rg", "rm", "rmdir", "sed", "seq", "set", "sha1sum", "sha256sum", "sha512sum", "shift",
    "shuf", "sleep", "sort", "split", "ss", "stat", "strings", "sum", "sync", "tac", "tail", "tar", "tee",
    "test", "touch", "tr", "tree", "true", "truncate", "tsort", "tty", "type", "uname", "unexpand", "uniq",
    "unlink", "unzip", "uptime", "wait", "wc", "wget", "whereis", "which", "who", "whoami", "xxd", "xz",
    "yes", "yq", "zip", "zstd",
})  # fmt: skip
"""Programs that run no program which a plain line of theirs names."""
