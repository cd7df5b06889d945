"""The pipeline graph: layered layout of a DAG and its drawings as text, mermaid and svg.

Pure functions from structure to places and from places and facts to lines. Nothing here reads a file,
a clock or a random number, and no layout function knows what state a step is in.
"""
