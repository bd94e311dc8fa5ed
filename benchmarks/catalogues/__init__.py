"""What is measured: sizes, contenders, tolerances; nothing here computes."""
