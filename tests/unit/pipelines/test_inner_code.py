"""Values that an inner interpreter reads: refused forms run a payload, accepted ones run none, in real shells."""

import random
import shutil

import pytest

from tests.support.sizes import size
from tests.support.tables import each_row
from tests.unit.pipelines import inner_forms as forms
from workbench.pipelines.inner_code import FAILURE_NAME, inner_places
from workbench.pipelines.inner_readers import safe_form
from workbench.pipelines.templates import command_pieces

SEED = 20_261_128
PROJECT = {"project.test_command": "sh -c 'go vet && go test'", "project.name": "shop"}


def places(text):
    return {place.name: place for place in inner_places(command_pieces(text, PROJECT.get))}


def reader(text):
    place = places(text).get("x")
    return "" if place is None else place.reader


@each_row(
    ("form", "payload", "wanted"),
    [
        ('sh -c "echo {{ x }}"', "$(touch PWNED)", "sh -c"),
        ("bash -c 'echo {{ x }}'", "; touch PWNED", "bash -c"),
        ("eval echo {{ x }}", "; touch PWNED", "eval"),
        ("bash -c '[[ {{ x }} -gt 3 ]]'", "$(touch PWNED)", "bash -c"),
        ("[[ {{ x }} -gt 3 ]]", "a[$(touch PWNED)]", "arithmetic in [[ ]]"),
        ("test -v {{ x }}", "a[$(touch PWNED)]", "test -v"),
        ("echo $(( {{ x }} ))", "a[$(touch PWNED)]", "arithmetic"),
        ("n={{ x }}; echo $((n + 1))", "a[$(touch PWNED)]", "arithmetic"),
        ("printf -v {{ x }} a", "a[$(touch PWNED)]", "printf -v"),
        ("! declare -i n; n={{ x }}", "a[$(touch PWNED)]", "arithmetic"),
        ("w={{ x }}; ! (( 1 + w ))", "a[$(touch PWNED)]", "arithmetic"),
        ("let {{ x }}", "a[$(touch PWNED)]", "let"),
        ("sh <<E\necho {{ x }}\nE", "$(touch PWNED)", "sh, from its input"),
        ("sh <<'E'\neval {{ x }}\nE", "touch PWNED", "eval"),
        ("bash <<< {{ x }}", "touch PWNED", "bash, from its input"),
        ("echo {{ x }} | sh", "touch PWNED", "sh, from its input"),
        ("trap 'echo {{ x }}' EXIT", "$(touch PWNED)", "trap"),
        ("echo a | xargs sh -c 'echo {{ x }}'", "$(touch PWNED)", "sh -c"),
        ("echo {{ x }} | xargs -I{} sh -c 'echo {}'", "$(touch PWNED)", "sh -c"),
        ("python3 -c \"print('{{ x }}')\"", "');__import__('os').system('touch PWNED');('", "python -c"),
        ("awk \"BEGIN {print \\\"{{ x }}\\\"}\"", '"; system("touch PWNED"); "', "awk"),
        ("perl -e 'print \"{{ x }}\"'", '".system("touch PWNED")."', "perl -e"),
        ("ruby -e 'puts \"{{ x }}\"'", '#{system("touch PWNED")}', "ruby -e"),
        ("node -e '{{ x }}'", "require('child_process').execSync('touch PWNED')", "node -e"),
        ("sed 's/a/{{ x }}/' script", "x/;1e touch PWNED\n#", "sed"),
        ("sed -e p {{ x }} script", "-e1e touch PWNED", "sed"),
        ("find . -maxdepth 0 -exec sh -c 'echo {{ x }}' \\;", "$(touch PWNED)", "sh -c"),
        ("env A=1 timeout 5 nice sh -c 'echo {{ x }}'", "$(touch PWNED)", "sh -c"),
        ("env {{ x }}", "-Ssh -c 'touch PWNED'", "the shell, as the name of a program"),
        ("v={{ x }}; eval \"$v\"", "touch PWNED", "eval"),
        ("f() { eval \"$1\"; }; f {{ x }}", "touch PWNED", "eval"),
        ("sh -c 'eval \"$1\"' _ {{ x }}", "touch PWNED", "eval"),
        ("for i in {{ x }}; do sh -c \"$i\"; done", "touch PWNED", "sh -c"),
        ("while read -r l; do eval \"$l\"; done <<E\n{{ x }}\nE", "$(touch PWNED)", "eval"),
        ("echo {{ x }} > f.sh; sh f.sh", "touch PWNED", "sh, as the name of a script"),
        ("make -f mk {{ x }} show", "--eval=$(shell touch PWNED)", "make"),
        ("sqlite3 :memory: {{ x }}", ".shell touch PWNED", "sqlite3"),
        ("V={{ x }} python3 -c 'import os; os.system(os.environ[\"V\"])'", "touch PWNED", "code for python that may run it"),
        ("{{ x }}", "./evil", "the shell, as the name of a program"),
        ("v={{ x }}; find . $v", "-exec touch PWNED ;", "find"),
        ("flock lock -c 'echo {{ x }}'", "$(touch PWNED)", "flock, as an option"),
        ("CMD='bash -c'; $CMD {{ x }}", "touch PWNED", "bash -c"),
    ],
)  # fmt: skip
def test_a_form_in_which_a_payload_runs_is_found(form, payload, wanted):
    assert reader(form).startswith(wanted)
    if shutil.which(form.split()[0]) or form.split()[0] not in ("ruby", "node", "sqlite3", "perl", "make"):
        assert forms.fires(form, payload, "bash"), "the form is harmless after all"


@each_row(
    "form",
    [
        "echo {{ x }}", "echo \"{{ x }}\" '{{ x }}'", "cat > f <<E\n{{ x }}\nE", "git commit -m \"fix {{ x }}\"",
        "gh pr create --title {{ x }} --body '{{ x }}'", "jq --arg v {{ x }} '.[$v]' f.json",
        "sh -c 'echo \"$1\"' _ {{ x }}", "bash -euc 'echo \"$1\"' _ {{ x }}", "bash -s -- {{ x }} <<'E'\necho \"$1\"\nE",
        "python3 -c 'import sys; print(sys.argv[1])' {{ x }}", "perl -e 'print $ARGV[0]' -- {{ x }}",
        "ruby -e 'puts ARGV[0]' -- {{ x }}", "node -e 'console.log(process.argv[1])' -- {{ x }}",
        "V={{ x }} awk 'BEGIN {print ENVIRON[\"V\"]}'", "v={{ x }}; trap 'echo \"$v\"' EXIT",
        "printf '%s\\n' {{ x }} | ssh host 'IFS= read -r v; echo \"$v\"'", "[ {{ x }} -gt 3 ]", "expr {{ x }} + 1",
        "./deploy.sh {{ x }}", "timeout {{ x }} make", "find . -name {{ x }} -print", "grep -e {{ x }} f",
        "sh <<'E'\necho {{ x }}\nE", "if [ -n \"{{ x }}\" ]; then echo {{ x }} >> log; fi",
        "echo {{ x }} | while read -r l; do echo \"$l\"; done", "echo {{ x }} | xargs -n1 ./build.sh",
        "case {{ x }} in a) echo a;; *) echo b;; esac", "docker run -e V={{ x }} image", "psql -v v={{ x }} <<'SQL'\nSELECT :'v'\nSQL", "V={{ x }} make show",
        "{{ project.test_command }} {{ x }}", "{{ project.test_command }} | tee log",
    ],
)  # fmt: skip
def test_an_ordinary_form_is_not_found(form):
    assert places(form) == {}


@each_row(
    "form",
    [
        "echo ${ {{ x }}", "\"$TOOL\" -c {{ x }}", "echo {{ x }} | $READER",
        "bash -c \"cd $DIR && echo \\\"\\$1\\\"\" _ {{ x }}", "tool -c {{ x }}", "tool --exec {{ x }}",
        "while read -r l; do eval \"$l\"; done <<E\n\\\"{{ x }}\\\"\nE", "! for i in {{ x }}; do eval $i; done",
        "echo " + "a" * 200_000 + "\neval {{ x }}", "python3 script.py -c {{ x }}",
    ],
)  # fmt: skip
def test_what_cannot_be_read_for_certain_is_found_and_marked(form):
    assert not places(form)["x"].is_certain


def test_scripts_within_scripts_are_read_to_a_depth_and_uncertain_below():
    text = 'eval "$1"'
    for _ in range(3):
        text = f'sh -c {forms_quoted(text)} _ "$1"'
    assert places(f"set -- {{{{ x }}}}; {text}")["x"].is_certain
    for _ in range(4):
        text = f'sh -c {forms_quoted(text)} _ "$1"'
    assert not places(f"set -- {{{{ x }}}}; {text}")["x"].is_certain


def forms_quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def test_a_text_of_the_manifest_is_found_only_inside_of_another_interpreter():
    assert places('sh -c "{{ project.name }}"').keys() == {"project.name"}
    assert places("{{ project.test_command }}; eval {{ project.name }}").keys() == {"project.name"}


def test_why_an_earlier_step_failed_counts_as_a_value():
    assert places('sh -c "echo $WORKBENCH_LAST_FAILURE"').keys() == {FAILURE_NAME}
    assert places('echo "$WORKBENCH_LAST_FAILURE"') == {}


@each_row(
    ("form", "wanted"),
    [
        ("bash -c '{{ x }}'", "bash -c '… \"$1\" …' _ {{ x }}"),
        ("python3.11 -c '{{ x }}'", "python3 -c '… sys.argv[1] …' {{ x }}"),
        ("echo {{ x }} | sh", "sh -c '… \"$1\" …' _ {{ x }}"),
        ("awk '{{ x }}'", "V={{ x }} awk '… ENVIRON[\"V\"] …'"),
        ("echo $(( {{ x }} ))", "[ {{ x }} -gt 3 ], or expr {{ x }} + 1"),
        ("psql -c {{ x }}", "psql -v v={{ x }} <<'SQL', with :'v' in it"),
        ("gdb {{ x }}", "sh -c '… \"$1\" …' _ {{ x }}"),
    ],
)
def test_the_safe_form_fits_what_reads_the_value(form, wanted):
    assert safe_form(reader(form), "x") == wanted


@each_row(
    ("text", "wanted"),
    [
        ('echo "$(echo {{ x }})"', 'echo "$(echo "${WORKBENCH_VALUE_1}")"'),
        ('echo "$(f "{{ x }}")" {{ x }}', 'echo "$(f "${WORKBENCH_VALUE_1}")" "${WORKBENCH_VALUE_2}"'),
        (
            'echo "$(( {{ x }} + (1) ))" {{ x }}',
            'echo "$(( ${WORKBENCH_VALUE_1} + (1) ))" "${WORKBENCH_VALUE_2}"',
        ),
        ("(echo '(' {{ x }}) '{{ x }}'", "(echo '(' \"${WORKBENCH_VALUE_1}\") ''\"${WORKBENCH_VALUE_2}\"''"),
        ("echo $(echo # note )\n{{ x }})", 'echo $(echo # note )\n"${WORKBENCH_VALUE_1}")'),
    ],
)
def test_a_value_within_a_substitution_stays_one_word(text, wanted):
    assert "".join(piece.text for piece in command_pieces(text, lambda name: None)) == wanted


def draws(seed, count):
    chance = random.Random(seed)
    for _ in range(count):
        form = forms.draw_form(chance)
        yield form, chance.choice(forms.PAYLOADS), chance.choice(forms.SHELLS)


def test_no_payload_runs_in_a_drawn_form_that_is_accepted():
    count = size("WORKBENCH_INNER_RUNS", 300, 60_000)
    accepted = [row for row in draws(SEED, count) if forms.is_accepted(row[0])]
    assert len(accepted) > count / 5
    assert [row for row in accepted if forms.fires(*row)] == []


@pytest.mark.campaign
def test_no_payload_of_all_runs_in_a_form_of_the_table_that_is_accepted():
    cores = [core.replace("@@", "{{ x }}") for core in forms.CODES]
    cores += [f"printf '%s\\n' {{{{ x }}}} | {reader}" for reader in forms.PIPED]
    rows = [(form, payload, shell) for form in filter(forms.is_accepted, cores)
            for payload in forms.PAYLOADS for shell in forms.SHELLS]  # fmt: skip
    assert [row for row in rows if forms.fires(*row)] == []


def test_the_drawn_forms_are_dangerous_where_they_are_refused():
    refused = [row for row in draws(SEED + 1, 400) if not forms.is_accepted(row[0])]
    assert sum(forms.fires(*row) for row in refused[:150]) >= 5
