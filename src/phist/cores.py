"""How many cores this process may use."""


def usable_cores() -> int:
    """Those that the system, a container's limit of processor time, and ``LOKY_MAX_CPU_COUNT`` leave to this process."""
    from joblib import cpu_count

    return int(cpu_count())
