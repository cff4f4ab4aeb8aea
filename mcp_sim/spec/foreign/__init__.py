"""Documents of other programs: files, secrets, OpenAPI, and dialects of JSON Schema. Shared by the importers."""
