"""What the verbs of the command `seqattn` do: one file per verb, over the library."""
