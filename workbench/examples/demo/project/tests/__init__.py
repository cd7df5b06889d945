"""Tests of the shop."""
