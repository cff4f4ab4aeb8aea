"""Faults: perturbations, triggers, their compilation and intensity."""
