"""Gradients of torch's `DistributedDataParallel`, compressed: a communication hook. Needs `hostnet[torch]`.

from hostnet.codec.torch_hook import HookState, inceptionn_hook

model = DistributedDataParallel(model)
model.register_comm_hook(HookState(bound=10, mode="bounded"), inceptionn_hook)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hostnet.codec.arrays import FLOAT_BYTES, checked, compress, decompress
from hostnet.codec.feedback import ErrorFeedback

if TYPE_CHECKING:
    import torch
    import torch.distributed as dist


@dataclass
class HookState:
    """What the hook is set to, and what it has sent so far. One for each model and rank."""

    bound: int = 10
    """k of the bound 2^-k, 1 to 15; the same on all ranks."""
    mode: str = "thesis"
    """ "thesis", "bounded" or "nearest"; the same on all ranks."""
    feedback: bool = False
    """Whether what rounding takes is added to the next gradient."""
    group: dist.ProcessGroup | None = None
    """The ranks; all of them if not given."""
    plain_bytes: int = field(default=0, init=False)
    """Bytes of the gradients of this rank so far, as float32."""
    stream_bytes: int = field(default=0, init=False)
    """Bytes of their streams."""
    _feedbacks: dict[tuple[int, int], ErrorFeedback] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuses settings that no codec has.

        Raises:
            ConfigError: Bound or mode is wrong.
        """
        compress(np.empty(0, np.float32), checked(self.bound), self.mode)

    def stream(self, bucket: int, gradient: Any) -> bytes:
        """The stream of the gradient of a bucket."""
        if self.feedback:
            # Buckets are made anew after the first step: one of another length is another bucket.
            key = (bucket, gradient.size)
            kept = self._feedbacks.setdefault(key, ErrorFeedback(self.bound, self.mode))
            stream = kept.compress(gradient)
        else:
            stream = compress(gradient, self.bound, self.mode)
        self.plain_bytes += FLOAT_BYTES * gradient.size
        self.stream_bytes += len(stream)
        return stream


def inceptionn_hook(state: HookState, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """The mean of a bucket's gradients over all ranks, of which each sends its own, compressed, to all others.

    A rank uses its own gradient as the others see it, and all sum up in the order of the ranks: so models stay equal
    bit by bit.
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


# torch looks at the annotations of a hook and takes only classes of its own, which are not loaded here.
inceptionn_hook.__annotations__.clear()
