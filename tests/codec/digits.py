"""A rank that trains on scikit-learn's digits with torch: `python -m tests.codec.digits RANK RANKS FOLDER SETTINGS`.

Prints JSON: the accuracy, a digest of the weights after each step, and the bytes sent.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from sklearn.datasets import load_digits

from hostnet.codec.torch_hook import HookState, inceptionn_hook

EPOCHS, BATCH, LEARNED = 12, 32, 1400


def digest(model: Any) -> str:
    parts = [parameter.detach().numpy().tobytes() for parameter in model.parameters()]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def main(rank: int, ranks: int, folder: Path, settings: dict[str, Any] | None) -> None:
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=ranks)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    pixels, digits = load_digits(return_X_y=True)
    inputs, wanted = torch.tensor(pixels / 16, dtype=torch.float32), torch.tensor(digits)
    layers = [torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)]
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers))
    state = None
    if settings is not None:
        state = HookState(**settings)
        model.register_comm_hook(state, inceptionn_hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    digests, draw = [], np.random.default_rng(1)
    for _ in range(EPOCHS):
        for batch in np.array_split(draw.permutation(LEARNED), LEARNED // (BATCH * ranks)):
            own = batch[rank::ranks]
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs[own]), wanted[own]).backward()
            optimizer.step()
            digests.append(digest(model))
    right = (model(inputs[LEARNED:]).argmax(dim=1) == wanted[LEARNED:]).float().mean().item()
    sent = None if state is None else [state.plain_bytes, state.stream_bytes]
    print(json.dumps({"right": right, "digests": digests, "sent": sent}))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), json.loads(sys.argv[4]))
