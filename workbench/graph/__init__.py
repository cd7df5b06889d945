"""The pipeline graph: layered layout of a DAG and its drawings as text, mermaid and svg.

Pure functions: `model.build` and `fold.fold` make a graph, `layout.arrange` places it, `fit.fit` makes a
picture for a pane, whose lines take facts. Nothing here reads a file, a clock or a random number, and no
layout function knows what state a step is in.
"""
