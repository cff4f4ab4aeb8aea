"""Workbooks and sheets of cells: which tools work on them, and how do they answer?"""
