"""Every option of the package managers and service clients that people deny, with all of its names."""

# Sources: the help of each command of docker 28, docker compose 2, kubectl 1.32, terraform 1.11, gh 2.23 and
# its manual up to 2.60, npm 11, pip 23 to 25 and cargo 1.95; of pnpm 9 and yarn 1 and 4 their documentation.
# Signs and words of the rows are explained in `option_names`.

from typing import Final

_CONTAINER: Final = (
    "EXACT BOOLS STOP --add-host: --annotation: -a|--attach: --blkio-weight: --blkio-weight-device:"
    " --cap-add:"
    " --cap-drop: --cgroup-parent: --cgroupns: --cidfile: --cpu-count: --cpu-percent: --cpu-period:"
    " --cpu-quota: --cpu-rt-period: --cpu-rt-runtime: -c|--cpu-shares: --cpus: --cpuset-cpus: --cpuset-mems:"
    " -d|--detach --detach-keys: --device: --device-cgroup-rule: --device-read-bps: --device-read-iops:"
    " --device-write-bps: --device-write-iops: --disable-content-trust --dns: --dns-option|--dns-opt:"
    " --dns-search: --domainname: --entrypoint: -e|--env: --env-file: --expose: --gpus: --group-add:"
    " --health-cmd: --health-interval: --health-retries: --health-start-interval: --health-start-period:"
    " --health-timeout: --help -h|--hostname: --init -i|--interactive --io-maxbandwidth: --io-maxiops: --ip:"
    " --ip6: --ipc: --isolation: --kernel-memory: -l|--label: --label-file: --link: --link-local-ip:"
    " --log-driver: --log-opt: --mac-address: -m|--memory: --memory-reservation: --memory-swap:"
    " --memory-swappiness: --mount: --name: --network|--net: --network-alias|--net-alias: --no-healthcheck"
    " --oom-kill-disable --oom-score-adj: --pid: --pids-limit: --platform: --privileged -p|--publish:"
    " -P|--publish-all --pull: -q|--quiet --read-only --restart: --rm --runtime: --security-opt: --shm-size:"
    " --sig-proxy --stop-signal: --stop-timeout: --storage-opt: --sysctl: --tmpfs: -t|--tty --ulimit:"
    " --use-api-socket -u|--user: --userns: --uts: -v|--volume: --volume-driver: --volumes-from:"
    " -w|--workdir:"
)
_DOCKER_PRUNE: Final = "EXACT BOOLS -a|--all --filter: -f|--force"
_DOCKER_FORCE: Final = "EXACT BOOLS -f|--force"
_DOCKER_EXEC: Final = (
    "EXACT BOOLS STOP -d|--detach --detach-keys: -e|--env: --env-file: -i|--interactive --privileged -t|--tty"
    " -u|--user: -w|--workdir:"
)
_DOCKER_PUSH: Final = "EXACT BOOLS -a|--all-tags --disable-content-trust --platform: -q|--quiet"
_CONTAINER_TOOL: Final[dict[str, str]] = {
    "": "SUB EXACT BOOLS --config: -c|--context: -D|--debug -H|--host: -l|--log-level: --tls --tlscacert:"
        " --tlscert: --tlskey: --tlsverify -v|--version",
    "run": _CONTAINER, "create": _CONTAINER, "exec": _DOCKER_EXEC,
    "rm": "EXACT BOOLS -f|--force -l|--link -v|--volumes",
    "rmi": "EXACT BOOLS -f|--force --no-prune --platform:",
    "stop": "EXACT BOOLS -s|--signal: -t|--timeout|--time:", "kill": "EXACT BOOLS -s|--signal:",
    "restart": "EXACT BOOLS -s|--signal: -t|--timeout|--time:",
    "push": _DOCKER_PUSH, "pull": _DOCKER_PUSH, "login": "EXACT BOOLS -p|--password: --password-stdin"
        " -u|--username:",
    "build": "EXACT BOOLS --add-host: --allow: --annotation: --attest: --build-arg: --build-context:"
        " --builder:"
        " --cache-from: --cache-to: --call: --check --cgroup-parent: --compress --cpu-period: --cpu-quota:"
        " -c|--cpu-shares: --cpuset-cpus: --cpuset-mems: -D|--debug --disable-content-trust -f|--file:"
        " --force-rm --iidfile: --isolation: --label: --load -m|--memory: --memory-swap: --metadata-file:"
        " --network: --no-cache --no-cache-filter: -o|--output: --platform: --progress: --provenance: --pull"
        " --push -q|--quiet --rm --sbom: --secret: --security-opt: --shm-size: --squash --ssh: -t|--tag:"
        " --target: --ulimit:",
    "system": "SUB EXACT BOOLS", "system prune": f"{_DOCKER_PRUNE} --volumes",
    "container": "SUB EXACT BOOLS", "container prune": _DOCKER_PRUNE,
    "image": "SUB EXACT BOOLS", "image prune": _DOCKER_PRUNE,
    "volume": "SUB EXACT BOOLS", "volume rm": _DOCKER_FORCE, "volume prune": _DOCKER_PRUNE,
    "network": "SUB EXACT BOOLS", "network rm": _DOCKER_FORCE, "network prune": _DOCKER_PRUNE,
    "builder": "SUB EXACT BOOLS", "builder prune": f"{_DOCKER_PRUNE} --keep-storage: --max-used-space:",
    "compose": "SUB EXACT BOOLS GLOBAL --all-resources --ansi: --compatibility --dry-run --env-file:"
        " -f|--file:"
        " --parallel: --profile: --progress: --project-directory|--workdir: -p|--project-name: -v|--version",
    "compose down": "EXACT BOOLS --remove-orphans --rmi: -t|--timeout: -v|--volumes",
    "compose up": "EXACT BOOLS --abort-on-container-exit --abort-on-container-failure --always-recreate-deps"
        " --attach: --attach-dependencies --build -d|--detach --exit-code-from: --force-recreate --menu"
        " --no-attach: --no-build --no-color --no-deps --no-log-prefix --no-recreate --no-start --pull:"
        " --quiet-build --quiet-pull --remove-orphans -V|--renew-anon-volumes --scale: -t|--timeout:"
        " --timestamps --wait --wait-timeout: -w|--watch -y|--yes",
    "compose rm": "EXACT BOOLS -f|--force -s|--stop -v|--volumes -a|--all",
    "compose stop": "EXACT BOOLS -t|--timeout:", "compose kill": "EXACT BOOLS -s|--signal: --remove-orphans",
    "compose run": "EXACT BOOLS STOP --build --cap-add: --cap-drop: -d|--detach --entrypoint: -e|--env:"
        " --env-from-file: -i|--interactive -l|--label: --name: -T|--no-TTY --no-deps -p|--publish: --pull:"
        " -q|--quiet --quiet-build --quiet-pull --remove-orphans --rm -P|--service-ports --use-aliases"
        " -u|--user: -v|--volume: -w|--workdir:",
}  # fmt: skip
_KUBE_CHANGE: Final = (
    "--allow-missing-template-keys --dry-run? --field-manager: -f|--filename: -k|--kustomize: -o|--output:"
    " -R|--recursive -l|--selector: --show-managed-fields --template: --validate? --save-config --timeout:"
)
_PACKAGE_OPTIONS: Final = (
    "SUB GLOBAL BOOLS WORDBOOLS -S|--save -P|--save-prod -D|--save-dev -O|--save-optional -B|--save-bundle"
    " --save-peer -E|--save-exact -g|--global --location: --install-strategy: --legacy-bundling"
    " --global-style --omit: --include: --strict-peer-deps --legacy-peer-deps --prefer-dedupe"
    " --package-lock --package-lock-only --foreground-scripts --ignore-scripts --allow-scripts: --audit"
    " --audit-level: --before: --bin-links --fund --dry-run --cpu: --os: --libc: -w|--workspace:"
    " --workspaces|--ws --include-workspace-root|--iwr --install-links -f|--force -p|--parseable -l|--long"
    " -a|--all --json --depth: --production --only: --also: --dev --optional --tag: --access: --otp:"
    " --provenance --provenance-file: --registry: --reg: --scope: --userconfig: --globalconfig:"
    " --prefix|-C: --loglevel: -d -s|--silent -q|--quiet --verbose --color? -y|--yes -c|--call: --package:"
    " --if-present --script-shell: --prefer-offline --prefer-online --offline --cache: --engine-strict"
    " --no-audit --no-fund --no-save --no-bin-links --no-package-lock -n --progress --timing --unicode"
    " --update-notifier --usage -h|--help -v|--version --message|-m: --git-tag-version --sign-git-tag"
    " --preid: --allow-same-version --proxy: --https-proxy: --noproxy: --strict-ssl --ca: --cafile: --cert:"
    " --key: --fetch-retries: --fetch-timeout: --maxsockets: --node-options: --heading: --init-author-name:"
    " --editor: --viewer: --browser? --git: --save-prefix: --pack-destination:"
    " --expect-results"
)
_YARN_OPTIONS: Final = (
    "SUB GLOBAL EXACT -D|--dev -E|--exact -T|--tilde -C|--caret -P|--peer -O|--optional"
    " -W|--ignore-workspace-root-check"
    " --frozen-lockfile --immutable --mode: --json -s|--silent --production|--prod? --force --flat --har"
    " --ignore-scripts --ignore-engines --ignore-optional --ignore-platform --no-lockfile --pure-lockfile"
    " --link-duplicates --check-files --cwd: --offline --prefer-offline --verbose --registry: --tag:"
    " --access:"
    " --otp: --new-version: --major --minor --patch --no-git-tag-version -A|--all --modules-folder:"
    " --cache-folder: --mutex: --network-timeout: --non-interactive --no-progress"
    " --scripts-prepend-node-path?"
    " --audit --no-bin-links --focus --skip-integrity-check --tolerate-republish --provenance"
)
_PNPM_OPTIONS: Final = (
    "SUB GLOBAL EXACT BOOLS -g|--global -D|--save-dev|--dev -P|--save-prod|--prod -O|--save-optional"
    " -E|--save-exact --save-peer -w|--workspace-root -r|--recursive --filter|-F: --frozen-lockfile"
    " --no-frozen-lockfile --offline --prefer-offline --ignore-scripts --lockfile-only --fix-lockfile --force"
    " --no-optional --silent|-s --reporter: -C|--dir: --tag: --access: --otp: --no-git-checks --dry-run"
    " --json"
    " --report-summary --publish-branch: --workspace --stream --parallel --if-present --store-dir:"
    " --registry: --shamefully-hoist --strict-peer-dependencies --loglevel: --color --latest|-L"
    " -i|--interactive"
    " --provenance --resume-from: --no-bail --aggregate-output --allow-build:"
)
_PIP_GLOBAL: Final = (
    "SUB GLOBAL -h|--help --debug --isolated --require-virtualenv --python: -v|--verbose -V|--version"
    " -q|--quiet --log: --no-input --keyring-provider: --proxy: --retries: --timeout: --exists-action:"
    " --trusted-host: --cert: --client-cert: --cache-dir: --no-cache-dir --disable-pip-version-check"
    " --no-color --no-python-version-warning --use-feature: --use-deprecated: --resume-retries:"
)
_PIP_INDEX: Final = (
    "-i|--index-url|--pypi-url: --extra-index-url: --no-index -f|--find-links: -r|--requirement:"
    " -c|--constraint: --no-deps --pre --platform: --python-version: --implementation: --abi:"
    " --no-build-isolation --use-pep517 --check-build-dependencies --global-option: --config-settings|-C:"
    " --ignore-requires-python --no-binary: --only-binary: --prefer-binary --require-hashes --progress-bar:"
    " --no-clean --src|--source|--source-dir|--source-directory: --group: --build-constraint:"
)
_CARGO_BUILD: Final = (
    "EXACT -p|--package? --workspace|--all --exclude: -F|--features: --all-features --no-default-features"
    " -j|--jobs: --keep-going --target? --target-dir: --manifest-path: -n|--dry-run --index: --registry:"
    " --no-verify --allow-dirty --token: --ignore-rust-version --message-format: --profile: -r|--release"
)
_TERRAFORM_STATE: Final = (
    "WHOLE -lock: -lock-timeout: -input: -no-color -state: -state-out: -backup: -json -concise"
)
_TERRAFORM_PLAN: Final = (
    f"{_TERRAFORM_STATE} -destroy -refresh-only -refresh: -replace: -target: -exclude: -var: -var-file:"
    " -compact-warnings -parallelism: -allow-deferral -show-sensitive"
)
_GH_REPO: Final = "EXACT BOOLS --help -R|--repo:"
SERVICE_OPTION_NAMES: Final[dict[str, str]] = {
    **{
        f"{name} {sub}".rstrip(): row for name in ("docker", "podman") for sub, row in _CONTAINER_TOOL.items()
    },
    # --- the clusters of others
    "kubectl": "SUB GLOBAL EXACT BOOLS --as: --as-group: --as-uid: --cache-dir: --certificate-authority:"
        " --client-certificate: --client-key: --cluster: --context: --disable-compression"
        " --insecure-skip-tls-verify --kubeconfig: --log-flush-frequency: --match-server-version"
        " -n|--namespace: --password: --profile: --profile-output: --request-timeout: -s|--server:"
        " --tls-server-name: --token: --user: --username: -v|--v: --vmodule: --warnings-as-errors -h|--help",
    "kubectl delete": "EXACT BOOLS --all -A|--all-namespaces --cascade? --dry-run? --field-selector:"
        " -f|--filename: --force --grace-period: --ignore-not-found -i|--interactive -k|--kustomize: --now"
        " -o|--output: --raw: -R|--recursive -l|--selector: --timeout: --wait",
    "kubectl apply": "EXACT BOOLS --all --cascade? --force --force-conflicts --grace-period: --openapi-patch"
        f" --overwrite --prune --prune-allowlist: --prune-whitelist: --server-side --subresource: --wait"
        f" {_KUBE_CHANGE}",
    "kubectl create": f"EXACT BOOLS --edit --raw: --windows-line-endings {_KUBE_CHANGE}",
    "kubectl replace": f"EXACT BOOLS --cascade? --force --grace-period: --raw: --subresource: --wait"
        f" {_KUBE_CHANGE}",
    "kubectl patch": f"EXACT BOOLS --local -p|--patch: --patch-file: --subresource: --type: {_KUBE_CHANGE}",
    "kubectl edit": f"EXACT BOOLS --output-patch --subresource: --windows-line-endings {_KUBE_CHANGE}",
    "kubectl scale": f"EXACT BOOLS --all --current-replicas: --replicas: --resource-version: {_KUBE_CHANGE}",
    "kubectl drain": "EXACT BOOLS --chunk-size: --delete-emptydir-data --delete-local-data --disable-eviction"
        " --dry-run? --force --grace-period: --ignore-daemonsets --pod-selector: -l|--selector:"
        " --skip-wait-for-delete-timeout: --timeout:",
    "kubectl cordon": "EXACT BOOLS --dry-run? -l|--selector:",
    "kubectl exec": "EXACT BOOLS STOP -c|--container: -f|--filename: --pod-running-timeout: -q|--quiet"
        " -i|--stdin -t|--tty",
    "kubectl rollout": "SUB EXACT BOOLS",
    "kubectl rollout restart": f"EXACT BOOLS {_KUBE_CHANGE}",
    "kubectl rollout undo": f"EXACT BOOLS --to-revision: {_KUBE_CHANGE}",
    "terraform": "SUB WHOLE -chdir: -help -version",
    "terraform apply": f"{_TERRAFORM_PLAN} -auto-approve",
    "terraform plan": f"{_TERRAFORM_PLAN} -detailed-exitcode -generate-config-out: -out:",
    "terraform init": f"{_TERRAFORM_STATE} -backend: -backend-config: -force-copy -from-module: -get:"
        " -plugin-dir:"
        " -reconfigure -migrate-state -upgrade -lockfile: -ignore-remote-version -test-directory:",
    "terraform import": f"{_TERRAFORM_STATE} -config: -var: -var-file: -ignore-remote-version"
        " -allow-missing-config"
        " -parallelism:",
    "terraform taint": f"{_TERRAFORM_STATE} -allow-missing -ignore-remote-version",
    "terraform force-unlock": "WHOLE -force",
    "terraform state": "SUB WHOLE",
    "terraform state rm": f"{_TERRAFORM_STATE} -dry-run -ignore-remote-version",
    "terraform state mv": f"{_TERRAFORM_STATE} -dry-run -ignore-remote-version",
    "terraform workspace": "SUB WHOLE",
    "terraform workspace delete": "WHOLE -force -lock: -lock-timeout:",
    # --- GitHub
    "gh": "SUB EXACT BOOLS --help --version",
    "gh pr": f"SUB GLOBAL {_GH_REPO}",
    "gh pr merge": f"{_GH_REPO} --admin -A|--author-email: --auto -b|--body: -F|--body-file:"
        " -d|--delete-branch"
        " --disable-auto --match-head-commit: -m|--merge -r|--rebase -s|--squash -t|--subject:",
    "gh pr create": f"{_GH_REPO} -a|--assignee: -B|--base: -b|--body: -F|--body-file: -d|--draft --dry-run"
        " -e|--editor"
        " -f|--fill --fill-first --fill-verbose -H|--head: -l|--label: -m|--milestone: --no-maintainer-edit"
        " -p|--project: --recover: -r|--reviewer: -t|--title: -T|--template: -w|--web",
    "gh pr close": f"{_GH_REPO} -c|--comment: -d|--delete-branch",
    "gh pr review": f"{_GH_REPO} -a|--approve -b|--body: -F|--body-file: -c|--comment -r|--request-changes",
    "gh pr checkout": f"{_GH_REPO} -b|--branch: --detach -f|--force --recurse-submodules",
    "gh issue": f"SUB GLOBAL {_GH_REPO}",
    "gh issue create": f"{_GH_REPO} -a|--assignee: -b|--body: -F|--body-file: -e|--editor -l|--label:"
        " -m|--milestone:"
        " -p|--project: --recover: -t|--title: -T|--template: -w|--web",
    "gh issue close": f"{_GH_REPO} -c|--comment: -r|--reason:",
    "gh issue delete": f"{_GH_REPO} -y|--yes|--confirm",
    "gh release": f"SUB GLOBAL {_GH_REPO}",
    "gh release create": f"{_GH_REPO} --discussion-category: -d|--draft --fail-on-no-commits --generate-notes"
        " --latest -n|--notes: -F|--notes-file: --notes-from-tag --notes-start-tag: -p|--prerelease --target:"
        " -t|--title: --verify-tag",
    "gh release delete": f"{_GH_REPO} --cleanup-tag -y|--yes",
    "gh release upload": f"{_GH_REPO} --clobber",
    "gh repo": f"SUB GLOBAL {_GH_REPO}",
    "gh repo delete": "EXACT BOOLS --yes|--confirm --help",
    "gh repo create": "EXACT BOOLS --add-readme -c|--clone -d|--description: --disable-issues --disable-wiki"
        " -g|--gitignore: -h|--homepage: --include-all-branches --internal -l|--license: --private --public"
        " --push -r|--remote: -s|--source: -t|--team: -p|--template: -y|--confirm",
    "gh repo edit": "EXACT BOOLS --accept-visibility-change-consequences --add-topic: --allow-forking"
        " --allow-update-branch --default-branch: --delete-branch-on-merge -d|--description:"
        " --enable-auto-merge"
        " --enable-discussions --enable-issues --enable-merge-commit --enable-projects --enable-rebase-merge"
        " --enable-squash-merge --enable-wiki --enable-advanced-security --enable-secret-scanning"
        " --enable-secret-scanning-push-protection -h|--homepage: --remove-topic: --template --visibility:",
    "gh api": "EXACT BOOLS --cache: -F|--field: -H|--header: --hostname: -i|--include --input: -q|--jq:"
        " -X|--method:"
        " --paginate -p|--preview: -f|--raw-field: --silent --slurp -t|--template: --verbose",
    "gh workflow": f"SUB GLOBAL {_GH_REPO}",
    "gh workflow run": f"{_GH_REPO} -F|--field: --json -f|--raw-field: -r|--ref:",
    "gh secret": f"SUB GLOBAL {_GH_REPO}",
    "gh secret set": f"{_GH_REPO} -a|--app: -b|--body: -e|--env: -f|--env-file: --no-store -o|--org:"
        " -r|--repos:"
        " -u|--user -v|--visibility: --no-repos-selected",
    "gh secret delete": f"{_GH_REPO} -a|--app: -e|--env: -o|--org: -u|--user",
    # --- packages
    "npm": _PACKAGE_OPTIONS,
    **{f"npm {sub}": "BOOLS WORDBOOLS" for sub in (
        "access", "adduser", "audit", "bugs", "cache", "ci", "completion", "config", "dedupe", "deprecate",
        "diff", "dist-tag", "docs", "doctor", "edit", "exec", "explain", "explore", "find-dupes", "fund",
        "get", "help", "help-search", "init", "install", "install-ci-test", "install-test", "link", "ll",
        "login", "logout", "ls", "org", "outdated", "owner", "pack", "ping", "pkg", "prefix", "profile",
        "prune", "publish", "query", "rebuild", "repo", "restart", "root", "run", "sbom", "search", "set",
        "shrinkwrap", "star", "stars", "start", "stop", "team", "test", "token", "trust", "undeprecate",
        "uninstall", "unpublish", "unstar", "update", "version", "view", "whoami",
    )},
    "pnpm": _PNPM_OPTIONS,
    **{f"pnpm {sub}": "EXACT BOOLS" for sub in (
        "install", "add", "remove", "publish", "run", "update", "unpublish",
    )},
    "yarn": _YARN_OPTIONS,
    **{f"yarn {sub}": "EXACT" for sub in ("install", "add", "remove", "publish", "run", "up")},
    "yarn global": "SUB EXACT", "yarn global add": "EXACT", "yarn global remove": "EXACT",
    "yarn npm": "SUB EXACT", "yarn npm publish": "EXACT",
    "pip": _PIP_GLOBAL,
    "pip install": f"-e|--editable: --dry-run -t|--target: --user --root: --prefix: -U|--upgrade"
        " --upgrade-strategy:"
        " --force-reinstall -I|--ignore-installed --break-system-packages --compile --no-compile"
        f" --no-warn-script-location --no-warn-conflicts --root-user-action: --report: {_PIP_INDEX}",
    "pip uninstall": "-r|--requirement: -y|--yes --root-user-action: --break-system-packages",
    "pip download": f"-d|--dest|--destination-dir|--destination-directory: {_PIP_INDEX}",
    "cargo": "SUB GLOBAL EXACT -V|--version --list --explain: -v|--verbose -q|--quiet --color: -C: --locked"
        " --offline --frozen --config: -Z: -h|--help",
    "cargo publish": _CARGO_BUILD,
    "cargo install": "EXACT --version|--vers: --index: --registry: --git: --branch: --tag: --rev: --path:"
        " --root:"
        " -f|--force -n|--dry-run --no-track --list --message-format: --debug --ignore-rust-version --bin?"
        " --bins"
        " --example? --examples -F|--features: --all-features --no-default-features -j|--jobs: --keep-going"
        " --profile: --target? --target-dir: --timings?",
    "cargo uninstall": "EXACT --root: -p|--package? --bin:",
    "cargo yank": "EXACT --version|--vers: --undo --index: --registry: --token:",
    "cargo owner": "EXACT -a|--add: -r|--remove: -l|--list --index: --registry: --token:",
    "cargo clean": "EXACT --doc -n|--dry-run -p|--package? --workspace -r|--release --profile: --target?"
        " --target-dir:"
        " --manifest-path:",
    "cargo remove": "EXACT -n|--dry-run --dev --build --target: -p|--package? --manifest-path:",
    "cargo add": "EXACT --no-default-features --default-features -F|--features: --optional --no-optional"
        " --public --no-public --rename: -n|--dry-run --manifest-path: --ignore-rust-version -p|--package?"
        " --path: --base: --git: --branch: --tag: --rev: --registry: --dev --build --target:",
}  # fmt: skip
