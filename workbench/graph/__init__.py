"""The pipeline graph: layered layout of a DAG and its drawings as text, Mermaid and SVG.

Phases of a layout: `layers`, `edge_routes`, `layout`. Drawings: `band`, `compact_list`, chosen by `fit`. It
knows nothing of journals or screens; whoever draws passes steps and what is known of them.
"""
