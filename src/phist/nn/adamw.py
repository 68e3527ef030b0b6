"""AdamW as torch has it, without the seconds that its first use takes to load torch's compiler, which is not used here."""

from typing import Any

import torch


def _direct(method: Any) -> Any:
    """What torch wraps so that its compiler leaves it alone; the wrapper imports the compiler."""
    return getattr(method, "__wrapped__", method)


class AdamW(torch.optim.AdamW):
    """`torch.optim.AdamW`: same arguments, same steps."""

    add_param_group = _direct(torch.optim.AdamW.add_param_group)
    state_dict = _direct(torch.optim.AdamW.state_dict)
    load_state_dict = _direct(torch.optim.AdamW.load_state_dict)
