"""The metrics are those of PyTorch Geometric, and those of the truth what they say."""

import numpy as np
import pytest
import torch
from small_models import quick_network

from phist.errors import ConfigError, GraphInputError
from phist.explain import explain
from phist.explain.metrics import (
    characterization_score,
    fidelity,
    groundtruth_auroc,
    precision_at_k,
    unfaithfulness,
)
from phist.graphs.motifs import make_ba_2motifs

GRAPHS, TRUTH = make_ba_2motifs(24, n_nodes=8, seed=0)


@pytest.fixture(scope="module")
def model():
    return quick_network(training={"epochs": 12}, inference="exact").fit(GRAPHS)


@pytest.fixture(scope="module")
def explanations(model):
    return explain(model, GRAPHS, edges=False, votes=False)


class Masked(torch.nn.Module):
    """The model for PyG's explainer: nodes whose feature is zero are not there."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, edge_index):
        kept = x[:, 0] > 0
        kept = kept if kept.any() else torch.arange(len(x)) == 0
        inside = edge_index[:, kept[edge_index].all(0)] if kept.sum() > 1 else edge_index[:, :0]
        renamed = torch.cumsum(kept, 0) - 1
        edges = renamed[inside].T.tolist()
        return torch.from_numpy(self.model.predict_proba([(int(kept.sum()), edges)]))


def pyg_of(model, explanation, top_k, kind):
    """PyG's explainer, and the explanation with a mask of its best nodes."""
    pyg = pytest.importorskip("torch_geometric.explain")
    config = pyg.ModelConfig(mode="multiclass_classification", task_level="graph", return_type="probs")
    explainer = pyg.Explainer(
        Masked(model), pyg.DummyExplainer(), explanation_type=kind, model_config=config, node_mask_type="object"
    )
    theirs = explanation.to_pyg()
    del theirs.edge_mask
    theirs.node_mask = torch.zeros_like(theirs.node_mask)
    theirs.node_mask[explanation.top_nodes(top_k).tolist()] = 1
    theirs._model_args = []
    if kind == "phenomenon":
        theirs.target = torch.tensor([explanation.classes.index(explanation.graph.label)])
        del theirs.prediction
    return explainer, theirs


@pytest.mark.parametrize("kind", ["model", "phenomenon"])
@pytest.mark.parametrize("top_k", [1, 4, 13])
def test_fidelity_is_that_of_pyg(model, explanations, kind, top_k):
    metric = pytest.importorskip("torch_geometric.explain.metric")
    theirs = [metric.fidelity(*pyg_of(model, one, top_k, kind)) for one in explanations[:8]]
    ours = fidelity(model, explanations[:8], top_k, kind)
    np.testing.assert_allclose(ours, np.mean(theirs, axis=0), atol=1e-6)


def test_unfaithfulness_is_that_of_pyg(model, explanations):
    metric = pytest.importorskip("torch_geometric.explain.metric")
    theirs = [metric.unfaithfulness(*pyg_of(model, one, 4, "model")) for one in explanations[:8]]
    assert unfaithfulness(model, explanations[:8], top_k=4) == pytest.approx(np.mean(theirs), abs=1e-5)
    assert unfaithfulness(model, explanations[:8], top_k=13) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(("plus", "minus", "weight"), [(0.5, 0.25, 0.5), (0.9, 0.1, 0.3), (1.0, 0.0, 0.5)])
def test_characterization_is_that_of_pyg(plus, minus, weight):
    metric = pytest.importorskip("torch_geometric.explain.metric")
    theirs = metric.characterization_score(torch.tensor(plus), torch.tensor(minus), weight, 1 - weight)
    assert characterization_score(plus, minus, weight, 1 - weight) == pytest.approx(float(theirs), abs=1e-6)


def test_characterization_has_a_value_at_its_ends():
    assert characterization_score(0.0, 0.5) == characterization_score(0.5, 1.0) == 0
    with pytest.raises(ConfigError, match="add up to 1"):
        characterization_score(0.5, 0.5, 0.7, 0.7)
    with pytest.raises(ConfigError, match="plus='high'"):
        characterization_score("high", 0.5)


def test_fidelity_by_masks_keeps_what_speaks_for_the_class(model, explanations):
    plus, minus = fidelity(model, explanations)
    assert 0 <= minus <= 1 and 0 <= plus <= 1
    with pytest.raises(GraphInputError, match="no explanation"):
        fidelity(model, [])
    with pytest.raises(ConfigError, match="explanation_type='truth'"):
        fidelity(model, explanations, explanation_type="truth")


def test_the_phenomenon_needs_labels_that_the_model_knows(model):
    found = explain(model, GRAPHS[:2].with_labels(["castle", "house"]), edges=False, nodes=False, votes=False)
    with pytest.raises(GraphInputError, match="'castle', which the model does not know"):
        fidelity(model, found, explanation_type="phenomenon")


def test_auroc_and_precision_of_the_truth_itself_are_one():
    for nodes, edges in zip(TRUTH.nodes, TRUTH.edges, strict=True):
        assert groundtruth_auroc(nodes.astype(float), nodes) == precision_at_k(edges.astype(float), edges) == 1
        assert groundtruth_auroc(-nodes.astype(float), nodes) == 0
        assert groundtruth_auroc(np.zeros(len(nodes)), nodes) == 0.5


def test_precision_counts_ties_in_part():
    assert precision_at_k([1, 1, 1, 1], [True, False, False, False], k=2) == 0.25
    assert precision_at_k([3, 1, 1, 0], [True, True, False, False]) == 0.75
    assert np.isnan(precision_at_k([1, 2], [False, False])) and np.isnan(groundtruth_auroc([1, 2], [True, True]))
    with pytest.raises(GraphInputError, match="one each is needed"):
        groundtruth_auroc([1, 2, 3], [True, False])
    for texts in (["high", "low"], [[1], [2, 3]], [{}, {}]):
        with pytest.raises(GraphInputError, match="a number and a truth value for each are needed"):
            groundtruth_auroc(texts, [True, False])
    with pytest.raises(ConfigError, match="k=5"):
        precision_at_k([1, 2], [True, False], k=5)
