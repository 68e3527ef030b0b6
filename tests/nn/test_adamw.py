import subprocess
import sys

import torch

from phist.nn.adamw import AdamW


def _trained(kind):
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 2)
    optimizer = kind(layer.parameters(), lr=0.1, weight_decay=0.2, fused=True)
    for step in range(4):
        optimizer.zero_grad()
        layer(torch.full((5, 3), float(step))).square().sum().backward()
        optimizer.step()
        if step == 1:
            again = kind(layer.parameters(), lr=0.1, weight_decay=0.2, fused=True)
            again.load_state_dict(optimizer.state_dict())
            optimizer = again
    return layer.weight


def test_its_steps_are_those_of_torch():
    assert torch.equal(_trained(AdamW), _trained(torch.optim.AdamW))


def test_using_it_does_not_load_the_compiler_of_torch():
    program = (
        "import sys, torch; from phist.nn.adamw import AdamW\n"
        "optimizer = AdamW(torch.nn.Linear(2, 2).parameters(), fused=True)\n"
        "optimizer.load_state_dict(optimizer.state_dict())\n"
        "sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
