"""The tool catalogue: what agents can do, each tool describing itself as data."""
