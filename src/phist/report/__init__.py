"""Tables, figures and the report of a study, from its records only: nothing here trains or predicts anything."""
