"""A grant covers what is known to be harmless: a wildcard no unknown option, and the whole line that is spelled out."""

import re
import subprocess
from functools import cache

import pytest

from tests.support.tables import each_row
from tests.support.waits import PATIENCE
from tests.unit.policy.gate_cases import SHELL
from tests.unit.policy.spelled_commands import SPELLED
from workbench.cli.check import check_command
from workbench.domain.values import PermissionPattern
from workbench.policy.permissions import first_permission_covering
from workbench.policy.shell import command_risk, known_command_match, known_programs
from workbench.policy.shell.analysis import view_command
from workbench.policy.shell.known_command_match import TABLE_WORDS, _table_row, match_known_command
from workbench.policy.shell.known_dev_tools import PACKAGERS
from workbench.policy.shell.known_programs import (
    KNOWN_GIT,
    KNOWN_OPERANDS,
    KNOWN_PROGRAMS,
    KNOWN_VALUES,
    MOST_OPERANDS,
    REQUIRED_OPTIONS,
    VERSION_ALONE,
)
from workbench.policy.shell.risk_lists import RISKY_OPTIONS


def verdict(line, *allow):
    return check_command({"command": line, "allow": list(allow), "deny": []})["verdict"]


def simple(line):
    (only,) = view_command(line).commands
    return only


def is_whole(line):
    """Say whether a pattern has to be the whole line."""
    return [len(each.literal) == len(each.words) for each in view_command(line).commands] == [True]


@each_row(("cause", "line"), SPELLED, ids=[line[:60] for _, line in SPELLED])
def test_no_wildcard_covers_what_is_not_known(cause, line):
    words = re.findall(r"[^ ;]+", line)
    assert verdict(line, *(f"Bash({word} *)" for word in words if "=" not in word)) == "ask", cause
    assert verdict(line, f"Bash({words[0][:2]}*)", "Bash(*)", "Bash", "*") == "ask", cause
    if is_whole(line):
        assert verdict(line, f"Bash({line.rpartition(' ')[0]} *)") == "ask", cause
        assert verdict(line, f"Bash({line[:-1]}*)", f"Bash(*{line[1:]})") == "ask", cause


@each_row(("cause", "line"), SPELLED, ids=[line[:60] for _, line in SPELLED])
def test_the_whole_line_covers_it_unless_it_is_asked_for_always(cause, line):
    seen = view_command(line)
    for each in seen.commands:
        assert (
            first_permission_covering([PermissionPattern(text=f"Bash({each.source})")], SHELL, each)
            is not None
        ), cause
    assert seen.plain or verdict(line, f"Bash({line})") == "ask", cause


# --- the table


def test_a_row_says_nothing_that_is_not_read():
    for key in KNOWN_PROGRAMS:
        assert _table_row(key).words <= TABLE_WORDS, key
    for name in KNOWN_VALUES:
        key, _, option = name.rpartition(" ")
        assert _table_row(key).options[option] in (":", "/", "?"), name
    for key, options in REQUIRED_OPTIONS.items():
        assert options <= set(_table_row(key).options), key
    assert set(KNOWN_OPERANDS) <= set(KNOWN_PROGRAMS)


def test_a_sub_command_has_a_program_that_has_some():
    for key in KNOWN_PROGRAMS:
        program, blank, _ = key.rpartition(" ")
        if blank and not key.endswith(" --"):
            outer = program if program in KNOWN_PROGRAMS else program.rpartition(" ")[0]
            assert "SUB" in _table_row(outer).words, key


def test_no_option_that_runs_a_program_or_loads_code_is_in_the_table():
    both = [
        (key, option)
        for key in RISKY_OPTIONS
        for option in RISKY_OPTIONS[key]
        if key in KNOWN_PROGRAMS and option in _table_row(key).options
    ]
    assert both == []


DANGEROUS = """
git: -c -C --exec-path --git-dir --work-tree -p --paginate --config-env --namespace
git log: --output --ext-diff --textconv -O
git diff: --output --ext-diff --textconv -O
git show: --output --ext-diff --textconv -O
git grep: -O --open-files-in-pager --textconv -f
git rebase: -x --exec -i --interactive --edit-todo -s --strategy
git clone: -c -u --template --upload-pack --config --separate-git-dir --bare --mirror --recurse-submodules
git fetch: --upload-pack -o --server-option --refmap
git pull: --upload-pack
git push: --receive-pack --exec --repo
git ls-remote: --upload-pack --exec -o
git commit: -t --template -p --pathspec-from-file -S --gpg-sign
git tag: -s --sign -u --local-user
git blame: --contents --ignore-revs-file -S
git apply: --apply --reject --unsafe-paths --directory -3 --index --build-fake-ancestor
git archive: -o --output --remote --exec --add-file
git config: -f --file --blob --add --unset --replace-all -e --edit --rename-section
git cat-file: --textconv --filters --batch
git worktree: add
git rev-list: --output
git stash push: --pathspec-from-file
sort: -o --output --compress-program -T --temporary-directory --files0-from --random-source
uniq: --files0-from
wc: --files0-from
du: --files0-from -X --exclude-from
date: -s --set -f --file -r --reference
find: -exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from
fd: -x -X --exec --exec-batch --base-directory --search-path --ignore-file
rg: --pre --pre-glob --hostname-bin -z --search-zip --ignore-file --hyperlink-format
sed: -i --in-place -f --file
awk: -f -i -l -o -p -d --file --include --load --dump-variables --profile --pretty-print -e --source -E --exec
jq: -f -L --from-file --rawfile --slurpfile --args
tree: -o -R --fromfile --output
file: -m -f -C --magic-file --files-from --compile
diff: --to-file --from-file -D --ifdef -X --exclude-from
tar: -x --extract -I -F -P -T --to-command --checkpoint-action --use-compress-program --index-file -u -r -A -g --rmt-command
zip: -T -TT -m -b -@ --out
unzip: -o -d -x -p
gzip: -N -S
curl: -o+ -O -K -T -D -c -J -x -E --config --proxy --proxy-header --unix-socket --resolve --variable --netrc-file --cert --next -n --url
wget: -e -o -a -i -P -x -r -N --config --post-file --body-file --use-askpass --save-cookies --ca-certificate
pytest: -c -o --rootdir --confcutdir --basetemp --junitxml --junit-xml --log-file --pdbcls --pdb --trace --override-ini --cov-config --pastebin
mypy: --python-executable --config-file --cache-dir --custom-typeshed-dir --junit-xml --html-report --txt-report --install-types -c --plugins
tox: -x -c --override --conf --workdir --root --result-json --sdistonly --installpkg
pylint: --rcfile --init-hook --load-plugins --output --ignore-paths --source-roots
flake8: --config --append-config --output-file --tee --format --enable-extensions
coverage report: --rcfile --data-file --contexts
ruff check: -o --output-file --config --cache-dir --add-noqa --watch --stdin-filename
ruff format: --config --cache-dir --stdin-filename
black: --config -c --code -W --stdin-filename --required-version
isort: --settings-path --settings-file --sp --src --formatter
pyright: --pythonpath -p --project --venvpath --typeshedpath --createstub --watch
pip install: --user --break-system-packages -t --target --prefix --root -i --index-url --extra-index-url -f --find-links --config-settings --log --cert --python
pip: --python --log --cert --proxy
uv: --directory --project --config-file --cache-dir
eslint: -c --config -o --output-file --rulesdir --parser --plugin --resolve-plugins-relative-to --cache-location --stdin-filename --flag
prettier: --config --plugin --plugin-search-dir --ignore-path --cache-location --config-precedence --find-config-path
jest: -c --config --rootDir --outputFile --coverageDirectory --reporters --setupFiles --globalSetup --testRunner --env --preset --runner --resolver --transform --cacheDirectory
vitest: -c --config --root -r --outputFile --environment --pool --browser --inspect --dir
mocha: -r --require -R --reporter --config --package --ui --import --extension --node-option
tsc: --outDir --outFile --declarationDir --tsBuildInfoFile --generateTrace --generateCpuProfile --init --plugins --rootDir
cargo test: --config --manifest-path --target-dir -Z -C --target --out-dir --artifact-dir
cargo test --: --logfile -Z
cargo fmt: --manifest-path --message-format
go test: -exec -toolexec -coverprofile -cpuprofile -memprofile -trace -o -outputdir -C -modfile -overlay -vettool -ldflags -gcflags -asmflags -args -c -fuzz
go build: -o -toolexec -ldflags -gcflags -overlay -modfile -buildmode -compiler -pkgdir -installsuffix -C
go list: -toolexec -exec -overlay -modfile -compiled
go vet: -vettool -toolexec
go env: -w -u
gofmt: -cpuprofile
make: -f -I -E -o -W --eval --file --makefile --include-dir --old-file --what-if
ninja: -f -t -d -w
cmake: -P -E -C --install --open --toolchain --graphviz --trace-redirect --profiling-output --debugger -U
ctest: -S -T -D -M -O --script --build-and-test --overwrite --output-log --output-junit -SP -I
gcc: -wrapper -fplugin -B -specs -o -x -include -imacros -dumpdir -aux-info -save-temps -T -Xlinker
mvn: -f -s -gs -t -D -l --file --settings --log-file -Dexec.executable
gradle: -p -I -b -c -g -D -P --init-script --project-dir --include-build
rustfmt: --config --config-path --emit --backup
docker: -H --host --config -c --context --tlscacert
docker build: -o --output --secret --ssh --cache-to --iidfile --metadata-file --build-context --allow
kubectl: --kubeconfig --token -s --server --certificate-authority --as --cache-dir --profile-output
kubectl get: -f --filename -k --kustomize --raw --template --kubeconfig
gh pr view: -w --web
gh auth status: -t --show-token
bat: --pager --map-syntax --config-file
xxd: -o+
rm: --no-preserve-root
cp: -r -R -a -l -S --recursive --archive --backup --parents --attributes-only
chmod: --reference
terraform plan: -out -chdir -var-file -var -state -destroy
pre-commit run: -c --config --files
npm run: --script-shell --node-options --userconfig --prefix --shell
npm install: -g --global --script-shell --prefix --registry --userconfig --git --ignore-scripts+
"""


def test_an_option_that_reaches_further_is_in_no_row():
    for line in DANGEROUS.strip().splitlines():
        key, _, options = line.partition(": ")
        row = _table_row(key)
        for option in options.split():
            assert option.endswith("+") or option not in row.options, (key, option)
            assert option.startswith("-") or f"{key} {option}" not in KNOWN_PROGRAMS


# --- git's own tables


@cache
def options_of(sub):
    done = subprocess.run(
        ["git", *sub.split(), "--git-completion-helper-all"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    return frozenset(done.stdout.split()) if done.returncode == 0 else frozenset()


PARSED = [key for key in KNOWN_GIT if "--" in KNOWN_GIT[key] and key != "git"]
NEWER = {"--exists", "--omit-empty", "--branches", "--empty", "--regexp", "--creation-factor", "--disk-usage"}
"""Options of git that an older one does not have."""


def test_the_options_of_git_are_options_of_git():
    beside = {
        token.rstrip(":?/")
        for token in f"{known_programs._COMMIT_OPTIONS} {known_programs._LOG_OPTIONS} {KNOWN_GIT['git rev-parse']}".split()
    }
    for key in PARSED:
        real = {option.rstrip("=") for option in options_of(key[4:]) | options_of("diff")}
        named = {option for option in _table_row(key).options if option.startswith("--")}
        if options_of(key[4:]) - options_of("diff"):
            assert named - real - beside - NEWER - BESIDE.get(key, set()) == set(), key


BESIDE = {
    "git stash": {"--all", "--include-untracked", "--keep-index", "--no-keep-index", "--staged", "--quiet", "--patch"},
    "git revert": {"--allow-empty", "--ff"}, "git pull": {"--atomic", "--prune-tags", "--write-fetch-head", "--no-write-fetch-head"},
    "git config": {"--all"}, "git archive": {"--format", "--list", "--prefix", "--verbose", "--worktree-attributes"},
}  # fmt: skip
"""Options that git hands on, or hides from its list."""


def test_an_option_of_git_takes_a_value_where_git_says_so():
    for key in PARSED:
        valued = {option[:-1] for option in options_of(key[4:]) if option.endswith("=")}
        bare = {option for option in options_of(key[4:]) if not option.endswith("=")}
        for option, takes in _table_row(key).options.items():
            assert option not in valued or takes in (":", "/", "?"), (key, option)
            assert option not in bare or takes in ("", "?"), (key, option)


def test_every_shortened_option_of_git_asks():
    for key in PARSED:
        table = _table_row(key).options
        words = key.split()
        for option in {name.rstrip("=") for name in options_of(key[4:])} | set(table):
            for end in range(3, len(option)):
                if option.startswith("--") and option[:end] not in table:
                    for line in ([*words, option[:end], "x"], [*words, f"{option[:end]}=x"]):
                        facts = match_known_command("git", line)
                        assert len(facts.literal) == len(line) or facts.spelled, line


# --- reading as the program does


READ = [
    ("ls -la src", {1}), ("grep -rn foo src", {1, 2}), ("grep -rne foo src", {1, 2}), ("grep -efoo src", {1}),
    ("grep -e foo src", {1, 2}), ("grep --regexp=foo src", {1}), ("grep -f list src", {1}), ("grep -- -x src", {1, 2}),
    ("grep --file=list src", set()), ("rg --files src", {1}), ("rg foo src -g *.py", {1, 3, 4}),
    ("sed -n 5p a", {1, 2}), ("sed -e 5p a", {1, 2}), ("awk -F: {print} a", {1, 2}), ("head -n5 a", {1}),
    ("head -n 5 a", {1, 2}), ("head -5 a", {1}), ("tail -n +5 a", {1, 2}), ("echo -n /etc/x", {1, 2}),
    ("git commit -am msg", {2, 3}), ("git commit -mmsg a", {2}), ("git commit -F msg a", {2}), ("git commit -F-", set()),
    ("git commit --message=x a", {2}), ("git commit --file=x", set()), ("git log -S/etc/x -- a", {2, 3}),
    ("git log --format %h a", {2, 3}), ("git push origin main", {2, 3}), ("git branch -u origin/x y", {2, 3, 4}),
    ("git --no-pager log -3", {1, 3}), ("find . -name /x -newer y", {2, 3, 4}), ("find . ( -name x ) ! -empty", {2, 3, 4, 5, 6, 7}),
    ("jq --arg a b . f", {1, 2, 3, 4}), ("tar tf a.tar", {1}), ("tar -tf a.tar", {1}), ("tar tfC a.tar b", set()),
    ("chmod 644 a", {1}), ("curl -s https://x", {1}), ("git clone https://x/y z", {2}), ("go test -run=X ./a", {2}),
    ("go test -run X ./a", {2, 3}), ("make -j4 all", {1}), ("make -C sub all", {1}), ("cargo test x -- --skip y", {3, 4, 5}),
    ("git grep foo a", {2}), ("pip install -r a.txt", {2}), ("test -f a", set()), ("cut -d, -f 1 a", {1, 2, 3}),
    ("gcc -DX -c a.c", {1, 2}), ("git stash push -m x a", {3, 4}),
]  # fmt: skip


@each_row(("line", "text"), READ, ids=[line for line, _ in READ])
def test_words_that_name_no_file_are_known(line, text):
    words = line.split(" ")
    facts = match_known_command(words[0], words)
    assert facts.text == text or (line.startswith("tar tfC") and facts.literal), facts
    assert len(facts.literal) in (0, len(words))


# --- two dashes

FOREIGN = """
find -- . -maxdepth 0 -exec sh -c id ';'
find -- victim -delete
find -- src -name main.py -fprintf .envrc 'touch X'
find -- . -execdir id ';'
find -- . -ok id ';'
find -- . -fls f
find -- . -fprint f
find src -- -delete
find -L -- -delete
find -- . -name x
find -- ( -name x )
ctest -- -S s.cmake
ctest -- x
uniq -- -x src/main.py
uniq -- -x .envrc
uniq -- x
ps -- aux
gcc -- a.c
gcc -- @file
tsc -- a.ts
test -- -v x
xxd -- a
"""
"""Programs that read options behind `--`, or do not know it at all."""


@each_row("line", FOREIGN.strip().splitlines())
def test_two_dashes_ask_where_the_program_does_not_stop_there(line):
    words = line.split()
    narrow = (f"Bash({' '.join(words[:end])} *)" for end in range(1, len(words)))
    assert verdict(line.replace("(", "'('"), f"Bash({words[0]} *)", *narrow) == "ask"


def test_it_is_said_that_two_dashes_are_not_known():
    found = check_command({"command": "find -- . -name x", "allow": ["Bash(find *)"], "deny": []})
    assert found["reason"].endswith(": -- is not known to be harmless, so a pattern has to be the whole line")
    found = check_command({"command": "find -- x -delete", "allow": ["Bash(find *)"], "deny": []})
    assert found["reason"].endswith("find -delete can run programs or write files")


@each_row("key", sorted(key for key in KNOWN_PROGRAMS if not key.endswith(" --")))
def test_two_dashes_are_unknown_unless_the_row_says_what_they_do(key):
    words = key.split()
    needed = [option for option in REQUIRED_OPTIONS.get(key, ()) if not _table_row(key).options[option]]
    line = [*words, *needed[:1], "--", "x"]
    facts = match_known_command(words[0], line)
    place = line.index("--")
    if not _table_row(key).words & {"ANY", "ENDS", "PASSES"}:
        assert facts.unknown == place, facts
        assert len(facts.literal) == len(line)
    elif not KNOWN_OPERANDS.get(key):
        assert facts.unknown is None, facts


@each_row("key", sorted(key for key in KNOWN_PROGRAMS if "PASSES" in _table_row(key).words))
def test_options_for_another_program_are_spelled_out_unless_a_row_has_them(key):
    words = key.split()
    line = [*words, "--", "x", "--zzz", "-Z", "a=b"]
    facts = match_known_command(words[0], line)
    assert {len(words) + 2, len(words) + 3} <= facts.literal
    inner = _table_row(f"{key} --").options if f"{key} --" in KNOWN_PROGRAMS else {}
    for option in inner:
        assert not match_known_command(words[0], [*words, "--", option, "1"]).literal or inner[option]


# --- systems with other tools


@pytest.fixture(params=["darwin", "freebsd14", "openbsd7"])
def bsd(request, monkeypatch):
    monkeypatch.setattr(known_command_match.sys, "platform", request.param)
    command_risk._assess_cached.cache_clear()
    yield
    command_risk._assess_cached.cache_clear()


GNU_ROWS = sorted(key for key in KNOWN_PROGRAMS if "GNU" in _table_row(key).words)


def test_options_of_gnu_are_spelled_out_where_the_tools_are_those_of_bsd(bsd):
    assert {"ls", "find", "grep", "sed", "tar", "sort", "ps"} <= set(GNU_ROWS)
    for name in GNU_ROWS:
        for option in ("-a", "--zzz", *_table_row(name).options):
            facts = match_known_command(name, [name, option, "x"])
            assert 1 in facts.literal, (name, option)
        if name in KNOWN_OPERANDS or name == "tar":
            assert len(match_known_command(name, [name, "x"]).literal) == 2
        else:
            assert match_known_command(name, [name, "x"]).literal == frozenset()


def test_a_tool_of_gnu_by_its_other_name_is_known_there(bsd):
    assert match_known_command("ls", ["gls", "-l"]).literal == frozenset()
    assert match_known_command("ls", ["/opt/bin/gls", "-l"]).literal == frozenset()
    assert match_known_command("ls", ["ls", "-l"]).literal == {1}
    assert match_known_command("git", ["git", "log", "-3"]).literal == frozenset()


def test_the_tools_of_linux_are_known(monkeypatch):
    monkeypatch.setattr(known_command_match.sys, "platform", "linux")
    assert match_known_command("ls", ["ls", "-l"]).literal == frozenset()


# --- operands that name code to fetch

FETCHED = """
mvn org.codehaus.mojo:exec-maven-plugin:3.0.0:exec
mvn org.codehaus.mojo:exec-maven-plugin:exec
mvn -q test a:b:c
mvn -- a:b:c
mvn exec:exec
mvn exec:exec@x
mvn @args
mvn http://x/y
docker build github.com/x/y
docker build git@example.com:x/y
docker build https://x/y.git
docker build example.com:x
npm view owner/name
npm info !./evil src
npm --silent view git+ssh://git@example.com/x
npm view x@github:owner/name
npm i owner/name#main
pnpm add x@owner/name
yarn add x@npm:y
npm install -- owner/name
"""


@each_row("line", FETCHED.strip().splitlines())
def test_an_operand_that_names_code_elsewhere_asks(line):
    words = line.split()
    assert verdict(line, *(f"Bash({' '.join(words[:end])} *)" for end in range(1, len(words)))) == "ask"


@each_row(
    "line",
    [
        "mvn test", "mvn clean verify -q", "mvn dependency:tree", "docker build .", "docker build -t a:1 src",
        "npm view react versions --json", "npm view @types/node@^20 dist.tarball", "yarn add left-pad@1.3",
        "npm i -D typescript@~5.4", "pnpm install ./lib",
    ],
)  # fmt: skip
def test_a_phase_a_goal_a_folder_and_a_package_pass(line):
    words = line.split()
    assert verdict(line, f"Bash({' '.join(words[: 1 + (words[0] == 'docker')])} *)") == "allow"


ENDING = """
awk base64 basename cat cd chmod cksum cmp column comm cp cut date df diff dirname du fd fold grep gzip head
hexdump iconv id join ln ls md5sum mkdir mv nl od paste printenv pwd readlink realpath rev rg rm rmdir sed
sha1sum sha256sum sort stat strings tac tail tee touch tr tree truncate type wc zgrep
"""
ENDING_OF_GIT = """
add annotate apply archive blame branch check-attr check-ignore checkout clean clone commit describe diff
diff-files diff-index diff-tree for-each-ref grep log ls-files ls-remote ls-tree merge merge-base mv name-rev reflog reset restore rev-list rev-parse rm shortlog show show-ref stash-list stash-push stash-save
stash-show status switch tag whatchanged
"""
PASSING = {
    "cmake", "tox",
    *(f"cargo-{name}" for name in ("test", "t", "build", "b", "check", "c", "bench", "run", "r", "clippy", "fmt")),
    *(f"{maker}-{name}" for maker in ("npm", "pnpm", "yarn") for name in ("test", "t", "run", "run-script", "start")),
}  # fmt: skip
"""Rows by what `--` does in them, again: a mark that is put in or taken out has to be put in or taken out twice."""


def rows_with(mark):
    return {key.replace(" ", "-") for key in KNOWN_PROGRAMS if mark in _table_row(key).words}


def test_what_two_dashes_do_is_written_down_twice():
    of_git = {f"git-{name}" for name in ENDING_OF_GIT.split()}
    assert rows_with("ENDS") == set(ENDING.split()) | of_git
    assert rows_with("PASSES") == PASSING
    assert not rows_with("ENDS") & (rows_with("PASSES") | rows_with("ANY"))


@each_row("line", [
    "git log -- a", "git log --oneline -3 -- -x", "git diff HEAD -- src", "git checkout -- a", "git add -- a b",
    "git restore -- a", "git grep a -- src", "git show HEAD -- a", "rm -f -- -x", "grep -rn -- -x src", "cat -- -x",
    "ls -l -- -x", "rg -- -x src", "mkdir -p -- -x", "cp -- -x b", "git stash push -m x -- a", "git ls-files -- src",
])  # fmt: skip
def test_two_dashes_that_end_the_options_pass(line):
    assert verdict(line, f"Bash({line.split()[0]} *)") == "allow"


STRICT = (
    "head -n -x a", "head -n", "git log --grep --output=x", "grep -e -f a", "jq --arg a", "jq --arg=a b", "sort -k --x a",
    "ls --all=x", "make -j4x -C", "make -C", "tsc -p", "tsc -px", "gcc -Idir -c a.c", "git commit -mx -Fy", "ls @x", "ls http://x",
    "git --weird log", "git -c x=y log", "cat -", "tail -n", "go test -v=x", "go test --run X",
)  # fmt: skip


@each_row("line", STRICT)
def test_a_line_that_its_program_may_read_otherwise_is_spelled_out(line):
    words = line.split(" ")
    assert bool(match_known_command(words[0], words).literal) is (line != "cat -")


@pytest.mark.parametrize(
    "head", ["./ls", "/tmp/x/ls", "scripts/ls", "/usr/bin/ls", "node_modules/.bin/ls", "/usr/sbin/ls"]
)
def test_a_program_of_that_name_somewhere_else_is_another_one(head):
    assert match_known_command("ls", [head, "-l"]).literal == (
        frozenset() if "bin/" in head else frozenset({1})
    )


def test_a_wrapper_beside_its_project_is_known():
    assert match_known_command("gradle", ["./gradlew", "--info"]).literal == frozenset()


def test_an_unlisted_sub_command_is_spelled_and_its_options_too():
    assert match_known_command("cargo", ["cargo", "install", "x", "--git", "y"]).spelled == 2
    assert match_known_command("cargo", ["cargo", "install", "x", "--git", "y"]).literal == {3}
    assert match_known_command("docker", ["docker", "-D", "ps"]).literal == {0, 1, 2}
    assert (
        match_known_command("npm", ["npm"]).literal
        == match_known_command("npm", ["npm", "-v"]).literal
        == frozenset()
    )


BAD_VALUES = {
    "pytest -p": "evil", "pytest --cov-report": "xml:out", "pytest -W": "error::a.B", "unittest -p": "a/b",
    "pylint -f": "evil.R", "pylint --output-format": "evil.R", "isort --profile": "evil", "eslint -f": "./e.js",
    "eslint --format": "./e.js", "prettier --parser": "./e.js", "vitest --reporter": "./e.js",
    "rspec -f": "Evil", "rspec --format": "Evil", "tar -f": "host:x", "tar --file": "host:x",
    "cmake -D": "CMAKE_C_COMPILER=./evil", "curl -o": "x", "curl --output": "x", "wget -O": "x",
    "wget --output-document": "x", "curl -w": "@x", "curl --write-out": "@x", "curl -b": "jar",
    "curl --cookie": "jar", "cargo test -- --format": "junit-to-x", "ps -u": "xe", "git merge -s": "evil",
    "git pull -s": "evil",
    **dict.fromkeys((name for name in KNOWN_VALUES if name.startswith("kubectl")), "go-template-file=x"),
    **dict.fromkeys((name for name in KNOWN_VALUES if name.startswith("go ")), "./evil"),
    **dict.fromkeys((name for name in KNOWN_VALUES if name.startswith("dotnet ")), "Debug;PreBuildEvent=./evil"),
}  # fmt: skip


@each_row("name", sorted(KNOWN_VALUES))
def test_an_option_with_a_value_that_is_not_known_asks(name):
    key, _, option = name.rpartition(" ")
    for words in ([option, BAD_VALUES[name]], [f"{option}{'=' * option.startswith('--')}{BAD_VALUES[name]}"]):
        line = [*key.split(), *words]
        assert match_known_command(line[0], line).literal, line


def test_operands_that_are_not_known_ask():
    bad = {
        "git clone": "file:///x", "date": "01010101", "hostname": "evil", "env": "X=1", "ps": "auxe",
        "curl": "file:/etc/x", "jq": 'import "x" as y; .', "mvn": "a:b:c", "docker build": "github.com/x/y",
        **dict.fromkeys(("dotnet test", "dotnet build", "dotnet restore"), "/p:PreBuildEvent=./evil"),
        **{f"{name} {sub}": "owner/name" for name in PACKAGERS for sub in ("view", "info", "install", "i", "add")},
    }  # fmt: skip
    assert bad.keys() == KNOWN_OPERANDS.keys()
    for key, operand in bad.items():
        line = [*key.split(), operand]
        assert match_known_command(line[0], line).literal, line


@each_row(
    "line",
    ["git symbolic-ref a b", "git symbolic-ref -q HEAD refs/heads/x", "git symbolic-ref hooks/pre-commit x"],
)
def test_a_program_asks_where_a_second_operand_makes_it_write(line):
    assert verdict(line, "Bash(git *)", "Bash(git symbolic-ref *)") == "ask"
    assert verdict(line.rpartition(" ")[0], "Bash(git *)") == "allow"
    assert set(MOST_OPERANDS) <= set(KNOWN_PROGRAMS)


@each_row("name", sorted(VERSION_ALONE))
def test_a_version_that_a_file_is_named_for_asks(name):
    assert verdict(f"{name} --version", f"Bash({name} *)") == "allow"
    assert verdict(f"{name} --version .envrc", f"Bash({name} *)", f"Bash({name} --version *)") == "ask"
    assert verdict(f"{name} -N --version x", f"Bash({name} *)") == "ask"


def test_a_program_that_needs_an_option_to_be_harmless_asks_without():
    good = {
        "tar": ["-tf", "x"],
        "unzip": ["-l", "x"],
        "wget": ["--spider", "x"],
        "git apply": ["--stat", "x"],
    }
    assert good.keys() == REQUIRED_OPTIONS.keys()
    for key, words in good.items():
        line = key.split()
        assert not match_known_command(line[0], [*line, *words]).literal
        assert match_known_command(line[0], [*line, words[-1]]).literal


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sort --o=F a", ": --o=F is not known to be harmless, so a pattern has to be the whole line"),
        ("sometool --fast a", ": a pattern has to spell out --fast"),
        ("sometool a", ""),
    ],
)
def test_it_is_said_which_word_no_wildcard_covers(line, said):
    granted = [] if not said else ["Bash(*)"]
    found = check_command({"command": line, "allow": granted, "deny": []})
    assert (found["verdict"], found["reason"]) == ("ask", f"no pattern and no rule allows {line}{said}")


def test_git_symbolic_ref_reads_one_name_and_writes_with_two():
    assert match_known_command("git", ["git", "symbolic-ref", "HEAD"]).literal == frozenset()
    assert match_known_command("git", ["git", "symbolic-ref", "HEAD", "refs/heads/x"]).literal
