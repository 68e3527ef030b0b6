"""GraphML and GML files, which networkx reads for us."""

from pathlib import Path
from typing import Any

from phist.errors import GraphInputError

SUFFIXES = (".graphml", ".gml")


def read_markup(path: Path) -> list[Any]:
    """The networkx graphs in a GraphML or GML file; GraphML may hold several."""
    import networkx
    from networkx.readwrite.graphml import GraphMLReader

    try:
        if path.suffix.lower() == ".gml":
            return [networkx.read_gml(path, label=None)]
        graphs = list(GraphMLReader()(path=path))
    except (networkx.NetworkXException, ValueError, SyntaxError, LookupError, TypeError, AttributeError) as error:
        raise GraphInputError(
            f"{path} cannot be read as {path.suffix[1:]} ({error}); write it again with networkx or igraph"
        ) from error
    if not graphs:
        raise GraphInputError(f"{path} holds no graph; is it a GraphML file?")
    return graphs
