"""JSON Schemas: their shapes, merging, satisfiability, and validation of values."""
