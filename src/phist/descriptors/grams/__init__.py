"""Gram matrices of the six graph kernels for graphs without labels: every pair of a set compared, as GraKeL would."""
