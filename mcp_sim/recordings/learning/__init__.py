"""Learn a tool spec from recorded sessions, without a language model.

Sessions are replayed in a draft of the spec, which shows for each recorded answer what a result template could show
there (`samples`). Templates are induced from both (`json_forms`, `text_forms`, `cases`), error templates from recorded
failures (`failures`), and the fields of records from all answers (`entities`). What answers held-back sessions worse
than the inferred plans is dropped (`selection`).
"""
