"""Listening, and stopping gracefully."""

import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from phist.errors import ConfigError
from phist.extras import require

GRACE = 30  # seconds that requests being answered are given when the server is asked to stop


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound there, or a `ConfigError` that says why it cannot be; port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"cannot listen on {host} port {port} ({reason}); give another --host or --port") from error
    return listener


def run_server(app: Any, listener: socket.socket, *, on_start: Callable[[], None], access_log: bool = False) -> None:
    """Answer requests until SIGINT or SIGTERM; requests that are being answered then have `GRACE` seconds to end.

    Args:
        app: an ASGI application.
        listener: a bound socket.
        on_start: called once requests are accepted.
        access_log: write a line for each request to standard error.
    """
    uvicorn = require("uvicorn", "serve", "serving a model")

    class Server(uvicorn.Server):  # type: ignore[misc, name-defined]
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if not self.should_exit:
                on_start()

    config = uvicorn.Config(
        app,
        log_level="info" if access_log else "error",
        access_log=access_log,
        timeout_graceful_shutdown=GRACE,
        server_header=False,
    )
    for stop in (signal.SIGINT, signal.SIGTERM):  # uvicorn raises it once more when it has stopped, and that is no failure
        with suppress(ValueError):  # not the main thread, where nobody sends signals
            signal.signal(stop, _ignore)
    Server(config).run(sockets=[listener])


def _ignore(*_: Any) -> None:
    pass
