"""The scripts of awk and sed: real ones say what they write, and every other reading asks."""

import shutil
import subprocess

import pytest

from tests.support.tables import each_row
from tests.support.waits import PATIENCE
from workbench.policy.shell.sed_awk_scripts import awk_risk, sed_risk

AWKS = [name for name in ("mawk", "gawk") if shutil.which(name)]
WRITING = [
    'BEGIN{print "payload #",\n\n"y" > "f"}', 'BEGIN{print 1 &&\n\n\n2 > "f"}', 'BEGIN{print 0 ||\n \n2 > "f"}',
    'BEGIN{print "a", # why\n\n# and why\n"b" > "f"}', 'BEGIN{print(1) > "f"}', 'BEGIN{print (1)(2) > "f"}', 'BEGIN{print "a" > "f"}',
    'BEGIN{printf "a" >> "f"}', 'BEGIN{printf("%s", "a") >"f"}', 'BEGIN{print "a" | "cat > f"}', 'BEGIN{"echo > f" | getline x}',
    'BEGIN{system("echo > f")}', 'BEGIN{x=1system("echo > f")}', 'BEGIN{x=1e2system("echo > f")}', 'BEGIN{print /a;b/ > "f"}',
    'BEGIN{print - /a;b/ > "f"}', 'BEGIN{print $/x;y/ > "f"}', 'BEGIN{if(1)/;/;print 1/2 > "f"}', 'BEGIN{x[1];print 1 in /* */x > "f"}',
    'BEGIN{if (1)\n\nprint 1 > "f"}', 'BEGIN{if (0) x; else\n\nprint 1 > "f"}', 'BEGIN{do\n\nprint 1 > "f"\nwhile (0)}',
    'function g(x) {\n\nprint x > "f"}BEGIN{g(1)}', 'BEGIN{print 1>(2>1)}', 'BEGIN{x="f";print 1>x}', 'BEGIN{print length /2/ 1 > "f"}',
    'BEGIN {\n print "x" ,\n\n\n\n "y" , \n "z" > \n "f" }', 'BEGIN{while(i++<1)/}/;print 1 > "f"}',
    'BEGIN{print 4/2/1 > "f"}', 'BEGIN{a=1;print a++ /a;b/ > "f"}', 'BEGIN{print (1)/2 > "f"}',
]  # fmt: skip
"""Some are no awk at all; then no awk writes either."""

ONLY_GAWK = [
    'BEGIN{ARGV[1]="a"}', 'BEGIN{ARGC=2}',
    'BEGIN{print 1 ?\n"x" : "y" > "f"}', 'BEGIN{print 1 ? "x" :\n"y" > "f"}', 'BEGIN{x=0xasystem("echo > f")}', '@load "x"', '@include "x"',
    'BEGIN{print 1 |& "cat > f"}', 'BEGIN{SYMTAB["x"]=1}', 'BEGIN{f="system";@f("echo > f")}', 'BEGIN{PROCINFO["x"]=1}',
]  # fmt: skip
HARMLESS = [
    "{print $1}", "$3 > 5 {print $1}", "{if ($3 > 5) print; else print $2}", "NR>1", "NR > 1 && NR <= 5", "{print ($1 > 2)}",
    "{ if ($3 > 5) { s += $1/2; t = $2/3 } } END { print s/NR, t }", "{a[$1]++} END{for (k in a) print k, a[k]/NR}",
    "/^[0-9]+$/{n++} END{print n+0}", '{gsub(/"/, "")}1', '{gsub(/[[:space:]]+/, " "); print}', "length($0) > 80 {print FNR}",
    'BEGIN{FS=","} {printf "%-10s|%5.2f\\n", $1, $2*1e3} # x > y', '{ x = sprintf("%d", $1); y = $2 > 5 }', "!seen[$0]++",
    "{print (a+b)/2; print c/2}", "{$1=$1; print}", "/a/,/b/", "{s+=$NF} END{print s/1024/1024}", "$1 ~ /x/ || $2 > 3",
    "{ print; n++ }\n$3 > 5 { m++ }", "{print $1,\n\n$2}", "{print 1.5e3, .5, 2.}",
    'function f(x) { return /a/ }\n{print f($1)}', '{for (i = 0; i < NF; i++) print $i ">"}',
]  # fmt: skip


@each_row("script", WRITING + ONLY_GAWK)
def test_a_script_of_awk_that_may_write_or_run_something_asks(script):
    assert awk_risk(["awk", script]) is not None


@pytest.mark.parametrize("script", HARMLESS)
@pytest.mark.parametrize("awk", AWKS)
def test_a_script_of_awk_that_only_prints_passes_and_writes_nothing(awk, script, tmp_path):
    assert awk_risk([awk, script]) is None
    done = subprocess.run(
        [awk, script], cwd=tmp_path, input=b"1 2 3\n", capture_output=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "script", ["{if ($1) /x/; else y}", "{x = y++ / 2}", "{print length / 2}", 'BEGIN{print 1 /2;3/1 > "f"}']
)
def test_what_awks_read_in_different_ways_passes_where_neither_writes(script):
    assert awk_risk(["awk", script]) is None


@pytest.mark.parametrize("awk", AWKS)
def test_those_that_ask_are_no_idle_fear(awk, tmp_path):
    wrote = 0
    for number, script in enumerate(WRITING + ONLY_GAWK):
        folder = tmp_path / str(number)
        folder.mkdir()
        subprocess.run(
            [awk, script],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        wrote += bool(list(folder.iterdir()))
    assert wrote > 20


UNSURE = [
    'BEGIN{print "a}', "BEGIN{print 1 \\\n}", "{print 1x}", "{print 0x1f}", "{print /[/]/}", "{print /a", "{print x++ /a;b/}", "{x = /a\n/}",
    "x" * 2001,
]  # fmt: skip


@each_row("script", UNSURE)
def test_a_script_of_awk_that_can_be_read_in_two_ways_asks(script):
    assert awk_risk(["awk", script]) is not None


@each_row(
    "words",
    [["-f", "x"], ["-i", "inplace", "1"], ["-l", "x", "1"], ["--", "BEGIN{print > \"f\"}"], ["-v", "FS=1", "1"], ["-v"], ["-F"], [], ["--"],
     ["-e", "1"], ["-E", "x"], ["--file=x"], ["--include=x", "1"], ["--load=x", "1"], ["-W", "exec", "x"], ["-oF", "1"], ["-dF", "1"],
     ["-pF", "1"], ["--source=1"], ["-f-"], ["-vPROCINFO=1", "1"]],
)  # fmt: skip
def test_options_of_awk_that_load_code_or_write_ask(words):
    assert awk_risk(["awk", *words]) is not None


@pytest.mark.parametrize(
    "words", [["-F,", "1"], ["-F", "\\t", "1"], ["-v", 'x=a"b\\n', "1"], ["-vx=1", "--", "1", "f"]]
)
def test_options_of_awk_that_only_set_a_value_pass(words):
    assert awk_risk(["awk", *words]) is None


@each_row(
    "words",
    [["w f"], ["-n", "p;w f"], ["1e"], ["e id"], ["s/a/b/w f"], ["s/a/b/e"], ["s/a/b/gew f"], ["s/a/b/;r /etc/passwd"], ["R f"], ["W f"],
     ["--expression=w f"], ["--expr=w f"], ["-e", "p", "-e", "w f"], ["-i", "p"], ["-i.bak", "p"], ["--in-place", "p"], ["-f", "x"],
     ["-sni", "p"], ["a\\\nw f\nw f"], ["y/a/b/w f"], ["s/a/b/mw f"], ["s/a/b/Mw f"], ["/x/{w f\n}"], ["1~2w f"], ["$!w f"], ["F;w f"],
     ["p}w f"], ["s,a,b,w f"], ["s/a/[/]w f"], ["s/[/]/b/w f"], ["b x;w f"], [":x w f"], ["{p;p}w f"]],
)  # fmt: skip
def test_a_script_of_sed_that_may_write_or_run_something_asks(words):
    assert sed_risk(["sed", *words]) is not None


@each_row(
    "words", [["-n", "1,5p"], ["s/a/b/g"], ["-e", "s|a|b|I", "-e", "$d"], ["-nE", "/x/,+3p"], ["y/ab/ba/"], ["a text; w f"], ["F"], ["-s", "$="]]
)  # fmt: skip
def test_a_script_of_sed_that_only_prints_passes(words):
    assert sed_risk(["sed", *words]) is None
