"""Answer tools by plans: what each tool does to which records, as declared or inferred.

`infer` makes the plans of a list of tools. `records` and `schema_only` are the backends, which compile the answers to
a plan; `rendering` lays results out. May import `types`, `world`, `spec`, `libraries` and `generate`.
"""
