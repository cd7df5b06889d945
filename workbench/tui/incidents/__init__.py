"""The findings: incidents that a linter or an analyzer found, and the work on them."""
