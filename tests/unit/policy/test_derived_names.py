"""Names that a command writes although they are no words of its line, compared with what real programs do."""

import bz2
import gzip
import lzma
import random
import subprocess

import pytest

from tests.support.tables import each_row
from workbench.policy.shell.derived_names import UnknownNames, derived_names

PACKERS = {
    "gzip": (gzip.compress, (".gz", "-gz", ".z", "-z", "_z", ".Z", ".tgz", ".taz")),
    "bzip2": (bz2.compress, (".bz2", ".bz", ".tbz2", ".tbz")),
    "xz": (lzma.compress, (".xz", ".txz")),
}
STEMS = (".envrc", ".mcp", "a.b-c_d", ".workbench.json", "x", "-x", "a b", "deep/.envrc")


def test_the_real_decompressors_write_no_name_that_is_not_derived(tmp_path):
    chance = random.Random(3301)
    for number in range(40):
        program = chance.choice(sorted(PACKERS))
        pack, endings = PACKERS[program]
        name = chance.choice(STEMS) + chance.choice(endings)
        folder = tmp_path / str(number)
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(pack(b"x"))
        line = [program, *chance.choice((["-d"], ["-dk"], ["--decompress", "-f"])), "--", name]
        before = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
        done = subprocess.run(line, cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        after = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
        made = after - before
        assert done.returncode != 0 or made, line
        ours = set(derived_names(line))
        # `.tgz` becomes `.tar`, which no protected name ends with.
        assert {path for path in made if not path.endswith(".tar")} <= ours, (line, made)


def test_the_real_git_clones_into_no_name_that_is_not_derived(tmp_path):
    for number, name in enumerate((".agents", ".vscode.git", "x.bundle", "a/.github/", "a/.git", "b.git/")):
        source = tmp_path / "from" / str(number) / name
        source.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "--bare", source], check=True)
        into = tmp_path / "into" / str(number)
        into.mkdir(parents=True)
        line = ["git", "clone", "-q", f"{tmp_path}/from/{number}/{name}"]
        subprocess.run(line, cwd=into, check=True, capture_output=True)
        made = {path.name for path in into.iterdir()}
        assert made, name
        assert made <= set(derived_names(line)), (name, made)


DERIVED = [
    (["git", "clone", "https://h/x/.agents"], {".agents"}),
    (["git", "clone", "--depth", "1", "https://h/x/.github.git/"], {".github"}),
    (["git", "clone", "h:.vscode"], {".vscode"}),
    (["git", "clone", "https://h/x/.vscode//.git"], {".vscode"}),
    (["git", "clone", "https://h/x/.husky.git///.git/"], {".husky"}),
    (["git", "clone", "https://h/ .vscode"], {".vscode"}),
    (["gh", "repo", "clone", "o/.vscode.git"], {".vscode"}),
    (["python3", "-m", "gzip", "-d", ".envrc.gz"], {".envrc"}),
    (["gpg", ".envrc.gpg"], {".envrc"}),
    (["curl", "-4O", "http://h/%2eenvrc"], {".envrc"}),
    (["wget", "http://h/%2eenvrc"], {".envrc"}),
    (["gunzip", "--", "-x.gz"], {"-x"}),
    (["curl", "-sSLO", "https://h/.envrc?x=1#y"], {".envrc"}),
    (["curl", "--remote-name", "https://h/a/.mcp.json"], {".mcp.json"}),
    (["wget", "https://h/.envrc"], {".envrc"}),
    (["wget", "-q", "https://h/x?y/.envrc"], {".envrc"}),
    (["tsc", ".pnpmfile.cts", "lint-staged.config.ts"], {".pnpmfile.cjs", "lint-staged.config.js"}),
    (["tsc", "a.tsx"], {"a.js"}),
]  # fmt: skip
NOTHING = [
    "curl https://h/.envrc", "curl -o - https://h/.envrc", "wget -O - https://h/.envrc", "wget --spider https://h/.envrc",
    "tar -tf x.tar", "tar czf x.tgz src", "tar", "unzip -l x.zip", "unzip -Zl x.zip", "cpio -t", "7z l x.7z", "7z", "ar t x.a",
    "ar rcs x.a y.o", "patch --dry-run", "unar", "git mv a b", "ls x.gz", "mv a b", "git apply --check x", "git am --abort", "python -m pytest x", "python -m", "dpkg -l x", "python -m zipfile -l x",
    "dotnet test", "mvn test", "7z l x",
]  # fmt: skip
UNKNOWN = [
    "tar -xf x.tar", "tar xzf x.tgz", "tar --extract -f x", "tar --ext -f x", "tar --get -f x", "tar -C src -xvf x", "unzip x.zip", "unzip -d src x.zip",
    "cpio -id", "cpio --extract", "pax -r", "7z x x.7z", "7z e x", "unrar x a.rar", "jar xf x.jar", "jar --extract --file x", "ar x lib.a",
    "unar x.rar", "patch -p1", "patch src/a x.diff", "apply_patch x", "rename s/x/.envrc/ x", "split -b 1 x .env",
    "csplit x 3", "gzip -dr src", "gunzip --recursive src", "gunzip -N x.gz", "gzip -dN x.gz", "gunzip --name x.gz",
    "curl -OJ https://h/x", "curl -O --remote-header-name https://h/x", "curl -O https://h/{.envrc,x}", "curl -O https://h/[1-3]",
    "gzip -S rc .env", "xz --suffix=rc .env", "cp -b -S rc a .env", "mv --backup --suffix=rc a .env", "git clone //.git",
    "unzip -q x.zip -dlib", "unzip -qo x.zip", "jar -f y.jar -x", "cpio --ext", "7z -y x a.7z", "git apply x.patch", "git am x.mbox",
    "python3 -m zipfile -e x.zip .", "python -m tarfile --extract x", "dpkg -x a.deb .", "gpatch -p1", "mise use node@20",
    "bundle config set gemfile x", "yarn set version x", "lefthook install", "claude mcp add x", "dotnet new nugetconfig",
    "wget --force-directories https://h", "rename.ul a b c", "jupyter nbconvert x", "curl --remote-header-name -O https://h/x",
    "wget -r https://h", "wget -i list", "wget --content-disposition https://h/x", "wget -p https://h/x", "wget --mirror https://h",
]  # fmt: skip


@each_row(("words", "expected"), DERIVED)
def test_names_come_from_the_address_and_from_the_packed_file(words, expected):
    assert expected <= set(derived_names(words))


@each_row("line", NOTHING)
def test_a_command_whose_names_are_words_of_its_line_derives_none(line):
    assert derived_names(line.split()) == ()


@each_row("line", UNKNOWN)
def test_names_that_an_archive_a_patch_or_a_server_gives_are_unknown(line):
    with pytest.raises(UnknownNames):
        derived_names(line.split())
