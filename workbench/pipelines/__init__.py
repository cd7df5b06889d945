"""Pipelines: documents read and checked, runs walked as a DAG and kept so that any driver can resume them."""
