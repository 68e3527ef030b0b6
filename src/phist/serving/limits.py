"""How much a request may ask for. What exceeds it is refused with status 413 before anything is computed."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from phist.checks import whole_number
from phist.errors import PhistError

if TYPE_CHECKING:
    from phist.graphs.graphset import GraphSet


class TooLargeError(PhistError, ValueError):
    """A request beyond the limits of the server."""


class OverloadedError(PhistError, RuntimeError):
    """More requests are waiting than the server accepts."""


@dataclass(frozen=True)
class Limits:
    """What one request, and all waiting requests together, may take.

    Args:
        body_bytes: the longest body, in bytes.
        graphs: the most graphs in a request.
        nodes: the most nodes of all graphs in a request.
        explained_nodes: the most nodes of all graphs in a request to explain, which costs far more per node.
        deletions: the most edges, and the most nodes, that an explanation deletes of a graph.
        waiting: the most requests that may wait; further ones are told to come back later.
    """

    body_bytes: int = 8 * 1024**2
    graphs: int = 1_000
    nodes: int = 50_000
    explained_nodes: int = 500
    deletions: int = 500
    waiting: int = 100

    def __post_init__(self) -> None:
        for field in fields(self):
            whole_number(field.name, getattr(self, field.name), least=1)

    def check_claims(self, graphs: list[dict[str, Any]], *, to_explain: bool = False) -> None:
        """Raise a `TooLargeError` where there are too many graphs, or too many nodes are claimed: nothing is allocated yet.

        Args:
            graphs: as they were sent.
            to_explain: whether they are to be explained, which has a limit of its own.
        """
        if len(graphs) > self.graphs:
            raise TooLargeError(f"{len(graphs):,} graphs were sent; {self.graphs:,} are the most: send several requests")
        self._check_nodes(sum(graph.get("n_nodes") or 0 for graph in graphs), to_explain)

    def check(self, graphs: "GraphSet", *, to_explain: bool = False) -> None:
        """Raise a `TooLargeError` where the graphs that were read have too many nodes.

        Args:
            graphs: as they were read.
            to_explain: whether they are to be explained, which has a limit of its own.
        """
        self._check_nodes(graphs.n_nodes, to_explain)

    def _check_nodes(self, found: int, to_explain: bool) -> None:
        most = self.explained_nodes if to_explain else self.nodes
        if found > most:
            purpose = " to explain" if to_explain else ""
            raise TooLargeError(f"the graphs{purpose} have {found:,} nodes; {most:,} are the most: send fewer or smaller graphs")


class LimitBodies:
    """ASGI middleware that refuses bodies which are too long, by their header or, where that lies or is missing, by their bytes.

    Args:
        app: the application behind it.
        most: the longest body, in bytes.
    """

    def __init__(self, app: Any, most: int) -> None:
        self.app, self.most = app, most

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Read at most as many bytes as allowed, then let the application read them."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = await self._body(scope, receive)
        if body is None:
            await self._refuse(scope, receive, send)
            return
        unread = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Any:
            return unread.pop() if unread else await receive()

        await self.app(scope, replay, send)

    async def _body(self, scope: Any, receive: Any) -> bytes | None:
        claimed = dict(scope["headers"]).get(b"content-length", b"")
        if claimed.isdigit() and int(claimed) > self.most:
            return None
        body, more = bytearray(), True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self.most:
                return None
        return bytes(body)

    async def _refuse(self, scope: Any, receive: Any, send: Any) -> None:
        from starlette.responses import JSONResponse

        detail = f"the body is longer than {self.most:,} bytes; send several requests"
        await JSONResponse({"detail": detail}, 413, headers={"connection": "close"})(scope, receive, send)
