"""Snippets of bash, zsh and fish by which ctrl+g turns the line being written into a command.

They put text into the shell's line and run nothing, and remember the last command that failed in variables
of the shell, which only `workbench` is given.
"""

# Each asks with the line as one word behind `--`, takes what stdout said byte for byte, and leaves the line
# as it is where nothing was accepted. What is drawn goes to the terminal by stderr.

from collections.abc import Mapping
from typing import Final

_BASH: Final = r"""# workbench: ctrl+g turns the line into a command; nothing is run.
__workbench_note() {
  local code=$? last
  last=$(HISTTIMEFORMAT='' builtin history 1)
  if [[ $last =~ ^[[:space:]]*([0-9]+)[*]?[[:space:]]+(.*)$ ]] \
    && [[ ${BASH_REMATCH[1]} != "${__workbench_number-}" ]]; then
    __workbench_number=${BASH_REMATCH[1]}
    last=${BASH_REMATCH[2]}
    if ((code != 0 && code != 130)) && [[ $last != 'workbench ask'* ]]; then
      __workbench_last_command=$last __workbench_last_exit=$code
    fi
  fi
  return "$code"
}
workbench() {
  WORKBENCH_LAST_COMMAND=${__workbench_last_command-} WORKBENCH_LAST_EXIT=${__workbench_last_exit-} \
    command workbench "$@"
}
__workbench_ask() {
  local asked
  if asked=$(workbench ask -- "$READLINE_LINE" </dev/tty); then
    READLINE_LINE=$asked
    READLINE_POINT=${#READLINE_LINE}
  fi
}
if [[ ${PROMPT_COMMAND-} != *__workbench_note* ]]; then
  PROMPT_COMMAND="__workbench_note${PROMPT_COMMAND:+; $PROMPT_COMMAND}"
fi
bind -x '"\C-g": __workbench_ask'
"""
_ZSH: Final = r"""# workbench: ctrl+g turns the line into a command; nothing is run.
__workbench_begin() {
  __workbench_running=$1
}
__workbench_note() {
  local code=$?
  if ((code != 0 && code != 130)) && [[ -n $__workbench_running ]] \
    && [[ $__workbench_running != 'workbench ask'* ]]; then
    __workbench_last_command=$__workbench_running __workbench_last_exit=$code
  fi
  __workbench_running=
  return $code
}
workbench() {
  WORKBENCH_LAST_COMMAND=$__workbench_last_command WORKBENCH_LAST_EXIT=$__workbench_last_exit \
    command workbench "$@"
}
__workbench_ask() {
  local asked
  zle -I
  if asked=$(workbench ask -- "$BUFFER" </dev/tty); then
    BUFFER=$asked
    CURSOR=${#BUFFER}
  fi
}
typeset -g __workbench_running= __workbench_last_command= __workbench_last_exit=
autoload -Uz add-zsh-hook
add-zsh-hook preexec __workbench_begin
add-zsh-hook precmd __workbench_note
zle -N __workbench_ask
bindkey '^G' __workbench_ask
"""
_FISH: Final = r"""# workbench: ctrl+g turns the line into a command; nothing is run.
function __workbench_note --on-event fish_postexec
    set -l code $status
    if test $code -ne 0 -a $code -ne 130; and not string match -q 'workbench ask*' -- $argv[1]
        set -g __workbench_last_command $argv[1]
        set -g __workbench_last_exit $code
    end
end
function workbench
    WORKBENCH_LAST_COMMAND="$__workbench_last_command" WORKBENCH_LAST_EXIT="$__workbench_last_exit" \
        command workbench $argv
end
function __workbench_ask
    set -l line (commandline | string collect)
    set -l asked (workbench ask -- "$line" </dev/tty | string collect)
    if test -n "$asked"
        commandline -r -- $asked
    end
    commandline -f repaint
end
bind \cg __workbench_ask
"""
SNIPPETS: Final[Mapping[str, str]] = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def shell_snippet(shell: str) -> str:
    """Return what a shell evaluates at its start."""
    return SNIPPETS[shell]
