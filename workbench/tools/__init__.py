"""The tool catalogue: what agents can do, each tool describing itself as data.

Owns what a tool proposes, reads or runs, given what the gate has let pass. A tool must never decide
whether it may act, and a writing tool never writes: it proposes bytes that others apply.
"""
