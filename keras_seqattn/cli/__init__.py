"""The command `seqattn`: one file per verb, a thin layer over the library."""
