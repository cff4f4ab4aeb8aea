"""Kinds of perturbations. One kind per file; the file, the class and the YAML key share a name."""
