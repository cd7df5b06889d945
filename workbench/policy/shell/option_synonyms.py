"""Synonyms of commands, options and operands, for denials: what means the same in other words."""

from typing import Final

_NPM_COMMANDS: Final = {
    "install": "add i in ins inst insta instal isnt isnta isntal isntall",
    "uninstall": "unlink remove rm r un",
    "run": "run-script rum urn", "test": "tst t", "update": "up upgrade udpate",
    "ci": "clean-install ic install-clean isntall-clean", "exec": "x", "init": "innit create", "config": "c",
    "adduser": "add-user", "owner": "author", "dist-tag": "dist-tags", "dedupe": "ddp", "search": "find s se",
    "link": "ln", "ls": "list", "ll": "la", "version": "verison", "view": "v info show", "rebuild": "rb",
    "install-ci-test": "cit sit", "install-test": "it", "docs": "home", "bugs": "issues", "org": "ogr",
    "explain": "why", "help": "hlep",
}  # fmt: skip
_PNPM_COMMANDS: Final = {
    "install": "i", "remove": "rm uninstall un", "update": "up upgrade", "run": "run-script",
}  # fmt: skip
_CONTAINER_COMMANDS: Final = {
    "container remove": "rm", "container rm": "rm", "container run": "run", "container create": "create",
    "container exec": "exec", "container stop": "stop", "container kill": "kill",
    "container restart": "restart", "image rm": "rmi", "image remove": "rmi", "image push": "push",
    "image pull": "pull", "image build": "build", "buildx build": "build", "builder build": "build",
    "buildx b": "build", "buildx prune": "builder prune", "volume remove": "volume rm",
    "network remove": "network rm",
}  # fmt: skip
SUBCOMMAND_NAMES: Final[dict[str, str]] = {
    **{
        f"{tool} {name}": f"{tool} {command}"
        for tool, commands in (("npm", _NPM_COMMANDS), ("pnpm", _PNPM_COMMANDS))
        for command, names in commands.items()
        for name in names.split()
    },
    **{
        f"{tool} {name}": f"{tool} {command}"
        for tool in ("docker", "podman")
        for name, command in _CONTAINER_COMMANDS.items()
    },
    "docker-compose": "docker compose",
    "podman-compose": "podman compose",
    "git stash save": "git stash push",
    "git remote rm": "git remote remove",
    "git stage": "git add",
    "cargo rm": "cargo remove",
    "terraform destroy": "terraform apply -destroy",
    "terraform state remove": "terraform state rm",
    "terraform state move": "terraform state mv",
    "terraform env": "terraform workspace",
    "gh pr new": "gh pr create",
    "gh pr co": "gh pr checkout",
    "gh issue new": "gh issue create",
    "gh release new": "gh release create",
    "gh repo new": "gh repo create",
    "gh secret remove": "gh secret delete",
    "yarn upgrade": "yarn up",
}
"""Commands that are another one under a second name, and what they add to it.

Sources: `npm help COMMAND` and `lib/utils/cmd-list.js` of npm, the help of docker, gh and pnpm,
`git help stash` and `git help remote`, `terraform destroy -help`.
"""
DEFAULT_SUBCOMMANDS: Final = {"git stash": "git stash push", "yarn": "yarn install"}
"""Commands that mean one of their sub-commands if they name none."""

OptionSynonyms = dict[str, dict[str, tuple[str, ...]]]
"""By program or command, then by option or `option=value`: other options of the same command."""
EQUAL_OPTIONS: Final[OptionSynonyms] = {
    "git branch": {"-D": ("--delete", "--force"), "-M": ("--move", "--force"), "-C": ("--copy", "--force")},
    "cp": {
        "-a": ("--no-dereference", "--preserve", "--recursive"),
        "-d": ("--no-dereference", "--preserve"),
    },
    "rsync": {
        "-a": ("-r", "-l", "-p", "-t", "-g", "-o", "--devices", "--specials"),
        "-D": ("--devices", "--specials"),
        "--del": ("--delete-during",),
        "-P": ("--partial", "--progress"),
    },
    "wget": {
        "-n=c": ("--no-clobber",),
        "-n=v": ("--no-verbose",),
        "-n=d": ("--no-directories",),
        "-n=H": ("--no-host-directories",),
        "-n=p": ("--no-parent",),
    },
    "npm": {"--location=global": ("--global",)},
    "kubectl delete": {"--now": ("--grace-period=1",)},
}
"""Options that are several others; from the manuals that `option_names` has."""
_CURL_DATA: Final = ("--data", "--data-binary", "--data-raw", "--data-urlencode", "--json")
_CURL_BODIES: Final = (*_CURL_DATA, "--form", "--form-string")
_RSYNC_DELETIONS: Final = (
    "--delete-before", "--delete-during", "--delete-delay", "--delete-after", "--delete-excluded",
)  # fmt: skip
IMPLIED_OPTIONS: Final[OptionSynonyms] = {
    "git push": {"--mirror": ("--force", "--delete")},
    "git stash push": {"--all": ("--include-untracked",)},
    "rsync": dict.fromkeys(_RSYNC_DELETIONS, ("--delete",)),
    "curl": {
        **dict.fromkeys(_CURL_BODIES, ("--request=POST",)),
        "--upload-file": ("--request=PUT",),
        "--head": ("--request=HEAD",),
    },
    "wget": {
        "--post-data": ("--method=POST",),
        "--post-file": ("--method=POST",),
        "--mirror": ("--recursive",),
    },
    "gh api": dict.fromkeys(("--field", "--raw-field", "--input"), ("--method=POST",)),
    "shred": {"--remove": ("-u",), "-u": ("--remove",)},
}
"""Options that do what others do, and more: a denial of those covers them, and not the reverse.

From the manuals: `curl -d` and `gh api -f` send POST, `git push --mirror` forces and deletes,
`git stash --all` includes untracked files, `rsync --delete-after` deletes.
"""
METHOD_OPTIONS: Final[dict[str, tuple[str, ...]]] = {
    "curl": ("--request", "--get"),
    "wget": ("--method",),
    "gh api": ("--method",),
}
"""The option that names the method of a request, and those that set it too: then none is implied."""
SIMILAR_OPTIONS: Final[OptionSynonyms] = {
    "git push": {"--force-with-lease": ("--force",), "--prune": ("--delete",)},
    "git add": {"--update": ("--all",)},
    "git clean": {"-X": ("-x",)},
    "find": {
        "-execdir": ("-exec", "-delete"),
        "-ok": ("-exec", "-delete"),
        "-okdir": ("-exec", "-delete"),
        "-exec": ("-execdir", "-delete"),
    },
    "docker run": {
        "--mount": ("--volume",),
        "--volumes-from": ("--volume",),
        "--cap-add": ("--privileged",),
    },
    "curl": {
        **dict.fromkeys(_CURL_DATA, ("--data",)),
        "--config": ("--request", "--data", "--output", "--insecure", "--form", "--upload-file"),
    },
    "kubectl delete": {"--grace-period": ("--force",), "--now": ("--force",)},
    "kubectl apply": {"--force-conflicts": ("--force",)},
    "npm": {"--prefix": ("--global",)},
}
"""Options that do much of what others do: they ask while one of those is denied."""

SIGNAL_NAMES: Final = {
    "1": "HUP", "2": "INT", "3": "QUIT", "6": "ABRT", "9": "KILL", "10": "USR1", "12": "USR2", "13": "PIPE",
    "14": "ALRM", "15": "TERM", "17": "CHLD", "18": "CONT", "19": "STOP", "20": "TSTP",
}  # fmt: skip
"""Signals by number (signal(7) of Linux)."""
_KINDS: Final = {
    "pod": "po pods", "namespace": "ns namespaces", "node": "no nodes", "service": "svc services",
    "deployment": "deploy deployments deployments.apps deployment.apps", "statefulset": "sts statefulsets",
    "daemonset": "ds daemonsets", "replicaset": "rs replicasets", "configmap": "cm configmaps",
    "persistentvolume": "pv persistentvolumes", "persistentvolumeclaim": "pvc persistentvolumeclaims",
    "customresourcedefinition": "crd crds customresourcedefinitions", "ingress": "ing ingresses",
    "job": "jobs", "cronjob": "cj cronjobs", "secret": "secrets", "serviceaccount": "sa serviceaccounts",
    "clusterrole": "clusterroles", "clusterrolebinding": "clusterrolebindings", "role": "roles",
    "rolebinding": "rolebindings", "storageclass": "sc storageclasses", "endpoints": "ep",
    "horizontalpodautoscaler": "hpa horizontalpodautoscalers", "event": "ev events",
}  # fmt: skip
KUBERNETES_KINDS: Final = {short: kind for kind, names in _KINDS.items() for short in names.split()}
"""Short and plural names of resources (`kubectl api-resources`)."""
