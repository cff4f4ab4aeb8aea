"""Faults: perturbations, triggers, their compilation and intensity.

Imports `backends` and every package below it. Perturbations and triggers do not import each other.
"""
