"""The linear head with its loss and gradients: a few hundred numbers, not worth a graph of tensors."""

from typing import Any

import numpy as np

from phist.engine.vectors import compiled


@compiled
def learn_head(
    embeddings: Any, matrix: Any, bias: Any, targets: Any, weights: Any, toward: Any, matrix_gradient: Any, bias_gradient: Any
) -> Any:
    """Weighted cross entropy and the number of hits; fills the gradients of the embeddings and of the head."""
    n_graphs, n_classes = len(embeddings), len(bias)
    total, hits, loss = 0.0, 0, 0.0
    for graph in range(n_graphs):
        total += weights[graph]
    scores = np.empty(n_classes)
    for graph in range(n_graphs):
        best = 0
        for label in range(n_classes):
            score = 1.0 * bias[label]
            for c in range(embeddings.shape[1]):
                score += matrix[label, c] * embeddings[graph, c]
            scores[label] = score
            if scores[label] > scores[best]:
                best = label
        hits += best == targets[graph]
        highest, mass = scores[best], 0.0
        for label in range(n_classes):
            mass += np.exp(scores[label] - highest)
        share = weights[graph] / total
        loss += share * (np.log(mass) + highest - scores[targets[graph]])
        toward[graph, :] = 0.0
        for label in range(n_classes):
            slope = share * (np.exp(scores[label] - highest) / mass - (label == targets[graph]))
            bias_gradient[label] += slope
            for c in range(embeddings.shape[1]):
                matrix_gradient[label, c] += slope * embeddings[graph, c]
                toward[graph, c] += slope * matrix[label, c]
    return loss, hits
