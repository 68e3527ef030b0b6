"""FittedEmbedder."""

from phist.errors import ModelFileError
from phist.estimators.fitted.model import FittedModel
from phist.estimators.members.network import Network
from phist.estimators.model_folder import SavedModel


class FittedEmbedder(FittedModel):
    """One network, and what it makes of graphs.

    Args:
        engine: ``"auto"``, ``"fused"`` or ``"reference"``.
        inference: ``"auto"``, ``"sampled"`` or ``"exact"``.
        progress: whether to show progress bars; on a terminal, unless given.
    """

    _saved_as, _learnt = "embedder", "member_"
    member_: Network

    def _members(self) -> list[Network]:
        self._check_fitted()
        return [self.member_]

    def _restore(self, saved: SavedModel) -> None:
        n_outputs = max(1, len(self.classes_))
        self.member_ = Network.from_state(saved.arrays["network"], saved.settings["network"], n_outputs)
        if len(self.member_.trained) != 1:
            raise ModelFileError(f"the embedder has {len(self.member_.trained)} networks, not one; save the model again")
