"""Planning steps that agents share, as kernels over flat arrays."""
