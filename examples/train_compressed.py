"""Four workers learn to predict the next character, and sum their gradients around a ring, compressed at each hop.

The text is that of `pydoc`, which Python ships; the network has one hidden layer. Every exchange sees the same batches.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pydoc_data import topics
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices as small as these are slower on several threads

import numpy as np

from hostnet import codec

WORKERS, BATCH, STEPS = 4, 64, 600
CONTEXT, CHARACTERS, EMBEDDING, HIDDEN = 4, 64, 16, 128
RATE, MOMENTUM = 0.2, 0.9

Floats = Any
Wire = Callable[[Floats], Floats]
Exchange = Callable[[list[Floats]], list[Floats]]
"""Function from the gradients of all workers to the copy of their sum on each worker."""

SHAPES = [(CHARACTERS, EMBEDDING), (CONTEXT * EMBEDDING, HIDDEN), (HIDDEN,), (HIDDEN, CHARACTERS), (CHARACTERS,)]


@dataclass
class Link:
    """The wire between two workers, which returns floats after lossy compression."""

    bound: int
    mode: str
    classes: Counter[int] = field(default_factory=Counter)
    """Floats sent, by their compressed bits."""
    payload_bytes: int = 0

    def __call__(self, values: Floats) -> Floats:
        """Returns the floats that the receiver gets."""
        sizes = codec.sizes(values, self.bound, self.mode)
        self.classes.update(sizes.classes)
        self.payload_bytes += sizes.payload_bytes
        return codec.decompress(codec.compress(values, self.bound, self.mode))


def ring_sum(gradients: list[Floats], wire: Wire) -> list[Floats]:
    """Returns the sum on each worker: a reduce-scatter of blocks around the ring, then an all-gather."""
    workers = len(gradients)
    blocks = [np.array_split(gradient.copy(), workers) for gradient in gradients]
    for step in range(workers - 1):
        sent = [wire(blocks[worker][(worker - step) % workers]) for worker in range(workers)]
        for worker, values in enumerate(sent):
            blocks[(worker + 1) % workers][(worker - step) % workers] += values
    for worker in range(workers):
        owned = blocks[worker][(worker + 1) % workers]
        # The owner keeps the values that the others get. Twice, because a second rounding drops the sign of a zero.
        owned[:] = wire(wire(owned))
    for step in range(workers - 1):
        sent = [wire(blocks[worker][(worker + 1 - step) % workers]) for worker in range(workers)]
        for worker, values in enumerate(sent):
            blocks[(worker + 1) % workers][(worker + 1 - step) % workers][:] = values
    return [np.concatenate(parts) for parts in blocks]


def gathered(bound: int, mode: str) -> Exchange:
    """Sends each worker's gradient to all others, with the rounding error of the previous one added."""
    feedbacks = [codec.ErrorFeedback(bound, mode) for _ in range(WORKERS)]

    def exchange(gradients: list[Floats]) -> list[Floats]:
        streams = [feedback.compress(gradient) for feedback, gradient in zip(feedbacks, gradients, strict=True)]
        return [sum(codec.decompress(stream) for stream in streams) for _ in gradients]

    return exchange


def examples() -> tuple[Floats, Floats]:
    """Returns contexts and the character after each, as numbers; rare characters share the last one."""
    text = "\n".join(topics.topics[name] for name in sorted(topics.topics))
    common = [character for character, _ in Counter(text).most_common(CHARACTERS - 1)]
    numbers = np.array([common.index(one) if one in common else CHARACTERS - 1 for one in text[:200_000]])
    contexts = np.stack([numbers[at : len(numbers) - CONTEXT + at] for at in range(CONTEXT)], axis=1)
    return contexts, numbers[CONTEXT:]


def parameters_of(flat: Floats) -> list[Floats]:
    """Returns views of the layers in the row of all parameters."""
    ends = np.cumsum([int(np.prod(shape)) for shape in SHAPES])
    return [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), SHAPES, strict=True)]


def forward(weights: Floats, contexts: Floats) -> tuple[Floats, Floats, Floats]:
    """Returns the inputs of the hidden layer, its outputs, and the probabilities of the next character."""
    embedding, first, first_bias, second, second_bias = parameters_of(weights)
    inputs = embedding[contexts].reshape(len(contexts), -1)
    hidden = np.tanh(inputs @ first + first_bias)
    scores = hidden @ second + second_bias
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return inputs, hidden, odds / odds.sum(axis=1, keepdims=True)


def gradient_of(weights: Floats, contexts: Floats, wanted: Floats) -> Floats:
    """Returns the gradient of the mean cross entropy of a batch, as one row."""
    _, first, _, second, _ = parameters_of(weights)
    inputs, hidden, errors = forward(weights, contexts)
    errors[np.arange(len(wanted)), wanted] -= 1
    errors /= len(wanted)
    gradient = np.zeros_like(weights)
    of_embedding, of_first, of_first_bias, of_second, of_second_bias = parameters_of(gradient)
    of_second[:], of_second_bias[:] = hidden.T @ errors, errors.sum(axis=0)
    behind = errors @ second.T * (1 - hidden**2)
    of_first[:], of_first_bias[:] = inputs.T @ behind, behind.sum(axis=0)
    np.add.at(of_embedding, contexts.reshape(-1), (behind @ first.T).reshape(-1, EMBEDDING))
    return gradient


def train(exchange: Exchange, steps: int = STEPS, seed: int = 1) -> tuple[float, bool]:
    """Returns the accuracy after the given steps, and true if all workers had equal weights after each."""
    contexts, wanted = examples()
    learned = len(wanted) * 9 // 10
    draw = np.random.default_rng(seed)
    start = np.concatenate([draw.normal(0, 1 / np.sqrt(shape[0]), shape).ravel() for shape in SHAPES]).astype("float32")
    replicas, speeds = [start.copy() for _ in range(WORKERS)], [np.zeros_like(start) for _ in range(WORKERS)]
    alike = True
    for step in range(steps):
        rate = np.float32(RATE * (1 - step / steps))
        batches = draw.integers(0, learned, (WORKERS, BATCH))
        pairs = zip(replicas, batches, strict=True)
        sums = exchange([gradient_of(weights, contexts[batch], wanted[batch]) for weights, batch in pairs])
        for weights, speed, total in zip(replicas, speeds, sums, strict=True):
            speed *= np.float32(MOMENTUM)
            speed += total / np.float32(WORKERS)
            weights -= rate * speed
        alike = alike and all(weights.tobytes() == replicas[0].tobytes() for weights in replicas)
    guesses = forward(replicas[0], contexts[learned:])[2].argmax(axis=1)
    return float((guesses == wanted[learned:]).mean()), alike


def main() -> None:
    """Prints a row for each way to exchange gradients."""
    show("as they are", train(partial(ring_sum, wire=lambda values: values)))
    for mode, bound in (("thesis", 10), ("bounded", 10), ("nearest", 8)):
        link = Link(bound, mode)
        show(f"{mode} 2^-{bound}", train(partial(ring_sum, wire=link)), shares(link))
    show("with feedback", train(gathered(10, "thesis")), "(thesis 2^-10, each to all)")


def show(name: str, outcome: tuple[float, bool], more: str = "") -> None:
    """Prints a row."""
    right, alike = outcome
    print(f"{name:14s} {100 * right:4.1f} % right, replicas {'alike' if alike else 'differ'} {more}".rstrip())


def shares(link: Link) -> str:
    """Returns the shares of the classes on a link."""
    floats = link.classes.total()
    counted = ", ".join(f"{100 * link.classes[bits] / floats:.1f} %" for bits in (0, 8, 16, 32))
    return f"ratio {4 * floats / link.payload_bytes:.2f}: {counted} of 0, 8, 16, 32 bits"


if __name__ == "__main__":
    main()
