r"""Commands that their patterns plainly mean, and must let pass: data, one in a line, by the patterns that do."""

BY_PATTERNS = {
    (
        "Bash(git status)",
        "Bash(git log *)",
        "Bash(git diff *)",
        "Bash(git show *)",
        "Bash(git branch *)",
    ): r"""
git status
git log
git log --oneline -5
git log --oneline --graph --all
git log -n 5 --pretty=format:'%h %s'
git log --format='%h %s (%an)' -10
git log --format="%h|%an|%s"
git log --since="2 weeks ago" --author='A B'
git log --grep='fix: (a|b)'
git log -S 'foo(bar)' -- src/a.py
git log -p -- 'a b.py'
git log main..HEAD
git log HEAD~3..HEAD^
git log -1 --stat @{u}
git diff
git diff --stat HEAD~1 HEAD
git diff --cached -- src/a.py
git diff main...HEAD -- src
git show HEAD:src/a.py
git show --stat abc1234
git show HEAD^{tree}
git show stash@{0}
git branch -a
git branch --show-current
git status; git log -1
git status && git diff
git status || git log
git status & git log
git log -1 2>/dev/null
git log -1 2>&1
git log -1 >/dev/null 2>&1
git log -1 &>/dev/null
git log -1 # the last one
git log  -1   --stat
git	log -1
( git status )
{ git status; git log -1; }
! git diff --quiet
if git diff --quiet; then git status; else git log -1; fi
git log "--oneline"
"git" log
git 'log' -1
git log \
  --oneline \
  -5
git log -1 \-\-stat
git log --author="O'Brien"
git log --author='"x"'
git log -G'^import [a-z]+$'
git log --grep 'a;b&&c|d>e<f$(g)`h`'
git diff HEAD -- ':!package-lock.json'
git diff -U5 --word-diff
git show -s --format=%ct
LC_ALL=C git log -1
GIT_OPTIONAL_LOCKS=0 git status
GIT_TERMINAL_PROMPT=0 git log -1
TZ=UTC git log -1
""",
    (
        "Bash(ls *)",
        "Bash(cat *)",
        "Bash(grep *)",
        "Bash(head *)",
        "Bash(tail *)",
        "Bash(wc *)",
        "Bash(sort *)",
        "Bash(uniq *)",
        "Bash(cut *)",
        "Bash(tr *)",
        "Bash(echo *)",
        "Bash(find *)",
        "Bash(sed *)",
        "Bash(awk *)",
        "Bash(jq *)",
        "Bash(rg *)",
        "Bash(pwd)",
        "Bash(true)",
        "Bash(cd *)",
        "Bash(diff *)",
        "Bash(test *)",
        "Bash([ *)",
        "Bash(printf *)",
        "Bash(which *)",
        "Bash(date *)",
        "Bash(du *)",
        "Bash(stat *)",
        "Bash(basename *)",
        "Bash(file *)",
        "Bash(sleep *)",
        "Bash(seq *)",
        "Bash(tree *)",
        "Bash(fd *)",
        "Bash(curl *)",
        "Bash(tar *)",
        "Bash(command -v *)",
        "Bash(xxd *)",
        "Bash(false)",
        "Bash(type *)",
        "Bash(column *)",
        "Bash(nl *)",
        "Bash(ps *)",
        "Bash(uname *)",
        "Bash(dirname *)",
        "Bash(realpath *)",
    ): r"""
ls
ls -la
ls -la src/ tests/
ls 'my file'
ls my\ file
ls "my file" other
ls src | head -20
ls -1 | wc -l
ls; pwd
ls && pwd && true
ls || true
ls -- -x
ls ./a/../b
ls usr/lib
ls a=b
ls a{}b
ls a@b:c,d+e
ls %
ls a^b
ls é 漢字
cat a.txt b.txt
cat a.txt | grep -v '^#' | sort | uniq -c | sort -rn | head -10
cat < a.txt
cat - < /dev/null
cat <<'EOF'
$(not run) `nor this`
EOF
cat <<"EOF"
text
EOF
cat <<-'EOF'
	text
	EOF
cat <<EOF
plain text; with | signs & more > less
EOF
cat <<< 'one line'
cat <<< "one line"
grep -rn "foo(" src | head -20
grep -rn 'a|b' .
grep -E '^(a|b)+$' x
grep -rn "TODO" --include='*.py' src
grep -c '' a.txt
grep -P '\d{3}' a
grep -F '$x' a
grep "a\$b" x
grep "a\"b" x
grep 'it'"'"'s' x
grep -rn 'password' . | grep -v node_modules
grep -q x y && echo found || echo missing
grep foo a.txt 2>/dev/null | wc -l
grep -rIl --exclude-dir=.git foo .
head -n 20 a.txt
head -c 100 a.bin | xxd
tail -f -n 5 a.log
tail -n +5 a.log
wc -l a.txt
wc -l < a.txt
sort -k2,2n -t, a.csv
sort -u a b
sort -t: -k3 -n etc/group
uniq -c
cut -d: -f1 a
cut -d ' ' -f 2 a
tr '[:upper:]' '[:lower:]'
tr -d '\r'
echo hello
echo "hello world"
echo 'a $HOME `x` $(y)'
echo "a > b | c; d & e"
echo "costs 5$"
echo "100%"
echo a\ b\;c
echo "it's"
echo "tab	inside"
echo -e 'a\nb'
echo -n x
echo {}
echo }
echo a!
echo "done!"
echo a#b
echo 'two
lines'
echo $'a\tb'
echo ''
echo ""
echo =
echo --
echo a=b
echo [
echo ]
echo "[a-z]*"
echo '*'
echo \*
echo "~"
echo a~
echo @ % ^ + , : / .
printf '%s\n' a b
printf "%d items\n" 3
find . -name '*.py'
find . -name "*.py" -type f -not -path './node_modules/*'
find . -maxdepth 2 -type d
find . \( -name a -o -name b \) -print
find src -name '*.ts' | head
find . -mtime -1 -size +10k
find . -name a -print0
find . -printf '%p %s\n'
find . -type f | wc -l
find . ! -name x
find . -empty
sed -n '1,20p' a
sed -n 5p a
sed -n '/start/,/end/p' a
sed 's/a/b/' a
sed 's/a/b/g' a
sed 's|/usr|/opt|g' a
sed -e 's/a/b/' -e 's/c/d/' a
sed -E 's/(a+)b/\1/' a
sed '/^$/d' a
sed '/^#/d; s/ *$//' a
sed 's/^[ \t]*//' a
sed '$d' a
sed -n '$=' a
sed '1d' a
sed '10q' a
sed 's/\//-/g' a
sed "s/'/x/g" a
sed 's/a/b/2' a
sed 's/A/b/I' a
sed -n '/foo/p' a | head
sed --quiet '1p' a
sed -n -e '1p' a
sed 's/&/and/' a
sed 's/[0-9]*//g' a
sed 'y/abc/xyz/' a
sed '1!G;h;$!d' a
sed '/a/!d' a
sed '/a/{s/b/c/;p}' a
sed 's/a/b/;s/c/d/' a
sed '1i first' a
sed '/a/{s/b/c/;p;}' a
sed '/a/{ n; d }' a
sed -n '/a/{p;q}' a
sed = a
sed G a
awk '{print $1}' a
awk '{ print $1, $NF }' a
awk -F: '{print $1}' etc/group
awk -F ',' '{ sum += $2 } END { print sum }' a
awk '/foo/ { n++ } END { print n }' a
awk '/foo|bar/ { print $2 }' a
awk 'NR==1' a
awk 'NR>1' a
awk '$3 > 100 { print $1 }' a
awk '$1 == "x" || $2 == "y"' a
awk 'BEGIN { FS="," } { print $2 }' a
awk '{ printf "%s\n", $1 }' a
awk -v n=3 'NR <= n' a
awk '{ gsub(/a/, "b"); print }' a
awk '!seen[$0]++' a
awk 'length($0) > 80' a
awk '{ print "a > b | c" }' a
awk 'NR % 2 == 0' a
awk '{ print $1 / $2 }' a
awk '{ print ($1 + $2) / 2 }' a
awk '$0 ~ /a|b/' a
awk '/[0-9]+/ { print }' a
awk '/a\/b/ { print $1 } # all of them' a
awk '{ if ($1 > 5) print $2 }' a
awk '{ for (i = 1; i <= NF; i++) print $i }' a
awk '/^#/ { next } { print }' a
awk -F'\t' '{print $2}' a
awk -F'|' '{print $2}' a
jq . a.json
jq '.a | .b' a.json
jq -r '.items[] | select(.x > 3) | .name' a.json
jq -r '.[] | "\(.a) \(.b)"' a.json
jq '.a[0]' a.json
jq --arg x y '.a == $x' a.json
rg foo
rg -n "def \w+\(" src
rg -l 'a|b' -g '*.py'
rg -uu foo
rg --json foo
rg -e foo -e bar
rg -C 3 foo | head -50
rg --type py 'class .*:'
rg -t py foo
rg --files
rg -A2 -B2 foo
pwd
true
cd src
cd src && ls
cd src; pwd
cd src/.. && ls -la
cd tmp && pwd
cd "my dir" && ls
cd src/deep && ls
diff a b
diff -u a b | head
test -f a && echo yes
test -d a || echo no
[ -f a ] && echo yes
[ "a" = "b" ]
[ -n "x" ] && [ 1 -eq 1 ]
[ ! -f x ] || cat x
which python
command -v git
command -v git >/dev/null 2>&1 && echo yes
type ls
date +%Y-%m-%d
date '+%H:%M:%S'
date -u
du -sh .
du -sh src tests | sort -h
stat -c %s a
file a
sleep 1
sleep 1 && ls
seq 1 10
tree -L 2
tree -I node_modules
fd -e py
fd foo src
curl -s https://example.com
curl 'https://example.com/a?b=c&d=e'
curl "https://example.com/a?b=c&d=e" | jq .
curl -X POST -H 'Content-Type: application/json' -d '{"a": 1}' https://example.com
curl -I https://example.com
curl -fsS --max-time 5 http://localhost:8080/health
curl -s -o /dev/null -w '%{http_code}' https://example.com
curl -L --retry 3 https://example.com
curl -k https://example.com
curl --compressed https://example.com
curl -u a:b https://example.com
curl -H "Accept: text/html" https://example.com
tar -tzf a.tgz
tar tf a.tar
tar czf a.tgz src
tar --list -f a.tar
xxd a.bin | head
for f in a b c; do echo x; done
for i in 1 2 3; do ls; sleep 1; done
while true; do ls; sleep 5; done
until test -f x; do sleep 1; done
if test -f a; then cat a; fi
if [ -f a ]; then cat a; elif [ -f b ]; then cat b; else echo none; fi
ls >/dev/null
ls > /dev/null
ls 1>/dev/null
ls 2> /dev/null
ls 2>&1 | head
ls 2>&1 >/dev/null
ls >&2
ls 1>&2
ls >/dev/stdout
ls 2>/dev/stdout
echo x >/dev/stderr
ls &>/dev/null
ls >/dev/null 2>&1 &
ls < /dev/null
(ls; pwd) | head
{ ls; pwd; } | head
{ ls; pwd; } 2>/dev/null
(cd src && ls)
ls |& head
ls |
head
ls &&
pwd
ls ||
pwd
# a comment
ls # and more; rm x
ls;
ls &
ls
pwd

! grep -q x y
echo a;echo b
echo a&&echo b
echo a|cat
ps aux | grep node | head
ps -ef | awk '{print $2}'
column -t a
nl a | head
uname -a
""",
    (
        "Bash(npm test)",
        "Bash(npm test *)",
        "Bash(npm run *)",
        "Bash(npm ci)",
        "Bash(pytest *)",
        "Bash(make *)",
        "Bash(cargo test *)",
        "Bash(cargo build *)",
        "Bash(cargo clippy *)",
        "Bash(cargo fmt *)",
        "Bash(go test *)",
        "Bash(go build *)",
        "Bash(go vet *)",
        "Bash(ruff *)",
        "Bash(mypy *)",
        "Bash(pyright *)",
        "Bash(eslint *)",
        "Bash(tsc *)",
        "Bash(python -m pytest *)",
        "Bash(npx eslint *)",
        "Bash(npx tsc *)",
        "Bash(uv run pytest *)",
        "Bash(uv run ruff *)",
        "Bash(node scripts/build.js *)",
        "Bash(bash scripts/test.sh *)",
        "Bash(./gradlew *)",
        "Bash(./run.sh *)",
        "Bash(mvn test *)",
        "Bash(gradle test *)",
        "Bash(python setup.py *)",
        "Bash(yarn test *)",
        "Bash(pnpm test *)",
        "Bash(pnpm run *)",
        "Bash(docker ps *)",
        "Bash(docker compose ps *)",
        "Bash(tail *)",
        "Bash(head *)",
        "Bash(grep *)",
        "Bash(cd *)",
        "Bash(kubectl get *)",
        "Bash(pip list *)",
        "Bash(pip show *)",
        "Bash(python3 -m unittest *)",
        "Bash(poetry run pytest *)",
        "Bash(bundle exec rspec *)",
        "Bash(dotnet test *)",
        "Bash(terraform plan *)",
        "Bash(cmake --build *)",
        "Bash(black *)",
        "Bash(prettier *)",
        "Bash(jest *)",
        "Bash(npx jest *)",
        "Bash(tox *)",
        "Bash(nox *)",
        "Bash(composer test *)",
        "Bash(gh pr *)",
    ): r"""
npm test
npm run build
npm run test:unit
npm ci
CI=true npm test
NODE_ENV=test npm test
FORCE_COLOR=0 npm run build
npm test 2>&1 | tail -50
npm test 2>&1 | grep -E 'FAIL|PASS'
pytest
pytest -q
python -m pytest -p no:cacheprovider
pytest -x -q tests/test_a.py::test_b
pytest -k "a and not b"
pytest -k 'a or b' -v
pytest tests/test_a.py -k test_x --tb=short
pytest "tests/test_a.py::test_b[x-1]"
pytest 'tests/test_a.py::test_b[a b]'
pytest -n 4 --cov=src
pytest --maxfail=1 2>&1 | tail -20
pytest -m "not slow"
pytest -vv -s
PYTHONUNBUFFERED=1 pytest -q
PYTHONDONTWRITEBYTECODE=1 pytest
make
make test
make -j4 test
make -j 4
make -n all
make -s build
cargo test
cargo test --workspace --all-features
cargo test -- --nocapture
cargo test foo::bar
cargo build --release
cargo clippy -- -D warnings
cargo clippy --all-targets -- -D warnings
cargo fmt --check
cargo fmt --all -- --check
RUST_BACKTRACE=1 cargo test
CARGO_TERM_COLOR=never cargo build
go test ./...
go test -v -run TestFoo ./pkg/x
go test -race -count=1 ./...
go build ./...
go vet ./...
ruff check .
ruff check --fix src
ruff format --check .
mypy src
mypy --strict src tests
pyright
eslint src --ext .ts,.tsx
eslint 'src/**/*.ts'
tsc --noEmit
tsc -p tsconfig.json
python -m pytest
python -m pytest -q tests
python -m pytest -k 'a and b'
python3 -m unittest discover -s tests
npx eslint .
npx eslint src --fix
npx tsc --noEmit
npx jest --ci
uv run pytest -q
uv run ruff check .
./gradlew test
./gradlew :app:test --tests 'a.B'
mvn test -q
mvn test -Dtest=Foo
gradle test
python setup.py build
yarn test
pnpm test
pnpm run build
docker ps
docker ps -a --format '{{.Names}}'
docker compose ps
kubectl get pods -n x
kubectl get pods -o wide
kubectl get deploy -o json
pip list
pip show requests
poetry run pytest -q
bundle exec rspec spec/a_spec.rb
dotnet test --no-build
terraform plan
cmake --build build
black --check .
prettier --check src
jest --coverage
tox -e py311
cd frontend && npm test
cd backend && pytest -q
cd x && make test
gh pr view 12
gh pr list --state open
""",
    (
        "Bash(git add *)",
        "Bash(git commit *)",
        "Bash(git checkout *)",
        "Bash(git push *)",
        "Bash(git pull *)",
        "Bash(git fetch *)",
        "Bash(git stash *)",
        "Bash(git rebase *)",
        "Bash(git merge *)",
        "Bash(git tag *)",
        "Bash(git config --get *)",
        "Bash(git rev-parse *)",
        "Bash(git ls-files *)",
        "Bash(git grep *)",
        "Bash(git blame *)",
        "Bash(git clone *)",
        "Bash(git remote *)",
        "Bash(git reset *)",
        "Bash(git switch *)",
        "Bash(git restore *)",
        "Bash(git cherry-pick *)",
        "Bash(git worktree list)",
        "Bash(git describe *)",
        "Bash(git mv *)",
        "Bash(git rm *)",
        "Bash(git config --list)",
        "Bash(git init *)",
        "Bash(git shortlog *)",
        "Bash(git cat-file *)",
        "Bash(git reflog *)",
        "Bash(git status *)",
        "Bash(git apply *)",
        "Bash(xargs)",
    ): r"""
git add .
git add -A
git add -u src
git add src/a.py 'b c.py'
git commit -m 'fix: a thing'
git commit -m "fix: a (b) & c | d > e; f"
git commit -m "it's done"
git commit -am "wip"
git commit --amend --no-edit
git commit -m 'title' -m 'body'
git add . && git commit -m 'x' && git push
git commit -m 'a
b'
git checkout main
git checkout -b feature/x
git checkout -- src/a.py
git push
git push origin main
git push -u origin HEAD
git push --force-with-lease
git push origin HEAD:refs/heads/x
git pull --rebase
git fetch --all --prune
git stash
git stash pop
git stash push -m 'wip'
git rebase main
git rebase --continue
git rebase --abort
git merge --no-ff x
git tag v1.0
git tag -a v1.0 -m 'x'
git config --get user.name
git config --list
git rev-parse --show-toplevel
git rev-parse HEAD
git ls-files '*.py'
git grep -n foo
git grep -n 'a(b' -- src
git blame -L 1,10 a.py
git clone https://example.com/a/b.git
git clone --depth 1 https://example.com/a/b.git x
git remote -v
git remote show origin
git reset --soft HEAD~1
git switch -c x
git restore --staged a
git cherry-pick abc123
git worktree list
git describe --tags --always
git mv a b
git shortlog -sn
git cat-file -p HEAD
git reflog -5
git status -sb
git status --porcelain=v1
git apply --check x.patch
""",
    ("Bash(npm run test:*)",): "npm run test\nnpm run test\t",
    ("Bash(git log*)",): "git log\ngit log -1\ngit log --oneline -- 'a b'",
    ("Bash(ls*)",): "ls\nls -la\nlsof -i\nlsblk",
    (
        "Bash(npm run build)",
    ): "npm run build\nnpm  run  build\nnpm run 'build'\nnpm run build 2>&1\n npm run build ",
    ("Bash(*)",): "ls -la\ngit status\nls | head\nmake",
    ("Bash",): "ls -la\ngit status",
    ("run_in_terminal(ls *)",): "ls\nls -la",
    ("run_in_terminal",): "ls -la",
    ("Bash(git * --stat)",): "git log --stat\ngit diff HEAD --stat",
    ("Bash(git commit -m 'a b')",): "git commit -m 'a b'\ngit commit -m \"a b\"\ngit commit -m a\\ b",
    ('Bash(git commit -m "a b")',): "git commit -m 'a b'\ngit commit -m \"a b\"",
    ("Bash(/usr/bin/git status)",): "/usr/bin/git status",
    ("Bash(./scripts/x.sh)",): "./scripts/x.sh",
    ("Bash(echo (a))",): "echo '(a)'",
    ("Bash(python -m http.server 8000)",): "python -m http.server 8000",
    (
        "Bash(python3 *)",
        "Bash(python3 script.py *)",
    ): "python3 script.py\npython3 script.py x 'a b'\npython3 --version",
    ("Bash(node app.js)",): "node app.js",
    ("Bash(npx prettier --check .)",): "npx prettier --check .",
    ("Bash(FOO=1 make)",): "FOO=1 make",
    ("Bash(FOO='a b' BAR=2 make test)",): "FOO='a b' BAR=2 make test",
    ("Bash(cat < in.txt)",): "cat < in.txt",
    ("Bash(ls -la)", "Bash(wc -l)"): "ls -la | wc -l",
    ("Bash(a *)", "Bash(b *)"): "a x; b y\na | b\na && b || a",
    ("*",): "ls\ngit status",
}


def _lines(text: str) -> list[str]:
    """Return the commands of a block: a line each, but for those that go on."""
    out: list[str] = []
    open_until = ""
    for line in text.strip("\n").split("\n"):
        if open_until or (out and _goes_on(out[-1])):
            out[-1] += f"\n{line}"
            if open_until and line.lstrip("\t") == open_until:
                open_until = ""
        else:
            out.append(line)
        if not open_until and "<<" in line and "<<<" not in line:
            open_until = "EOF"
    return [line for line in out if line]


def _goes_on(text: str) -> bool:
    last = text.rsplit("\n", 1)[-1]
    quotes = text.replace("\\'", "").replace('\\"', "")
    is_open = text.count("'") == 1 and '"' not in text
    return last.endswith(("\\", " |", "&&", "||")) or is_open or quotes == "# a comment"


ALLOWED = [(list(patterns), line) for patterns, block in BY_PATTERNS.items() for line in _lines(block)]
