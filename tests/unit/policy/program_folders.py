"""Folders in which the programs of the table are tried: each with something that must not run and must not be made."""

import os
import subprocess
from pathlib import Path

_EVIL = "#!/bin/sh\n: > RAN\n"
_FILES = {
    "a.txt": "b\na 1\n", "-x": "a\n", "-o": "a\n", "-i": "a\n", "b.txt": "a 1\nb 2\n", "src/main.py": "import os\n\n\ndef one():\n    return 1\n", "n.json": '{"a": 1}\n',
    "args": "-onew.out\n--output=new.out\n-o\nnew.out\n", "evil": _EVIL, "evil.sh": _EVIL,
    "evil.py": "open('RAN', 'w')\n", "evil.js": "require('fs').writeFileSync('RAN', '')\n",
    "evil.cjs": "require('fs').writeFileSync('RAN', '')\n", "evil.rb": "File.write('RAN', '')\n",
    "evil.cmake": "file(WRITE RAN x)\n", "evil.mk": "all:\n\t./evil\n", "evil.cfg": "[x]\n", "evil.lua": "os.execute('./evil')\n",
}  # fmt: skip
_MORE: dict[str, dict[str, str]] = {
    "python": {
        "test_a.py": "import unittest\n\n\nclass TestA(unittest.TestCase):\n    def test_a(self):\n        assert 1\n",
        "pyproject.toml": "[project]\nname = 'demo'\nversion = '1'\n",
        "tox.ini": "[tox]\nskipsdist = true\nenvlist = a\n[testenv]\nskip_install = true\ncommands = \n",
    },
    "node": {
        "package.json": '{"name": "demo", "version": "1.0.0", "scripts": {"test": "echo t", "start": "echo s", "x": "echo x"}}\n',
        "a.ts": "const a: number = 1\n", "b.js": "var a = 1\n", "a.test.js": "test('a', () => {})\n",
        "test/m.js": "it('a', function () {})\n", "tsconfig.json": "{}\n", "eslint.config.js": "module.exports = []\n",
        "v.test.mjs": "import { test } from 'vitest'\ntest('a', () => {})\n",
    },
    "cargo": {
        "Cargo.toml": '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n', "Cargo.lock": 'version = 3\n\n[[package]]\nname = "demo"\nversion = "0.1.0"\n',
        "src/main.rs": "fn main() {}\n#[test]\nfn a() {}\n", "src/lib.rs": "pub fn one() -> u8 { 1 }\n", "tests/t.rs": "#[test]\nfn b() {}\n",
    },
    "go": {"go.mod": "module demo\n\ngo 1.19\n", "main.go": "package main\n\nfunc main() {}\n", "m_test.go": 'package main\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n'},
    "maven": {"pom.xml": "<project><modelVersion>4.0.0</modelVersion><groupId>d</groupId><artifactId>d</artifactId><version>1</version></project>\n"},
    "gradle": {"build.gradle": "task hello { doLast { println 'hi' } }\n", "settings.gradle": "rootProject.name = 'demo'\n"},
    "ruby": {"spec/a_spec.rb": "describe 'a' do\n  it('b') { }\nend\n"},
    "c": {
        "Makefile": "all:\n\t@echo all\ntest:\n\t@true\n.PHONY: all test\n", "main.c": "int main(void) { return 0; }\n",
        "build.ninja": "rule t\n  command = true\nbuild all: t\ndefault all\n", "x.h": "int x;\n",
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(demo C)\nenable_testing()\nadd_test(NAME t COMMAND true)\n",
        "CTestTestfile.cmake": 'add_test(t "true")\n', "build/CTestTestfile.cmake": 'add_test(t "true")\n',
    },
    "terraform": {"main.tf": 'output "a" {\nvalue = 1\n}\n'},
}  # fmt: skip
_IDENTITY = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
_COMMANDS: dict[str, tuple[str, ...]] = {
    "git": (
        "git init -q -b main --template= .", "git config user.name a", "git config user.email a@b", "git config core.editor true",
        "git add -A", "git commit -q -m one", "cp a.txt c.txt", "git add -A", "git commit -q -m two", "git tag v1",
        "git branch other", "git stash list", "git clone -q --bare . .git/far", "git remote add origin ./.git/far", "git fetch -q",
        "cp b.txt a.txt",
    ),
    "hg": ("hg init .", "hg add -q", "hg commit -m one -u a"),
    "svn": ("svnadmin create repo", "svn checkout -q file://{}/repo wc"),
    "files": ("gzip -k b.txt", "tar -cf t.tar a.txt", "python3 -m zipfile -c z.zip a.txt"),
}  # fmt: skip


def make_folder(kind: str, folder: Path) -> Path:
    """Make the folder of one kind, unless it was made before."""
    if folder.exists():
        return folder
    for name, text in (_FILES | _MORE.get(kind, {})).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text == _EVIL else 0o644)
    for command in _COMMANDS.get(kind, ()):
        subprocess.run(
            command.format(folder).split(),
            cwd=folder,
            env=os.environ | _IDENTITY,
            check=True,
            capture_output=True,
        )
    return folder
