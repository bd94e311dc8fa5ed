"""The equations: pure functions of tensors."""
