"""phist serve"""

from typing import Annotated

import typer

from phist.cli.options import Model, use_threads
from phist.cli.saved_models import LOADING, MODEL_DEFAULTS, ModelOptions
from phist.cli.screen import console
from phist.cli.verbosity import is_verbose
from phist.progress import waiting
from phist.serving.limits import Limits

LIMITS = "Limits"
DEFAULT = Limits()

Host = Annotated[str, typer.Option(metavar="ADDRESS", help="The address to listen on; 0.0.0.0 accepts requests from elsewhere.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes one that is free.")]
MaxBody = Annotated[int, typer.Option(min=1, help="The longest body of a request, in bytes.", rich_help_panel=LIMITS)]
MaxGraphs = Annotated[int, typer.Option(min=1, help="The most graphs in a request.", rich_help_panel=LIMITS)]
MaxNodes = Annotated[int, typer.Option(min=1, help="The most nodes of all graphs in a request.", rich_help_panel=LIMITS)]
MaxExplained = Annotated[int, typer.Option(min=1, help="The same in a request to explain.", rich_help_panel=LIMITS)]
MaxWaiting = Annotated[int, typer.Option(min=1, help="The most requests that may wait.", rich_help_panel=LIMITS)]


def serve(
    model: Model,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    how: ModelOptions = MODEL_DEFAULTS,
    max_body: MaxBody = DEFAULT.body_bytes,
    max_graphs: MaxGraphs = DEFAULT.graphs,
    max_nodes: MaxNodes = DEFAULT.nodes,
    max_explained: MaxExplained = DEFAULT.explained_nodes,
    max_waiting: MaxWaiting = DEFAULT.waiting,
) -> None:
    """Answer over HTTP for a saved model: predict, embed, explain.

    The page /docs describes and tries every request, /health says whether
    requests are answered, /model which model it is and what the limits are.
    Requests that come together are computed together. Ctrl-C or SIGTERM stops
    the server after the requests that it is answering. There is no encryption
    and no login: put a proxy that has them in front of it.

    Examples:
      phist serve mymodel
      phist serve mymodel --host 0.0.0.0 --port 80 --max-nodes 10000
      curl localhost:8000/predict --json '{"graphs": [{"edges": [[0, 1]]}]}'
    """
    from phist.serving.server import listen, run_server

    how.check()
    listener = listen(host, port)
    with waiting(LOADING):
        from phist.serving.app import make_app

        use_threads(how.threads)
        limits = Limits(max_body, max_graphs, max_nodes, max_explained, waiting=max_waiting)
        app = make_app(model, limits, exact=how.exact, engine=how.engine)
    address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
    screen = console(to_program=True)
    run_server(
        app,
        listener,
        on_start=lambda: screen.print(f"{model} answers at {address}; {address}/docs describes it, Ctrl-C stops it"),
        access_log=is_verbose(),
    )
    screen.print("stopped")
