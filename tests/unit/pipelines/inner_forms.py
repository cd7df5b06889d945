"""Forms of commands with one value, payloads for it, and a real shell that runs both in a throw-away folder."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from workbench.pipelines.inner_code import inner_places
from workbench.pipelines.templates import command_pieces, shell_command

SHELLS = ("dash", "bash")
MADE = "PWNED"
PATH = "/usr/local/bin:/usr/bin:/bin"
RUN = f"touch {MADE}"
PAYLOADS = (
    RUN, f"$({RUN})", f"`{RUN}`", f"; {RUN}", f"a; {RUN}; b", f'"; {RUN}; "', f"'; {RUN}; '", f"\n{RUN}\n",
    f'"$({RUN})"', f"'$({RUN})'", f"a[$({RUN})]", f"a[$({RUN})]=1", f"x | {RUN}", f"&& {RUN}", f"}}; {RUN}; {{",
    f"__import__('os').system('{RUN}')", f"');__import__('os').system('{RUN}');('",
    f'");__import__("os").system("{RUN}");("', f'".system("{RUN}")."', f"'.system('{RUN}').'",
    f'system("{RUN}")', f"'; system(\"{RUN}\"); '", f'"; system("{RUN}"); "', f'#{{system("{RUN}")}}',
    f"');require('child_process').execSync('{RUN}');('", f"require('child_process').execSync('{RUN}')",
    f"1e {RUN}", f"e {RUN}", f"x/;1e {RUN}\n#", f"x/e;s/^/{RUN}/e;s/x", f"-e1e {RUN}", f"-esystem('{RUN}')",
    f"-e`{RUN}`", f"-cimport os;os.system('{RUN}')", f"--eval=require('child_process').execSync('{RUN}')",
    f"-va[$({RUN})]", f"$(shell {RUN})", f"x=$(shell {RUN})", f"--eval=$(shell {RUN})", f".shell {RUN}",
    f"'||writefile('{MADE}','x')||'", f"writefile('{MADE}','x')", f"!{RUN}", f"|{RUN}", f"{RUN}|",
    "./evil", "evil", f". -exec {RUN} ;", f"-exec {RUN} ;", f"-S sh -c '{RUN}'", f"-Ssh -c '{RUN}'",
    f"1 sh -c '{RUN}'", f"-oProxyCommand={RUN}", f"PATH=. {RUN}", "sh", "-v a[`" + RUN + "`]",
)  # fmt: skip
"""Each makes a file where something reads it as code of one kind or another."""

QUOTED = ("{{ x }}", '"{{ x }}"', "'{{ x }}'", '\\"{{ x }}\\"', "a{{ x }}b")
CODES = (
    "sh -c '@@'", 'sh -c "@@"', "bash -c '@@'", "dash -ec 'echo @@'", "bash -c 'echo @@'", 'bash -c "echo @@"',
    "bash -c '[[ @@ -gt 3 ]]'", "sh -c 'echo \"$1\"' _ @@", "bash -c 'echo \"$@\"' _ @@", "sh -c 'eval \"$1\"' _ @@",
    "bash -c '[[ $1 -gt 3 ]]' _ @@", "bash -c 'echo $(($1))' _ @@", "sh -c '$1' _ @@", "sh -c 'echo $1' @@",
    "sh -c 'sh -c \"$1\"' _ @@", "sh @@", "bash ./script @@", "sh script @@", "bash -s -- @@ <script",
    "eval @@", "eval echo @@", "eval 'echo @@'", "trap @@ EXIT", "trap 'echo @@' EXIT", "source @@", ". @@",
    "[[ @@ -gt 3 ]]", "[[ -v @@ ]]", "[[ @@ = a ]]", "[ @@ -gt 3 ]", "[ @@ = a ]", "[ -n @@ ]", "test -v @@",
    "test @@ -lt 2", "echo $(( @@ ))", "echo $(( @@ + 1 ))", "(( @@ ))", "let @@", "let n=@@", "printf -v @@ a",
    "printf @@", "printf %s @@", "printf '%s\\n' @@", "printf -- @@", "read @@ <script", "unset @@", "export @@",
    "export V=@@", "declare @@", "declare -i n=@@", "a=(1 2); echo ${a[@@]}", "a=abc; echo ${a:@@:1}",
    "v=@@; echo ${!v}", "v=@@; echo ${v@P}", "v=@@; echo $v", "v=@@; echo \"${v:-a}\"", "v=@@; n=v; echo $((v))",
    "set -- @@; echo \"$1\"", "set -- @@; eval \"$1\"", "set -- @@; shift; echo $#", "alias l=@@", "mapfile @@ <script",
    "python3 -c '@@'", 'python3 -c "@@"', "python3 -c \"print('@@')\"", "python3 -c 'import sys; print(sys.argv[1])' @@",
    "python3 -c 'import sys,os; os.system(sys.argv[1])' @@", "python3 -c 'import sys; exec(sys.argv[1])' @@",
    "python3 @@", "python3 -m json.tool @@", "python3 -m timeit @@", "V=@@ python3 -c 'import os; print(os.environ[\"V\"])'",
    "V=@@ python3 -c 'import os; os.system(os.environ[\"V\"])'", "python3 script.py @@",
    "perl -e '@@'", "perl -e 'print \"@@\"'", "perl -e 'print @ARGV' @@", "perl -e 'print @ARGV' -- @@",
    "perl -e 'print `$ARGV[0]`' -- @@", "perl -ne 'print if /x/' @@", "perl -ne print -- @@", "perl -e 'while (<>) {print}' -- @@", "perl -I lib -e '@@'", "perl @@",
    "ruby -e 'puts \"@@\"'", "ruby -e 'puts ARGV' -- @@", "ruby -e 'puts ARGV' @@", "ruby -e 'system(ARGV[0])' -- @@",
    "node -e '@@'", "node -e \"console.log('@@')\"", "node -e 'console.log(process.argv[1])' -- @@",
    "node -p 'process.argv[1]' @@", "node -p 'eval(process.argv[1])' -- @@",
    "awk '@@'", "awk \"BEGIN {print \\\"@@\\\"}\"", "awk 'BEGIN {print ENVIRON[\"V\"]}' @@", "awk 'BEGIN{}' @@ script",
    "V=@@ awk 'BEGIN {print ENVIRON[\"V\"]}'", "V=@@ awk 'BEGIN {system(ENVIRON[\"V\"])}'",
    "awk -v v=@@ 'BEGIN {print v}'", "awk -v v=@@ 'BEGIN {print | v}'", "awk -f @@ script", "awk @@ script",
    "sed 's/a/@@/' script", "sed -e @@ script", "sed @@ script", "sed -n 1p @@", "sed -n 1p -- @@", "sed -f @@ script",
    "sed -n 1p ./@@", "sqlite3 :memory: \"SELECT '@@'\"", "sqlite3 :memory: @@", "make -f mk @@", "make -f mk V=@@",
    "V=@@ make -f mk show", "jq -n --arg v @@ '$v'", "bc <<< @@", "tclsh @@",
    "env @@", "env @@ ls", "env V=@@ sh -c 'echo \"$V\"'", "env V=@@ sh -c 'eval \"$V\"'", "env -u @@ ls",
    "timeout @@ ls", "timeout 5 @@", "timeout 5 sh -c 'echo @@'", "nice -n @@ ls", "nice @@", "nohup @@", "exec @@",
    "command @@", "command -v @@", "command sh -c 'echo @@'", "env A=1 timeout 5 nice sh -c 'echo @@'", "setsid @@",
    "find . -maxdepth 0 -name @@", "find @@ -maxdepth 0", "find . -maxdepth 0 -exec sh -c 'echo @@' \\;",
    "find . -maxdepth 0 -exec echo @@ {} +", "find . -maxdepth 0 -exec @@ \\;",
    "find . -maxdepth 0 -exec sh -c 'echo \"$1\"' _ @@ \\;", "find @@ -maxdepth 0 -exec sh -c 'echo {}' \\;",
    "echo a | xargs sh -c 'echo @@'", "echo a | xargs sh -c 'echo \"$1\"' _ @@", "echo a | xargs @@",
    "echo a | xargs -n1 echo @@", "echo a | xargs -I% sh -c 'echo % @@'", "flock lock sh -c 'echo @@'",
    "flock lock -c 'echo @@'", "script -qc 'echo @@' /dev/null", "ssh -oBatchMode=yes @@ true", "git -c alias.x=@@ x",
    "git -c alias.x='!echo @@' x", "git log --format=@@", "grep -e @@ script", "basename -- @@", "expr @@ : a",
    "cut -d, -f1 @@", "case @@ in a) echo;; *) echo \"n\";; esac", "PATH=@@:$PATH; evil", "BASH_ENV=@@ bash -c true",
    "@@", "@@ a b", "./script @@", "cp script @@", "echo @@", "echo \"$(echo @@)\"", "sh -c \"$(echo @@)\"",
    "echo `echo @@`", "eval \"echo $(echo @@)\"", "echo @@ > f.sh; sh f.sh", "echo @@ > f; cat f", "echo @@ | tee f >t; sh f",
    "CMD=sh; $CMD -c 'echo @@'", "CMD='bash -c'; $CMD @@", "SQ=eval; $SQ @@", "if true; then sh -c @@; fi",
    "f() { eval \"$1\"; }; f @@", "f() { echo \"$1\"; }; f @@", "f() { sh; }; echo @@ | f", "f() { \"$@\"; }; f @@",
    "for i in @@; do eval $i; done", "for i in @@; do echo $i; done", "while read -r l; do eval \"$l\"; done <<E\n@@\nE",
    "while read -r l; do echo \"$l\"; done <<E\n@@\nE", "for ((i=@@;i<1;i++)); do :; done",
    "sh <<E\n@@\nE", "sh <<E\necho @@\nE", "sh <<'E'\necho @@\nE", "sh <<'E'\neval @@\nE", "bash <<'E'\n[[ @@ -gt 1 ]]\nE",
    "cat <<E\n@@\nE", "cat <<E | sh\n@@\nE", "cat <<'E' | sh\neval @@\nE", "cat <<E > f.sh\n@@\nE\nsh f.sh",
    "python3 <<E\nprint('@@')\nE", "python3 - <<E\n@@\nE", "bash <<< @@", "cat <<< @@", "bash < <(echo @@)", "bash <(echo @@)",
    "cat <(echo @@)", "python3 - @@ <<'E'\nimport sys; print(sys.argv[1])\nE", "sh -s -- @@ <<'E'\necho \"$1\"\nE",
    "sh -s @@ <<'E'\neval \"$1\"\nE", "n=@@; [ \"$n\" -gt 3 ]", "n=@@; [[ n -gt 3 ]]", "n=@@; echo $((n+1))", "declare -i n; n=@@",
)  # fmt: skip
"""Commands with `@@` for the value."""
PIPED = (
    "sh", "bash", "sh -s", "cat", "cat | sh", "xargs echo", "xargs", "xargs env", "xargs sh -c 'echo \"$1\"' _",
    "xargs -I{} sh -c 'echo {}'", "xargs -I% echo %", "python3", "python3 -", "perl", "ruby", "node", "awk '{print}'",
    "sed p", "sh -c cat", "sh -c sh", "sh -c 'read -r l; eval \"$l\"'", "sh -c 'read -r l; echo \"$l\"'",
    "while read -r l; do echo \"$l\"; done", "while read -r l; do eval \"$l\"; done", "sqlite3 :memory:", "bc",
    "python3 -c 'import sys; print(sys.stdin.read())'", "python3 -c 'import sys; exec(sys.stdin.read())'",
    "make -f -", "tee f | sh", "grep a", "timeout 5 sh", "env A=1 bash -e", "(cat; echo) | sh", "if read -r l; then echo; fi",
    "tclsh", "xargs ./script", "xargs timeout 5", "{ read -r l; sh -c \"$l\"; }",
)  # fmt: skip
"""Commands that get the value as their input."""
AROUND = (
    "~", "~", "~", "(~)", "{ ~; }", "if true; then ~; fi", "true && ~", "false || ~", "! ~", "x=$(~); echo done",
    "echo \"$(~)\"", "~ 2>/dev/null", "for q in 1; do ~; done", "f() { ~; }; f", "~ | cat", "true; ~",
    "case a in a) ~;; esac", "# note\n~", "cd . && ~ || true", "time ~", "~ &\nwait", "while ~; do break; done",
    "until ~; do break; done", "if ! ~; then :; fi", "[ -n a ] && ~", "function g { ~; }; g", "A=1 ~",
)  # fmt: skip
"""What stands around a command, which is `~`."""


def draw_form(chance):
    """Return a command with one value."""
    if chance.random() < 0.25:
        source = chance.choice(("echo @@", "printf '%s\\n' @@", "printf %s @@", "cat <<E\n@@\nE"))
        reader = chance.choice(PIPED)
        is_document = source.startswith("cat <<")
        core = source.replace("cat <<E", f"cat <<E | {reader}") if is_document else f"{source} | {reader}"
    else:
        core = chance.choice(CODES)
    return _around(chance, _with_value(chance, core))


def _with_value(chance, core):
    """Put the value in, as it is or through a variable of the command."""
    way = chance.random()
    if way < 0.6 or "'@@'" in core:
        return core.replace("@@", "{{ x }}") if way < 0.3 else core.replace("@@", chance.choice(QUOTED))
    return "w={{ x }}\n" + core.replace("@@", chance.choice(('"$w"', "$w", "${w}")))


def _around(chance, core):
    around = chance.choice(AROUND)
    if "<<" in core or around.count("~") > 1:
        return core
    before, newline, last = core.rpartition("\n")
    return before + newline + around.replace("~", last)


def is_accepted(form):
    """Return whether the value may be anything, as far as the check is concerned."""
    return not inner_places(command_pieces(form, lambda name: None))


def make_folder():
    """Return a folder with a script that is not to run, and files that commands name."""
    folder = Path(tempfile.mkdtemp(prefix="inner-"))
    (folder / "evil").write_text(f"#!/bin/sh\n{RUN}\n")
    (folder / "evil").chmod(0o755)
    (folder / "script").write_text("echo a\n")
    (folder / "script").chmod(0o755)
    (folder / "script.py").write_text("print(1)\n")
    (folder / "mk").write_text('show:\n\t@echo "$$V"\n')
    return folder


def fires(form, payload, shell):
    """Return whether a payload runs in a form."""
    source, variables = shell_command(form, lambda name: payload, lambda name: None)
    folder = make_folder()
    environment = {"PATH": PATH, "HOME": str(folder), "LC_ALL": "C.UTF-8", **variables}
    try:
        subprocess.run(
            [shell, "-c", source], cwd=folder, env=environment, timeout=20, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        pass
    finally:
        has_run = (folder / MADE).exists()
        shutil.rmtree(folder, ignore_errors=True)
    return has_run
