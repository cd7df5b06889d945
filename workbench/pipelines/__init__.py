"""Pipelines: manifest and steps read, checked, walked as a DAG, and kept so that any driver can go on.

Knows no host and no screen. Where steps run is behind `executor.StepExecutor`.
"""
