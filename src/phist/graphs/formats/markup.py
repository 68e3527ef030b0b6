"""GraphML and GML files, which networkx reads for us."""

from pathlib import Path
from typing import Any

from phist.errors import GraphInputError, brief

SUFFIXES = (".graphml", ".gml")


def read_markup(path: Path) -> list[Any]:
    """The networkx graphs in a GraphML or GML file; GraphML may hold several."""
    import networkx
    from networkx.readwrite.graphml import GraphMLReader

    try:
        if path.suffix.lower() == ".gml":
            return [networkx.read_gml(path, label=None)]
        graphs = list(GraphMLReader()(path=path))
    except OSError:
        raise
    except Exception as error:  # networkx lets through whatever its parsers raise on a malformed file
        why = brief(str(error) or type(error).__name__)
        raise GraphInputError(
            f"{path} cannot be read as {path.suffix[1:]} ({why}); write it again with networkx or igraph"
        ) from error
    if not graphs:
        raise GraphInputError(f"{path} holds no graph; is it a GraphML file?")
    return graphs
