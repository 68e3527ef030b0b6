"""What the engine says once, as a warning."""


class EngineNotice(UserWarning):
    """The fused engine does not cover a network, and the reference computes it; or its compiled code cannot be kept."""
