"""Lists of programs that run what files of their folder say, as data."""

from collections.abc import Mapping
from typing import Final


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


FOLDER_RUNNERS: Final = _names(
    # --- build tools and runners of tasks
    "make bmake nmake ninja samu just task go-task rake mage invoke inv fab doit scons waf gradle mvn ant sbt"
    " mill lein bazel buck buck2 pants please plz cmake ctest cpack meson autoreconf autoconf msbuild nant"
    " cake psake xcodebuild dune zig tup redo earthly snakemake nextflow dvc mvnd latexmk quarto trunk cross"
    " wasm-pack buf sqlc tuist xcodegen gleam crystal shards nim v odin haxe dzil jbang amm scala-cli"
    " nix-build nix-shell nixos-rebuild home-manager devenv matlab stata sage maple papermill"
    # --- tests, linters and bundlers, whose settings and plugins are code of the folder
    " pytest py.test tox nox nosetests nose2 behave robot locust jest vitest mocha ava tape karma cypress"
    " playwright wdio jasmine eslint stylelint prettier tsc vite webpack rollup parcel gulp grunt esbuild"
    " next nuxt astro gatsby ng turbo nx lerna storybook rspec cucumber phpunit pest mypy flake8 pylint"
    " sphinx-build mkdocs jekyll eleventy antora standard xo oxlint swc babel postcss tailwindcss"
    " webpack-dev-server golangci-lint phpstan psalm php-cs-fixer prove pyre ansible-lint molecule gauge k6"
    " artillery newman"
    # --- package managers that run code of the folder whatever they do
    " bundle pod rails hanami mix rebar3 nimble fastlane flit maturin twine-build conan vcpkg pyinstaller"
    " nuitka cibuildwheel briefcase shiv pex electron electron-builder electron-forge expo eas react-native"
    " ionic cap cordova buildozer ncc pkg nexe vsce ovsx web-ext carthage"
    # --- hooks, releases and deployments
    " pre-commit prek lefthook husky lint-staged overcommit semantic-release release-it goreleaser serverless"
    " sls sam cdk pulumi skaffold tilt garden act packer vagrant wrangler vercel netlify amplify cdktf"
    " ansible-playbook ansible-galaxy helmfile terragrunt chalice zappa copilot eb railway func swa modal"
    " changeset np standard-version commitizen cz bump-my-version tbump dagger gitlab-runner drone woodpecker"
    # --- web frameworks and servers that load an application of the folder
    " alembic django-admin flask celery gunicorn uvicorn hypercorn daphne streamlit dbt airflow puma unicorn"
    " procman hivemind foreman overmind honcho pm2 nodemon air gow modd symfony artisan drush wp rackup thin"
    " passenger spring prisma drizzle-kit knex sequelize sequelize-cli typeorm liquibase flyway kedro prefect"
    " dagster mlflow sqlmesh torchrun accelerate deepspeed ray"
)  # fmt: skip
"""Programs that run code of their folder, or do what a file there says, in nearly all that they do."""
QUIET_SUBCOMMANDS: Final[Mapping[str, frozenset[str]]] = {
    "npm": _names(
        "access adduser audit bin bugs cache config deprecate dist-tag docs doctor explain find find-dupes"
        " fund get help help-search hook home info issues la list ll login logout ls org outdated owner ping"
        " pkg prefix profile query repo root s sbom se search set show star stars team token unpublish"
        " unstar v view whoami why"
    ),
    "pnpm": _names(
        "audit bin cat-file config doctor info licenses list ls outdated root show store view why"
    ),
    "yarn": _names("audit cache config help info licenses list npm outdated owner tag team versions why"),
    "bun": _names("audit info outdated pm why"),
    "deno": _names("doc fmt info lint types upgrade"),
    "poetry": _names("about cache check config env list search self show source version"),
    "pdm": _names("cache config info list outdated search self show"),
    "pipenv": _names("graph verify"), "hatch": _names("config python self status version"),
    "rye": _names("config list self show toolchain version"),
    "uv": _names("auth cache help pip python self tool version"),
    "cargo": _names(
        "add audit deny fetch fmt generate-lockfile help info locate-project login logout metadata outdated"
        " owner pkgid read-manifest remove rm search tree update vendor verify-project version yank"
    ),
    "dotnet": _names("help nuget --info --list-sdks --list-runtimes sdk workload"),
    "swift": _names("--version help"),
    "composer": _names(
        "about audit diagnose info licenses outdated prohibits search show validate why why-not"
    ),
    "docker-compose": _names("config down images kill logs ls pause port ps rm stop top version"),
    "terraform": _names("fmt login logout version"), "tofu": _names("fmt login logout version"),
    "stack": _names("config list path templates update"),
    "cabal": _names("info list outdated update user-config"),
    "dart": _names("format help info"), "flutter": _names("channel config devices doctor help logs upgrade"),
    "firebase": _names("help list login logout use"),
}  # fmt: skip
"""Of programs that run code of their folder: sub-commands that run none."""
RUNNING_SUBCOMMANDS: Final[Mapping[str, frozenset[str]]] = {
    "go": _names("generate run test tool"), "docker": _names("bake build builder buildx stack"),
    "podman": _names("build kube play"), "nerdctl": _names("build"), "buildah": _names("bud build"),
    "gem": _names("build install"), "brew": _names("bundle"), "conda": _names("develop env run"),
    "mamba": _names("env run"), "helm": _names("unittest"),
    "opam": _names("build install pin test"), "luarocks": _names("build make test"),
    "fly": _names("deploy launch"), "heroku": _names("local"), "mise": _names("r run tasks watch"),
    "direnv": _names("exec reload"), "coverage": _names("combine html json lcov report run xml"),
    "jupyter": _names("execute nbconvert run"),
    "nix": _names("build develop flake run"),
}  # fmt: skip
"""Sub-commands that do, of programs that mostly run none."""
FETCHING_RUNNERS: Final = _names("uvx pipx")
"""Runners that fetch what they run, and look for nothing in their folder."""
PYTHON_INSTALLERS: Final = _names("pip pipx uv uvx")
PATH_INSTALLERS: Final = PYTHON_INSTALLERS | _names(
    "easy_install conda mamba apt apt-get dpkg rpm dnf yum zypper apk snap brew luarocks cpanm"
)
"""Programs that build or install code of the folder where an operand is a path or a package."""
