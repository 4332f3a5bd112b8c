"""Communication hook that compresses the gradients of torch's `DistributedDataParallel`. Needs `hostnet[torch]`.

from hostnet.codec.torch_hook import HookState, inceptionn_hook

model = DistributedDataParallel(model) model.register_comm_hook(HookState(bound=10, mode="bounded"), inceptionn_hook)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hostnet.codec.arrays import FLOAT_BYTES, check_bound, compress, decompress
from hostnet.codec.feedback import ErrorFeedback

if TYPE_CHECKING:
    import torch
    import torch.distributed as dist


@dataclass
class HookState:
    """Settings and statistics of the hook. Use one instance per model and rank."""

    bound: int = 10
    """Exponent k of the error bound 2^-k, 1 to 15; equal on all ranks."""
    mode: str = "thesis"
    """Mode of the codec: "thesis", "bounded" or "nearest"; equal on all ranks."""
    feedback: bool = False
    """True to add the rounding error to the next gradient."""
    group: dist.ProcessGroup | None = None
    """Ranks that take part; all by default."""
    plain_bytes: int = field(default=0, init=False)
    """Size of the gradients of this rank so far, as float32, in bytes."""
    stream_bytes: int = field(default=0, init=False)
    """Size of their streams, in bytes."""
    _feedbacks: dict[tuple[int, int], ErrorFeedback] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Checks the settings.

        Raises:
            ConfigError: Bound or mode is invalid.
        """
        compress(np.empty(0, np.float32), check_bound(self.bound), self.mode)

    def stream(self, bucket: int, gradient: Any) -> bytes:
        """Compresses the gradient of a bucket."""
        if self.feedback:
            # torch rebuilds the buckets after the first step, so a bucket is identified by index and length.
            key = (bucket, gradient.size)
            kept = self._feedbacks.setdefault(key, ErrorFeedback(self.bound, self.mode))
            stream = kept.compress(gradient)
        else:
            stream = compress(gradient, self.bound, self.mode)
        self.plain_bytes += FLOAT_BYTES * gradient.size
        self.stream_bytes += len(stream)
        return stream


def inceptionn_hook(state: HookState, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """Returns the mean of a bucket's gradients over all ranks.

    Each rank sends its compressed gradient to all others. A rank uses its own gradient after decompression, and all
    ranks sum in the order of the ranks, so that the models stay bit-identical.
    """
    import torch
    import torch.distributed as dist

    buffer = bucket.buffer()
    ranks = dist.get_world_size(state.group)
    gradient = buffer.detach().to("cpu", torch.float32).numpy()
    own = torch.frombuffer(bytearray(state.stream(bucket.index(), gradient)), dtype=torch.uint8)
    device = buffer.device if dist.get_backend(state.group) == "nccl" else torch.device("cpu")

    lengths = [torch.zeros(1, dtype=torch.int64, device=device) for _ in range(ranks)]
    dist.all_gather(lengths, torch.tensor([own.numel()], device=device), group=state.group)
    counts = [int(length.item()) for length in lengths]
    sent = torch.zeros(max(counts), dtype=torch.uint8, device=device)
    sent[: own.numel()] = own
    streams = [torch.empty_like(sent) for _ in range(ranks)]
    work = dist.all_gather(streams, sent, group=state.group, async_op=True)

    def mean(_: Any) -> torch.Tensor:
        total, part = np.zeros_like(gradient), np.empty_like(gradient)
        for stream, count in zip(streams, counts, strict=True):
            total += decompress(stream[:count].cpu().numpy(), out=part)
        total /= ranks
        return buffer.copy_(torch.from_numpy(total))

    return work.get_future().then(mean)


# torch checks the annotations of a hook and accepts only its own classes, which this module does not import.
inceptionn_hook.__annotations__.clear()
