"""Thoughts that an agent writes down: which tools take them, and how do they answer?"""
