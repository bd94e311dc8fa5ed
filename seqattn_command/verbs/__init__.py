"""The options, help texts and examples of the verbs: one file per verb."""
