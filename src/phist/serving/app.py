"""make_app(): a saved model as an ASGI application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phist import __version__
from phist.errors import PhistError, brief
from phist.extras import require
from phist.serving.limits import LimitBodies, Limits, OverloadedError, TooLargeError
from phist.serving.service import Service

if TYPE_CHECKING:
    from fastapi import FastAPI

REFUSED, TOO_LARGE, OVERLOADED = 422, 413, 503
DESCRIPTION = (
    "Tell graphs apart from their structure alone. A graph is an object with a list of `edges`, as on a line of JSONL. "
    "Requests beyond the limits of `/model` are refused with status 413; with 503 the server asks to be tried again later."
)


def make_app(model: str | Path, limits: Limits | None = None, *, exact: bool = False, engine: str | None = None) -> "FastAPI":
    """An application that answers for a saved model, for any ASGI server.

    Args:
        model: the model's folder.
        limits: what a request may ask for; the defaults of `Limits` unless given.
        exact: take every node as a root instead of averaging over samples of roots.
        engine: ``"auto"``, ``"fused"`` or ``"reference"``; the one the model was saved with unless given.
    """
    require("fastapi", "serve", "serving a model")
    offline = require("fastapi_offline", "serve", "serving a model")
    limits = limits or Limits()
    service = Service(model, limits, exact=exact, engine=engine)

    @asynccontextmanager
    async def running(_: "FastAPI") -> AsyncIterator[None]:
        service.warm_up()
        yield
        service.close()

    app: FastAPI = offline.FastAPIOffline(title="phist", version=__version__, description=DESCRIPTION, lifespan=running)
    app.state.service = service
    app.add_middleware(LimitBodies, most=limits.body_bytes)
    _add_errors(app)
    _add_routes(app, service)
    return app


def _add_routes(app: "FastAPI", service: Service) -> None:
    from fastapi.responses import RedirectResponse

    from phist.serving.routes import about, classifying, embedding

    @app.get("/", include_in_schema=False)
    async def start() -> RedirectResponse:
        return RedirectResponse("/docs")

    app.include_router(about(service))
    if service.can_classify:
        app.include_router(classifying(service))
    if service.can_embed:
        app.include_router(embedding(service))


def _add_errors(app: "FastAPI") -> None:
    """Every refusal is a line of text; what was sent is not sent back, however long or odd it was."""
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse

    def refuse(status: int, text: str, headers: dict[str, str] | None = None) -> Any:
        return JSONResponse({"detail": brief(text.encode("utf-8", "replace").decode(), 400)}, status, headers)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Any, error: RequestValidationError) -> Any:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return refuse(REFUSED, f"the body is not JSON ({first['ctx']['error']} at character {first['loc'][-1]})")
        return refuse(REFUSED, f"{_place(first['loc'])}: {first['msg']}")

    @app.exception_handler(PhistError)
    async def refused(_: Any, error: PhistError) -> Any:
        if isinstance(error, OverloadedError):
            return refuse(OVERLOADED, str(error), {"retry-after": "1"})
        return refuse(TOO_LARGE if isinstance(error, TooLargeError) else REFUSED, str(error))


def _place(steps: tuple[str | int, ...]) -> str:
    """Where in the body: fields and numbers, without the alternatives that were tried there."""
    named = [str(step) for step in steps[1:] if isinstance(step, int) or step.isidentifier()]
    return brief(".".join(named[:5]) or "the body", 120)
