"""Command lines and what each needs that a sandbox does not give: `kind word` for each need.

The workspace is /w, and lines run in /w/sub where the table says so.
"""

GIT_READS = (
    "git status", "git status -sb", "git diff", "git diff --stat HEAD~1", "git log --oneline -5", "git show HEAD",
    "git blame a.txt", "git branch", "git branch -av", "git branch --list 's*'", "git branch --contains HEAD",
    "git branch --show-current", "git tag", "git tag -n", "git tag -l 'v*'", "git tag --points-at HEAD",
    "git stash list", "git stash show -p", "git config --list", "git config --get remote.origin.url",
    "git config remote.origin.url", "git remote", "git remote -v", "git remote get-url origin",
    "git remote show -n origin", "git ls-files", "git ls-tree HEAD", "git rev-parse HEAD", "git reflog",
    "git reflog show HEAD", "git notes list", "git worktree list", "git submodule status", "git fsck",
    "git hash-object a.txt", "git cat-file -p HEAD", "git symbolic-ref HEAD", "git archive HEAD -o out.tar",
    "git format-patch -1 -o patches", "git bundle create b.bundle HEAD", "git clean -fd", "git apply p.patch -R",
    "git apply --check p.patch -R", "git grep one", "git shortlog -s HEAD", "git merge-base main side",
    "git replace -l", "git describe --always",
    "git diff --no-index a.txt a.txt", "git for-each-ref", "git whatchanged -1", "git --version",
)  # fmt: skip
"""Commands that need nothing, run in a real repository."""
GIT_WRITES = (
    "git add a.txt", "git add -n new.txt", "git commit -qam x", "git commit --dry-run -a", "git -C . commit -qam x",
    "git checkout side", "git checkout -- b.txt", "git checkout -q -b z", "git switch -q side", "git restore b.txt",
    "git restore --staged a.txt", "git reset -q", "git reset -q --hard", "git stash", "git stash pop",
    "git stash drop", "git merge side", "git cherry-pick side", "git revert --no-edit HEAD", "git rm -f a.txt",
    "git rm --cached a.txt", "git mv a.txt z.txt", "git branch new", "git branch -D side", "git branch -m side s2",
    "git branch -u origin/main", "git branch -f side HEAD", "git tag v2", "git tag -d v1", "git tag -a v3 -m x",
    "git config user.name x", "git config --unset remote.origin.url", "git remote add x ../y",
    "git remote remove origin", "git remote set-url origin ../z", "git fetch ../origin.git main",
    "git pull ../origin.git main", "git reflog expire --all", "git notes add -m x", "git worktree add wt2",
    "git gc -q", "git repack", "git pack-refs --all", "git hash-object -w new.txt", "git write-tree",
    "git commit-tree HEAD^{tree} -m x", "git update-ref refs/heads/q HEAD", "git read-tree HEAD",
    "git update-index --assume-unchanged a.txt", "git symbolic-ref HEAD refs/heads/side", "git bisect start",
    "git sparse-checkout set a", "git init", "git apply --index q.patch", "git stash create",
    "git checkout-index -u -f -a", "cd sub && git add ../a.txt", "time git commit -qam x",
    "bash -c 'git add a.txt'", "find . -name a.txt -exec git rm -q -f {} +", "echo a.txt | xargs git add",
    "rm -rf .git", "touch .git/x", "cp a.txt .git/hooks/pre-commit", "echo x > .git/description",
    "git status && git add a.txt", "env A=1 git tag v9", "git rebase -q side",
)  # fmt: skip
"""Commands that need to write `.git`, run in the same repository."""

NOTHING = (
    "ls -la", "pytest -q", "npm test", "npm run install", "npm ls", "npm install --offline ./x.tgz", "npm version",
    "yarn test", "pip list", "pip install --no-index ./x.whl", "pip --version", "uv run pytest", "cargo build",
    "cargo add --offline x", "go build ./...", "make", "make -C lib all", "mvn test", "docker --version",
    "docker compose config", "docker-compose config", "docker version", "curl --version", "ssh -V",
    "terraform fmt", "npx prettier -c .", "npx tsc", "kill %1", "kill -9 $PID", "rsync -a a b", "pre-commit run -a",
    "cp a b", "cp a b/", "mv a b", "mkdir -p a/b", "touch x", "rm -rf build", "tee out.log", "sed -i 's/a/b/' f",
    "sed -i '/foo/d' f", "sed -n /x/p /etc/hosts", "sed -n 1p /etc/hosts > b", "chmod +x run.sh", "ln -s /usr/bin/x y", "echo hi > out.txt",
    "echo hi >> /tmp/x", "echo hi >/dev/null 2>&1", "ls 2>/dev/null", "cat </etc/hosts", "cat <<< x",
    "echo hi > ~/.cache/x", "rm -rf $HOME/.npm/x", "touch ~/.cargo/x /var/tmp/x", "echo hi > $OUT", "echo hi > ~bob/x", "dd if=a of=b",
    "tar -xf a.tar", "tar -czf a.tgz .", "tar -tf /opt/a.tar", "sort -o out in", "cd sub && touch x",
    "cd sub && touch ../x", "cd $X && touch y", "cd - && touch y", "cd /tmp/x && touch y", "cat /etc/passwd",
    "rg '<TeamSheet' -n", "echo git push", "cat > notes.md <<'EOF'\ngit push\ncurl x\nEOF",
    "cat > notes.md <<EOF\n$(git status)\ngit push\nEOF\nls", "cat <<A <<B\ngit push\nA\ncurl x\nB",
    "python -m venv .venv", "python -m pytest -q", "python x.py", "python -c 'import os'", "xargs", "env", "npx",
    "bash run.sh", "bash -c", "find . -name x -exec", "find . -name '*.py' -exec grep -l x {} +", "",
    "gcc -o out a.c", "curl file:///etc/hosts --help", "npm init -y", "mount -l", "rm -", "chmod 755",
    "sed -i -e s/a/b/ f", "git log --output=x", "tar", "popd", "tee", "mkdir 'a\0b'", "FOO=bar", "! true",
)  # fmt: skip
"""Lines that need nothing."""

NEEDS = {
    # --- the network
    "curl http://localhost:3000": "network curl", "wget -qO- https://x": "network wget",
    "ssh host ls": "network ssh", "rsync -a a host:b": "network rsync", "rsync -a rsync://h/x .": "network rsync",
    "git push origin main": "network git push", "git pull": "network git pull, git git pull",
    "git fetch": "network git fetch, git git fetch", "git clone https://x/y z": "network git clone, git git clone",
    "git clone git@x:y.git": "network git clone, git git clone", "git ls-remote": "network git ls-remote",
    "git remote show origin": "network git remote show", "git remote update": "network git remote update, git git remote update",
    "git submodule update --init": "network git submodule update, git git submodule update",
    "git subtree pull --prefix x y main": "network git subtree, git git subtree",
    "git archive --remote=x HEAD": "network git archive", "git lfs pull": "network git lfs pull",
    "npm install": "network npm install", "npm i lodash": "network npm install",
    "npm --prefix web ci": "network npm ci", "npm publish": "network npm publish", "yarn": "network yarn install",
    "pnpm --filter x add y": "network pnpm add", "npx -y create-x": "network npx", "npx x@latest": "network npx",
    "pip3 install -r r.txt": "network pip install", "python -m pip install x": "network pip install",
    "uv pip install x": "network uv pip install", "uvx ruff": "network uvx", "poetry -C x add y": "network poetry add",
    "cargo add serde": "network cargo add", "cargo +nightly update": "network cargo update",
    "go mod download": "network go mod download", "go get x": "network go get",
    "bundle install": "network bundle install", "brew install x": "network brew install",
    "apt-get update": "network apt-get update", "mvn -q clean deploy": "network mvn deploy",
    "./gradlew publish": "network gradle publish", "gh pr list": "network gh pr list", "aws s3 ls": "network aws",
    "kubectl get pods": "network kubectl get", "terraform plan": "network terraform plan",
    "psql -h localhost": "network psql", "gpg --recv-keys X": "network gpg --recv-keys, daemon gpg",
    # --- a program outside
    "docker ps": "daemon docker ps", "docker compose up -d": "daemon docker compose up",
    "docker-compose up": "daemon docker compose up", "podman run x": "daemon podman run",
    "systemctl --user restart x": "daemon systemctl restart", "gpg --sign x": "daemon gpg", "kill 4711": "daemon kill",
    "pkill node": "daemon pkill", "ssh-add": "daemon ssh-add",
    "git commit -S -m x": "daemon git commit, git git commit", "git tag -s v1": "daemon git tag, git git tag",
    # --- rights
    "sudo make install": "privilege sudo, outside make install", "sudo -u bob curl x": "privilege sudo, network curl",
    "systemctl restart x": "privilege systemctl restart", "mount /dev/x /y": "privilege mount",
    # --- `.git`, written by other programs
    "pre-commit install": "git pre-commit install", "npm version patch": "git npm version",
    "cargo release": "git cargo release", "npx husky": "git husky",
    # --- outside the workspace
    "echo hi > /etc/hosts": "outside /etc/hosts", "echo hi 2>> ../log": "outside ../log",
    "echo hi > .workbench.json": "outside /w/.workbench.json", "touch .agents/x": "outside .agents/x",
    "echo hi > .envrc": "outside /w/.envrc", "touch sub/CLAUDE.md": "outside sub/CLAUDE.md",
    "cp ci.yml .github/workflows/": "outside .github/workflows/ci.yml", "touch .bashrc": "outside /w/.bashrc",
    "git init sub": "git git init", "git clone ./a b": "git git clone",
    "git config --global user.name x": "outside git config", "cp b/a /usr/local/bin/": "outside /usr/local/bin/a",
    "cp -t /etc a b": "outside /etc", "cp --target-directory=/etc a": "outside /etc", "mv a ~/x": "outside ~/x",
    "install -t /opt a": "outside /opt", "install --target-directory=/opt a": "outside /opt",
    "tee ${HOME}/x": "outside ${HOME}/x", "mkdir -p ../y": "outside ../y", "touch ~/.bashrc": "outside ~/.bashrc",
    "sed -i '/foo/d' /etc/f": "outside /etc/f", "sed -i -e s/a/b/ /etc/f": "outside /etc/f",
    "chmod +x /usr/bin/x": "outside /usr/bin/x", "ln -s x /usr/bin/y": "outside /usr/bin/y",
    "dd if=a of=/dev/sda": "outside /dev/sda", "tar -xf a -C /opt": "outside /opt", "tar czf ../a.tgz .": "outside ../a.tgz",
    "unzip x.zip -d /opt": "outside /opt", "cd /usr && touch x": "outside /usr/x", "cd && touch x": "outside HOME/x",
    "python3 -m venv /opt/v": "outside /opt/v", "gzip /var/log/x": "outside /var/log/x",
    "make -C lib install": "outside make install", "git clone https://x/y /opt/y": "network git clone, git git clone, outside /opt/y",
    "git archive -o /opt/x HEAD": "outside /opt/x",
    # --- through other programs
    "bash -lc 'git push && curl x'": "network git push, network curl", "sh -ec \"npm ci\"": "network npm ci",
    "eval curl x": "network curl", "timeout 60 npm ci": "network npm ci", "timeout -k 5 60 npm ci": "network npm ci",
    "env -u A -- B=1 curl x": "network curl", "nice -n 5 curl x": "network curl", "nice -n5 curl x": "network curl",
    "sudo --user bob curl x": "privilege sudo, network curl", "nohup curl x &": "network curl",
    "ls | xargs -I{} cp {} /etc/": "outside /etc/{}", "uv run --with x curl y": "network curl",
    "for f in a b; do curl $f; done": "network curl", "if test -f x; then curl x; fi": "network curl",
    "x=$(curl http://x)": "network curl", "echo `curl x`": "network curl", "A=1 curl x": "network curl",
    "bash <<EOF\ncurl x\nEOF": "network curl", "cat <<EOF | sh\ncurl x\nEOF": "network curl",
    "echo x <<EOF\ncurl x": "network curl", "bash -c \"bash -c 'bash -c \\\"curl x\\\"'\"": "network curl",
    "find . -execdir curl {} \\; -exec wget {} +": "network curl, network wget",
}  # fmt: skip
"""Lines and what each needs, in order."""
