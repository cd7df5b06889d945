"""Variables set before a command: harmless ones, and those that steer programs."""

import re
from typing import Final

HARMLESS_VARIABLES: Final = frozenset({
    "CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "TERM", "COLUMNS", "LINES",
    "LANG", "LANGUAGE", "TZ", "NODE_ENV", "RUST_BACKTRACE", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED", "BASH_SILENCE_DEPRECATION_WARNING", "CARGO_INCREMENTAL", "CARGO_TERM_COLOR",
    "DOTNET_CLI_TELEMETRY_OPTOUT", "DOTNET_NOLOGO", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT",
    "NPM_CONFIG_LOGLEVEL", "PIP_DISABLE_PIP_VERSION_CHECK", "PIP_NO_INPUT", "UV_NO_PROGRESS", "UV_OFFLINE",
    "YARN_SILENT", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC",
    "LC_TIME",
})  # fmt: skip
"""Variables that change words, colours and the order of lines, or nothing."""
STEERING_VARIABLES: Final = frozenset({
    "AR", "AS", "BASHOPTS", "BZIP", "CC", "CPP", "CVS_RSH", "CXX", "DISPLAY", "ELECTRON_RUN_AS_NODE", "ENV",
    "EXECIGNORE", "EXINIT", "FCEDIT", "FIGNORE", "FLASK_APP", "FUNCNEST", "GETCONF_DIR", "GLIBC_TUNABLES",
    "GLOBIGNORE", "GOAUTH", "GOBIN", "GOCACHE", "GOCACHEPROG", "GOENV", "GOEXPERIMENT", "GOINSECURE",
    "GOMODCACHE", "GONOPROXY", "GONOSUMCHECK", "GONOSUMDB", "GOPRIVATE", "GOPROXY", "GOROOT", "GOTOOLCHAIN",
    "GVIMINIT", "GZIP", "HGMERGE", "HISTFILE", "HOME", "HOSTALIASES", "HUSKY", "IFS", "LD", "LOCALDOMAIN",
    "LOGNAME", "MANOPT", "MANROFFOPT", "MORE", "OLDPWD", "OPTARG", "OPTIND", "PHP_INI_SCAN_DIR", "PS0",
    "PS1", "PS2", "PS3", "PS4", "PWD", "REQUESTS_CA_BUNDLE", "RESOLV_HOST_CONF", "RSYNC_RSH", "R_ENVIRON",
    "SHELLOPTS", "SQLITE_HISTORY", "SSLKEYLOGFILE", "SSL_CERT_DIR", "SSL_CERT_FILE", "SVN_SSH", "TEMP",
    "TMP", "TMPDIR", "TZDIR", "UNZIP", "USER", "VIMINIT", "VISUAL", "XZ_DEFAULTS", "XZ_OPT", "ZDOTDIR",
    "ZIPOPT", "shell_escape",
})  # fmt: skip
"""Variables that make a later program run, load, read or trust something else."""
STEERING_PREFIXES: Final = (
    "ANSIBLE_", "AWS_", "BASH_", "BUNDLE_", "CARGO_", "CCACHE_", "CLOUDSDK_", "COLLECT_GCC", "COMPlus_",
    "CONDA_", "CORECLR_", "COVERAGE_", "CURL_", "DEBUGINFOD", "DOCKER_", "DOTNET_", "DYLD_", "ESLINT_",
    "GCC_", "GEM_", "GH_", "GIT_", "GNUPG", "GPG_", "GRADLE_", "HARNESS_", "HELM_", "JAVA", "JDK_", "JEST_",
    "KUBE", "LD_", "LESS", "MAIL", "MAKE", "MALLOC_", "MAVEN_", "MVNW_", "MYPY", "NODE_", "NPM_", "NVM_",
    "OPENSSL_", "PERL", "PIPENV_", "PIP_", "PNPM_", "POETRY_", "PRETTIER_", "PYENV_", "PYLINT", "PYTEST",
    "PYTHON", "RBENV_", "RUBY", "RUFF_", "RUSTC", "RUSTDOC", "RUSTFMT", "RUSTUP_", "SSH_", "SUDO_",
    "SYSTEMD_", "TERM", "TF_", "TOX_", "TWINE_", "UV_", "VAULT_", "VIRTUAL_ENV", "VITEST", "WORKBENCH_",
    "XDG_", "YARN_", "ZSH_", "_JAVA", "npm_",
)  # fmt: skip
"""Prefixes of more such variables, of whole families of programs."""
STEERING_SUFFIXES: Final = (
    "ASKPASS", "BROWSER", "CONFIG_FILE", "EDITOR", "FLAGS", "LAUNCHER", "LINKER", "PAGER", "PATH",
    "PRELOAD", "RC", "SHELL", "WRAPPER", "_ARGS", "_BIN", "_CMD", "_COMMAND", "_CONFIG", "_EXEC",
    "_EXECUTABLE", "_HOME", "_HOOK", "_HOOKS", "_INIT", "_INTERPRETER", "_LIBRARY", "_LOADER", "_MODULE",
    "_OPTIONS", "_OPTS", "_OVERRIDE", "_PLUGIN", "_PLUGINS", "_PROFILE", "_PROGRAM", "_PROXY", "_RCFILE",
    "_RUNNER", "_SCRIPT", "_proxy",
)  # fmt: skip
ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^]]*\])?\+?=")
"""The beginning of a word that sets a variable, or a member of an array."""
_VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LOOP_VARIABLE: Final = re.compile(r"[a-z]")
_HARMLESS_VALUE: Final = re.compile(r"[A-Za-z0-9_.,:+@%-]*")
_TIME_ZONE: Final = re.compile(r"(?:[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+){0,2})?")


def assigned_name(assignment: str) -> str:
    """Return the variable that `NAME=value` or `NAME+=value` sets."""
    return assignment.partition("=")[0].removesuffix("+")


def variable_risk(name: str) -> str | None:
    """Return why a variable is never set without asking; None if a pattern may spell it out."""
    if not _VARIABLE_NAME.fullmatch(name):
        return "an array or another assignment that evaluates"
    if name in HARMLESS_VARIABLES:
        return None
    if (
        name in STEERING_VARIABLES
        or name.upper() in STEERING_VARIABLES
        or name.startswith(STEERING_PREFIXES)
        or name.endswith(STEERING_SUFFIXES)
    ):
        return f"{name} makes later programs run or load something else"
    return None


def is_harmless_assignment(assignment: str) -> bool:
    """Say whether an assignment, quoted or not, changes words on the screen at most.

    No value is a path: a locale, a terminal or a time zone that is one is read as a file.
    """
    name, equals, value = assignment.partition("=")
    if not equals or name not in HARMLESS_VARIABLES:
        return False
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    return (_TIME_ZONE if name == "TZ" else _HARMLESS_VALUE).fullmatch(value) is not None


def assignment_risk(assignment: str) -> str | None:
    """Return why no pattern can spell out an assignment, or a loop's variable, that stands alone."""
    name = assigned_name(assignment)
    if why := variable_risk(name):
        return why
    if is_harmless_assignment(assignment) or _LOOP_VARIABLE.fullmatch(assignment):
        return None
    return f"{name} is set, and later programs may obey it"
