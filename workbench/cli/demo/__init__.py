"""The demo: a throw-away project, a recorded agent, and a person who answers by line."""
