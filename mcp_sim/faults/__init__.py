"""Faults: perturbations, triggers, their compilation and intensity.

May import `programs` and everything below it. Perturbations and triggers do not import each other.
"""
