"""Learn a tool spec from recorded sessions, without a language model.

Sessions are replayed in a draft of the spec (`drafts`), which shows for each recorded answer what a result template
could show there (`samples`). Templates are induced from both (`cases`, `json_forms`, `merging`), error templates from
recorded failures (`failures`), and the fields of records from all answers (`entities`). Templates show no records
of recorded worlds. Pieces of all this can be left out (`lessons`): those without which held-back sessions are answered
better (`selection`).
"""
