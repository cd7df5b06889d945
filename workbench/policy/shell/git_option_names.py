"""Every option of the git commands that people deny, with all of its names."""

# Source: `git COMMAND -h` and `git help COMMAND` of git 2.39, and for newer options the manual of git 2.47.
# Signs and words of the rows are explained in `option_names`.

from typing import Final

_REFSPEC_FETCH: Final = (
    "-v|--verbose -q|--quiet --progress --all -a|--append --atomic --upload-pack: -f|--force -t|--tags"
    " --no-tags -j|--jobs: --prefetch -p|--prune -P|--prune-tags --recurse-submodules? --dry-run --porcelain"
    " --write-fetch-head -k|--keep --depth: --shallow-since: --shallow-exclude: --deepen: --unshallow"
    " --refetch --update-shallow --refmap: -o|--server-option: -4|--ipv4 -6|--ipv6 --negotiation-tip:"
    " --show-forced-updates --set-upstream"
)
_PICK: Final = (
    "--quit --continue --abort --skip --cleanup: -n|--no-commit --commit -e|--edit -s|--signoff"
    " -m|--mainline:"
    " --rerere-autoupdate --strategy: -X|--strategy-option: -S|--gpg-sign?"
)
_PATHSPEC_FILE: Final = "--pathspec-from-file: --pathspec-file-nul"
_SWITCH: Final = (
    "--guess -q|--quiet --recurse-submodules? --progress -m|--merge --conflict: -d|--detach -t|--track?"
    " --orphan: --overwrite-ignore --ignore-other-worktrees"
)
_STASH_PUSH: Final = (
    "-k|--keep-index -S|--staged -p|--patch -q|--quiet -u|--include-untracked -a|--all -m|--message:"
    f" {_PATHSPEC_FILE}"
)
_STASH_APPLY: Final = "-q|--quiet --index"
GIT_OPTION_NAMES: Final[dict[str, str]] = {
    "git": "SUB -C: -c: -p|--paginate -P|--no-pager --git-dir: --work-tree: --namespace: --exec-path?"
        " --config-env: --super-prefix: --attr-source: --bare --no-replace-objects --no-lazy-fetch"
        " --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks"
        " --no-advice -v|--version -h|--help --html-path --man-path --info-path --list-cmds:",
    "git push": "-v|--verbose -q|--quiet --repo: --all|--branches --mirror -d|--delete --tags -n|--dry-run"
        " --porcelain -f|--force --force-with-lease? --force-if-includes --recurse-submodules: --thin"
        " --receive-pack|--exec: -u|--set-upstream --progress --prune --no-verify --follow-tags --signed?"
        " --atomic -o|--push-option: -4|--ipv4 -6|--ipv6",
    "git reset": "-q|--quiet --no-refresh --mixed --soft --hard --merge --keep --recurse-submodules?"
        f" -p|--patch -N|--intent-to-add {_PATHSPEC_FILE}",
    "git clean": "-q|--quiet -n|--dry-run -f|--force -i|--interactive -d -e|--exclude: -x -X",
    "git commit": "-q|--quiet -v|--verbose -F|--file: --author: --date: -m|--message: -c|--reedit-message:"
        " -C|--reuse-message: --fixup: --squash: --reset-author --trailer: -s|--signoff -t|--template:"
        " -e|--edit --no-edit --cleanup: --status -S|--gpg-sign? -a|--all -i|--include --interactive"
        " -p|--patch -o|--only -n|--no-verify --dry-run --short --branch --ahead-behind --porcelain --long"
        " -z|--null --amend --no-post-rewrite -u|--untracked-files? --allow-empty --allow-empty-message"
        f" {_PATHSPEC_FILE}",
    "git checkout": f"-b: -B: -f|--force -l --overlay -2|--ours -3|--theirs -p|--patch"
        " --ignore-skip-worktree-bits"
        f" {_SWITCH} {_PATHSPEC_FILE}",
    "git switch": f"-c|--create: -C|--force-create: -f|--force|--discard-changes {_SWITCH}",
    "git restore": "-s|--source: -S|--staged -W|--worktree --ignore-unmerged --overlay -q|--quiet"
        " --recurse-submodules? --progress -m|--merge --conflict: -2|--ours -3|--theirs -p|--patch"
        f" --ignore-skip-worktree-bits {_PATHSPEC_FILE}",
    "git branch": "-v|--verbose -q|--quiet -t|--track? -u|--set-upstream-to: --unset-upstream --color?"
        " -r|--remotes --contains: --no-contains: --abbrev? -a|--all -d|--delete -D -m|--move -M -c|--copy -C"
        " -l|--list --show-current --create-reflog --edit-description -f|--force --merged? --no-merged?"
        " --column? --sort: --points-at: -i|--ignore-case --recurse-submodules --format: --omit-empty",
    "git rebase": "--onto: --keep-base --no-verify -q|--quiet -v|--verbose -n|--no-stat --stat --signoff"
        " --committer-date-is-author-date --reset-author-date|--ignore-date -C: --ignore-whitespace"
        " --whitespace: -f|--force-rebase|--no-ff --ff --continue --skip --abort --quit --edit-todo"
        " --show-current-patch --apply -m|--merge -i|--interactive -p|--preserve-merges --rerere-autoupdate"
        " --empty: --keep-empty --autosquash --update-refs -S|--gpg-sign? --autostash -x|--exec:"
        " -r|--rebase-merges? --fork-point -s|--strategy: -X|--strategy-option: --root"
        " --reschedule-failed-exec --reapply-cherry-picks --allow-empty-message",
    "git merge": "-n|--no-stat --stat|--summary --compact-summary --log? --squash --commit -e|--edit"
        " --cleanup: --ff --no-ff --ff-only --rerere-autoupdate --verify-signatures -s|--strategy:"
        " -X|--strategy-option: -m|--message: -F|--file: --into-name: -v|--verbose -q|--quiet --abort --quit"
        " --continue --allow-unrelated-histories --progress -S|--gpg-sign? --autostash --overwrite-ignore"
        " --signoff --no-verify",
    "git tag": "-l|--list -n? -d|--delete -v|--verify -a|--annotate -m|--message: -F|--file: --trailer:"
        " -e|--edit -s|--sign --cleanup: -u|--local-user: -f|--force --create-reflog --column?"
        " --contains|--with: --no-contains|--without: --merged: --no-merged: --omit-empty --sort:"
        " --points-at: --format: --color? -i|--ignore-case",
    "git add": "-n|--dry-run -v|--verbose -i|--interactive -p|--patch -e|--edit -f|--force -u|--update"
        " --renormalize -N|--intent-to-add -A|--all|--no-ignore-removal --no-all|--ignore-removal --refresh"
        f" --ignore-errors --ignore-missing --warn-embedded-repo --sparse --chmod: {_PATHSPEC_FILE}",
    "git pull": "-r|--rebase? -n|--no-stat --stat|--summary --log? --signoff --squash --commit -e|--edit"
        " --cleanup: --ff --no-ff --ff-only --verify --no-verify --verify-signatures --autostash"
        " -s|--strategy:"
        f" -X|--strategy-option: -S|--gpg-sign? --allow-unrelated-histories {_REFSPEC_FETCH}",
    "git fetch": "-m|--multiple -n -u|--update-head-ok --negotiate-only --filter: --auto-maintenance"
        f" --auto-gc --write-commit-graph --stdin --submodule-prefix: {_REFSPEC_FETCH}",
    "git cherry-pick": f"-x --ff --allow-empty --allow-empty-message --keep-redundant-commits --empty:"
        f" {_PICK}",
    "git revert": f"--reference {_PICK}",
    "git rm": f"-n|--dry-run -q|--quiet --cached -f|--force -r --ignore-unmatch --sparse {_PATHSPEC_FILE}",
    "git mv": "-v|--verbose -n|--dry-run -f|--force -k --sparse",
    "git stash": "SUB",
    "git stash push": _STASH_PUSH,
    "git stash drop": "-q|--quiet",
    "git stash clear": "",
    "git stash pop": _STASH_APPLY,
    "git stash apply": _STASH_APPLY,
    "git worktree": "SUB",
    "git worktree add": "-f|--force -b: -B: -d|--detach --checkout --lock --reason: -q|--quiet --track"
        " --guess-remote --orphan --relative-paths",
    "git worktree remove": "-f|--force",
    "git worktree move": "-f|--force --relative-paths",
    "git worktree prune": "-n|--dry-run -v|--verbose --expire:",
    "git submodule": "SUB -q|--quiet",
    "git submodule add": "-b|--branch: -f|--force -q|--quiet --progress --name: --reference: --ref-format:"
        " --depth:",
    "git submodule deinit": "-f|--force --all -q|--quiet",
    "git submodule update": "-f|--force -i|--init --checkout -m|--merge -r|--rebase -N|--no-fetch"
        " --remote -q|--quiet --progress --reference: --dissociate --recursive --depth: -j|--jobs:"
        " --single-branch --recommend-shallow --filter: --require-init",
    "git remote": "SUB -v|--verbose",
    "git remote add": "-f|--fetch --tags -t|--track: -m|--master: --mirror?",
    "git remote remove": "",
    "git remote rename": "--progress",
    "git remote set-url": "--push --add --delete",
    "git remote prune": "-n|--dry-run",
    "git config": "--global --system --local --worktree -f|--file: --blob: --get --get-all --get-regexp"
        " --get-urlmatch --replace-all --add --append --all --unset --unset-all --rename-section"
        " --remove-section -l|--list --fixed-value -e|--edit --get-color --get-colorbool -t|--type: --bool"
        " --int --bool-or-int --bool-or-str --path --expiry-date -z|--null --name-only --includes"
        " --show-names --show-origin --show-scope --default: --comment: --value: --regexp --url:",
    "git filter-branch": "-f|--force --setup: --subdirectory-filter: --env-filter: --tree-filter:"
        " --index-filter: --parent-filter: --remap-to-ancestor --msg-filter: --commit-filter:"
        " --tag-name-filter: --prune-empty --original: -d: --state-branch:",
    "git gc": "-q|--quiet --prune? --cruft --max-cruft-size: --aggressive --auto --detach --force"
        " --keep-largest-pack --expire-to:",
    "git reflog": "SUB",
    "git reflog expire": "-n|--dry-run --rewrite --updateref --verbose --expire: --expire-unreachable:"
        " --stale-fix --all --single-worktree",
    "git reflog delete": "-n|--dry-run --rewrite --updateref --verbose",
    "git update-ref": "-m: -d --no-deref -z --stdin --create-reflog --batch-updates",
    "git clone": "-v|--verbose -q|--quiet --progress --reject-shallow -n|--no-checkout --bare --mirror"
        " -l|--local --no-hardlinks -s|--shared --recurse-submodules|--recursive? -j|--jobs: --template:"
        " --reference: --reference-if-able: --dissociate -o|--origin: -b|--branch: --revision:"
        " -u|--upload-pack:"
        " --depth: --shallow-since: --shallow-exclude: --single-branch --no-tags --tags --shallow-submodules"
        " --separate-git-dir: --ref-format: -c|--config: --server-option: -4|--ipv4 -6|--ipv6 --filter:"
        " --also-filter-submodules --remote-submodules --sparse --bundle-uri:",
}  # fmt: skip
