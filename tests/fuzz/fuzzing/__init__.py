"""Seeded fuzzing of everything that phist reads: see `__main__` for the command and `driver` for how it works."""
