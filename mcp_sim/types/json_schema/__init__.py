"""JSON Schemas: their shapes, merging, contradictions, and validation of values."""
