r"""Lines of everyday work that a pattern covers only where it spells them out: data, by what has to be spelled."""

BY_CAUSE = {
    "an option of a program that nobody listed": r"""
node scripts/build.js --prod
bash scripts/test.sh --fast
./run.sh --fast
./scripts/lint.sh --all
python3 script.py --x ab
python script.py --flag value
lsof --weird
csplit -f out a.txt /x/
meson test --wrapper ./evil
bazel test --test_wrapper=./evil //...
xmllint --shell a.xml
bandit -o out.txt src
clang-tidy --load=./evil.so a.c
cppcheck --addon=./evil.py a.c
gcovr --gcov-executable ./evil
openssl req -keyout out
pdflatex --shell-escape a.tex
""",
    "an option for a script that a program runs": r"""
npm run test -- --watch=false
npm test -- -t adds
npm test -- -r ./evil.js
npm run lint -- --fix
npm run build -- --watch
yarn test --coverage
pnpm run test -- --config ./evil.js
cmake --build . -- SHELL=./evil
cargo run -- --config x
cargo test -- --logfile out
tox -- -p evil
""",
    "a variable": r"""
FOO=1 git status
FOO=1 cat x
RUST_LOG=debug cargo test
CGO_ENABLED=0 go build ./...
GOOS=linux GOARCH=amd64 go build ./...
DEBUG=x npm test
FOO=ab BAR=2 make test
CI=/x pytest
TZ=/etc/shadow date
TERM=../x ls
LANG=./x ls
export FOO=bar
""",
    "an option that names a file to write": r"""
gcc -c x.c -o x.o
ruff check -o out.txt
pytest --junitxml=out.xml
pytest --log-file out
go test -coverprofile c.out ./...
go test -coverprofile=c.out ./...
sort --output=x a
git log --output=x
tar --index-file=x -tf a.tar
coverage html -d out
wget https://example.com/.envrc
tar -xzf a.tgz
tar xf a.tgz
unzip a.zip
curl --etag-save x https://example.com
ctest --overwrite x
tree -o x
jest --outputFile=x
eslint -o x src
black --config x .
""",
    "an option that names a program, code or a configuration": r"""
pytest -c pytest.ini
pytest -o addopts=-pevil
pytest -p evil
pytest -W error::evil.Thing
pytest --cov-report=html:out
mypy --python-executable ./evil src
mypy --python-exec ./evil src
mypy --config-file x src
pyright --pythonpath ./evil
tox -x testenv.commands=id
tox run -x testenv.commands=id
tox -c x.ini
pylint --rcfile=x src
pylint --rc=x src
pylint --output-format=evil.Reporter src
flake8 --config x src
flake8 --append-config x src
coverage report --rcfile=x
coverage report --rc=x
cmake -D CMAKE_C_COMPILER=./evil .
cmake -B build -D CMAKE_TOOLCHAIN_FILE=x
go list -toolexec ./evil ./...
go install -toolexec=./evil ./...
go get -toolexec ./evil ./...
eslint -c x src
eslint -f ./evil.js src
eslint --format=./evil.js src
eslint --plugin evil src
prettier --config evil.js src
prettier --config=evil.js src
prettier --parser ./evil.js src
mocha -r ./evil.js
jest --config={}
jest --rootDir x
jest --testRunner ./evil.js
vitest --config x
vitest --reporter ./evil.js
pre-commit try-repo x
curl -x http://127.0.0.1:1 http://x
curl -x http://127.0.0.1:1 --proxy-header @x http://x
curl file:/etc/hostname
curl FILE:/etc/hostname
curl ftp://x/y
curl {file,http}:/etc/hostname
curl -w @x http://x
curl -b jar http://x
rsync -M--log-file=x a b
rsync --early-input=x a b
gcc @file
pip install git+https://example.com/x
pip install --index-url https://example.com x
""",
    "a long option that is cut short": r"""
git ls-remote --u=id origin
git clone --u=id https://example.com/a
git push --e=id origin
git push --rec=id origin
git fetch --upl=id origin
git log --outp=x
sort --o=x a
sort --compr=x a
shuf --o=x a
split --f=id a x
iconv --o=x a
date --s=now
base64 --o x
git commit --fil x
grep --fil=x a
ls --recurs
rg --pr=x a
head --line=3 a
""",
    "a sub-command of git that is not known": r"""
git merge-index ./ev.sh -a
git merge-index touch -a
git mailinfo out patch
git merge-file out a b
git bundle create out
git mailsplit -oout mail
git index-pack -o out x
git pack-objects out
git worktree add /x
git clone . /x
git clone ext::x y
git clone file:///x y
git init /x
git filter-tree x
git frobnicate
git apply x.patch
git push https://example.com/x main
git push ../other main
git fetch ./other
git pull host:path
""",
    "a value that is not known, or a path within a group of letters": r"""
make -Csub
kubectl get pods -o go-template-file=x
kubectl get pods -o jsonpath-file=x
tar -tf host:x
ps auxe
ps -auxe
date 01010101
jq import
hostname evil
go list -mod=evil ./...
git merge -s evil x
sort -k --output=x a
cmake -Bbuild
""",
}
SPELLED = [(cause, line) for cause, lines in BY_CAUSE.items() for line in lines.strip("\n").split("\n")]
