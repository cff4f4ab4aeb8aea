"""Workbooks with sheets of cells."""
