"""Keeps the test runner out of the projects that the sessions were recorded in."""

collect_ignore_glob = ["*/project/*"]
