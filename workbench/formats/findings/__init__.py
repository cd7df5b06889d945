"""Files in which linters and analyzers say what they found: SARIF, Konveyor, S2, ruff, pyright."""
