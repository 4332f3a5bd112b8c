# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""Traffic of the hosts of a cluster, and its transports."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Move(Description):
    """A thread that goes to another core, and its flow with it."""

    at: str
    """When, from the start of the run (time). Range: at most "1000 s"."""
    core: int
    """The core that it goes to. Range: 0 to 65535."""
    end: str | None = None
    """Which of the two hosts' threads: "from" (the one that begins it) or "to" (the other one); when absent, those at
    `to` if it is a server, else those at `from`.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class OtherRequests(Description):
    """Of "rpc": requests of another kind among them, at random, such as those of memcached that store."""

    share: float
    """How many requests are of this kind (0 to 1)."""
    request: str
    """A request (size). Range: "1 B" to "1 TB"."""
    response: str
    """An answer (size). Range: "1 B" to "1 TB"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class SizePoint(Description):
    """How many flows have at most so much data. Between two points sizes are equally likely."""

    bytes: str
    """Data of a flow (size); 0 B only with a share of 0, as the lower end of the first range.

    Range: "0 B" to "1000 TB".
    """
    share: float
    """Share of flows that have at most so much (0 to 1)."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ServiceIo(Description):
    """Reads of storage that each request waits for; none when absent. Only where the workers are on a server."""

    reads: int
    """How many, with even pieces of work before, between and after. Range: 1 to 255."""
    latency: str
    """What each takes (time). Range: "1 ps" to "10 s"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Service(Description):
    """Of "service": when requests come, and who serves them."""

    rate: float
    """Requests per second of each flow, whether or not those before them are answered. Range: 0.001 to 1000000."""
    arrivals: str | None = None
    """How they come: "poisson" (independently of each other) or "constant" (by a clock); "poisson" when absent."""
    time: str | None = None
    """Time that a worker takes for a request, on average (time); none when absent. At a server it is work of a core at
    `core.frequency`.

    Range: at most "1000 s".
    """
    cycles: int | None = None
    """The same in cycles of the core that does it, in the place of `time`; only where the workers are on a server.

    Range: 1 to 1000000000000.
    """
    distribution: str | None = None
    """How that time is distributed: "constant" (always the same), "exponential" or "lognormal" (its logarithm is
    normal); "constant" when absent.
    """
    deviation: float | None = None
    """Of "lognormal": standard deviation of that time divided by its mean; 1 when absent. Range: 0.01 to 10."""
    workers: int | None = None
    """Requests that a host serves at a time, of all flows of the table; the others wait in the order in which they
    came; 1 when absent. At a server they are shared out among the cores that have connections, at least one each.

    Range: 1 to 65536.
    """
    io: ServiceIo | None = None
    """Reads of storage that each request waits for; none when absent. Only where the workers are on a server."""
    burst: int | None = None
    """Requests of each flow that come as a burst, with as much time from one burst to the next as `rate` says; 1 when
    absent.

    Range: 1 to 65536.
    """
    spacing: str | None = None
    """From one request of a burst to the next (time); they come at a time when absent. Range: at most "1 s"."""
    phase: str | None = None
    """When the first come of each host that asks, with arrivals = "constant": "aligned" (those of all hosts when the
    flow begins) or "random" (of each host at a time of its own, drawn from the time between two); the time between two
    after the flow begins when absent.
    """
    verb: str | None = None
    """First word of a request, 2 to 16 letters, of which a NIC may look at the first two; "GET" when absent."""
    requests: str | Sequence[SizePoint] | None = None
    """Requests of different sizes, in the place of `request`: a distribution, as of `sizes`."""
    responses: str | Sequence[SizePoint] | None = None
    """Answers of different sizes, in the place of `response`."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Flow(Description):
    """Something that is sent from hosts to hosts."""

    kind: str
    """What its applications do: "bulk" (`from` sends data, iperf), "rpc" (`from` sends requests that `to` answers,
    netperf), "service" (`from` sends requests when they come, and workers of `to` serve them, httperf, memcached),
    "write" (`from` writes to the memory of `to`, RDMA, ib_write_bw), "read" (`from` reads from the memory of `to`,
    RDMA, ib_read_bw), "replay" (`from` sends the packets of a capture), "datagram" (`from` sends datagrams over UDP),
    "packets" (`from` sends packets of different sizes over UDP, without waiting for anything) or "forward" (`from`
    sends on what comes to it by other flows).
    """
    from_: str | Sequence[str]
    """The host that begins it, or several: each of them has its own, or lists of equal length are paired.

    Its key in files is `from`.
    """
    to: str | Sequence[str]
    """The other host, or several."""
    count: int | None = None
    """Flows of each pair of hosts. Range: 1 to 65536. Default: 1."""
    pairs: str | None = None
    """Who of `from` sends to whom of `to`, which may be the same hosts: "all-to-all" (every host of `from` to every
    other one of `to`), "permutation" (every host of `from` to one of `to`, each of which receives from one, at random),
    "incast" (to every host of `to` hosts of `from`, at random when `senders` says how many) or "random" (every flow
    from and to hosts at random); as the lists say when absent, at random with `load`.
    """
    senders: int | None = None
    """Of the pairs "incast": hosts of `from`, drawn at random, that send to each of `to`; all when absent.

    Range: 1 to 16384.
    """
    sizes: str | Sequence[SizePoint] | None = None
    """Of "bulk", "write" and "read": data of each flow at random, from a distribution by name ("web-search",
    "data-mining") or a list of tables of `bytes` and `share`. Of "packets": of each packet, with the header of 14 B of
    its frame, by name ("database", "webserver", "hadoop"), such a list, or a CSV file of both columns.
    """
    load: float | None = None
    """Flows begin at random (Poisson), so many that their data is this share of what the cables of `from` carry, or
    those of `to` if that is less (0 to 1).

    Range: 0.0001 to 1.
    """
    until: str | None = None
    """With `load`: when no more flows begin, from the start of the run (time); its end when absent.

    Range: at most "1000 s".
    """
    transport: str | None = None
    """How it is carried: a transport by name; "dctcp" when absent, "roce" for "write" and "read". Not of "datagram",
    "packets" and "forward", which are UDP.
    """
    class_: str | None = None
    """The class that its results are counted under; its own name when absent. Its key in files is `class`."""
    from_cores: str | Sequence[int] | None = None
    """Cores of the applications at `from`, in turn; the lowest free cores when absent, with several sockets those of
    socket 0 first, wherever the NIC hangs off. A core that is named may have workloads too, at a host line by line.

    Range: 0 to 1023.
    """
    to_cores: str | Sequence[int] | None = None
    """Cores of the applications at `to`, in turn; the lowest free cores when absent, as of `from_cores`.

    Range: 0 to 1023.
    """
    mtu: str | None = None
    """Largest IP packet (size); that of the network when absent. Range: "128 B" to "65535 B"."""
    priority: int | None = None
    """Priority class of its packets; 3 over RoCE and 0 otherwise when absent. Range: 0 to 7."""
    start: str | None = None
    """When the first of its flows begins, from the start of the run (time).

    Range: at most "1000 s". Default: "0 ps".
    """
    stagger: str | None = None
    """How much later each of its flows begins than the one before (time). Range: at most "1000 s". Default: "0 ps"."""
    deaf: tuple[str, str] | None = None
    """Of "bulk" and "rpc" over TCP: when the receiving application does not read: two times from the start of the run
    (time).

    Range: at most "1000 s".
    """
    move: Sequence[Move] | None = None
    """Of "bulk" and "rpc" over TCP: when its threads go to other cores, in the order of time, at most 1024 times, such
    as `[{ at = "2 ms", core = 14 }]`; all flows of the table go there, at each of its hosts.
    """
    sendfile: str | None = None
    """Of "bulk" over TCP from a server: where the pages of a file lie that is sent without a copy, one for each flow:
    "local" (with the core that it begins at; "first-touch" is the same), "node:1" (in the memory of a socket) or
    "interleave" (in that of all in turn). When absent, what the application writes is copied and sent.
    """
    via: Sequence[str] | None = None
    """The switches that its packets pass from `from` to `to`, and in turn on the way back; a shortest way when absent.
    """
    bytes: str | None = None
    """Of "bulk", "write" and "read": data of each flow (size); without end when absent. Range: "1 B" to "1000 TB"."""
    pattern: str | None = None
    """Of "datagram": what its applications do: "open" (`from` sends without waiting for anything, iperf -u), "ping"
    (`from` sends one request, `to` answers it, sockperf) or "generate" (the kernel of `from` hands its NIC one packet
    again and again, pktgen); "open" when absent.
    """
    size: str | None = None
    """Of the patterns "open" and "generate": data of a datagram, which the MTU has room for with headers of 28 B
    (size).

    Range: "1 B" to "65507 B".
    """
    rate: str | None = None
    """Of the pattern "open": data per second of each flow (bandwidth); as fast as the sender can when absent. Of
    "packets": bytes of its packets per second, as `sizes` counts them, on average.

    Range: "1 kbps" to "10 TB/s".
    """
    timeout: str | None = None
    """Of the pattern "ping": when a request without an answer is given up (time); "10 ms" when absent.

    Range: "1 us" to "1000 s".
    """
    buffer: str | None = None
    """Of UDP: data that the socket of a server holds in either direction (size); "212992 B" when absent, as in Linux.

    Range: "1 B" to "1 GiB".
    """
    request: str | None = None
    """Of "rpc", "service" and the pattern "ping": a request (size). Range: "1 B" to "1 TB"."""
    response: str | None = None
    """Of "rpc", "service" and the pattern "ping": an answer (size); as large as a request when absent.

    Range: "1 B" to "1 TB".
    """
    other: OtherRequests | None = None
    """Of "rpc": requests of another kind among them, at random, such as those of memcached that store."""
    service: Service | None = None
    """Of "service": when requests come, and who serves them."""
    in_flight: int | None = None
    """Of "rpc": requests in flight; 1 when absent. Of "service": requests without an answer at most, beyond which they
    are given up; 1024 when absent.

    Range: 1 to 65536.
    """
    think: str | None = None
    """Of "rpc" and the pattern "ping": time between an answer and the next request (time); none when absent.

    Range: at most "1000 s".
    """
    pcap: str | None = None
    """Of "replay": a capture (pcap or pcapng), relative to the configuration."""
    scale: float | None = None
    """Of "replay": what the times of the capture are multiplied by; 1 when absent. Range: 1e-06 to 1000000."""
    arrivals: str | None = None
    """Of "packets" with `rate`: how they come, "poisson" or "constant"; "poisson" when absent."""
    takes: str | Sequence[str] | None = None
    """Of "forward": the tables of flows whose packets `from` sends on, a name or a list."""
    function: str | None = None
    """Of "forward": what a core reads of a packet before it is sent on: "l3f" (its first line, where its headers are:
    forwarding by address) or "dpi" (all of it: deep packet inspection); "l3f" when absent.
    """
    work: str | None = None
    """Of "forward": work of a core on each packet beside that of its driver and its lines (time); none when absent.

    Range: at most "1 ms".
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Transport(Description):
    """How flows are carried. What is absent is that of the base."""

    base: str | None = None
    """The transport that the values start from: "dctcp" (TCP with DCTCP, RFC 8257), "cubic" (TCP with CUBIC, RFC 9438),
    "reno" (TCP with Reno, RFC 5681, 6582, 6675), "roce" (RoCE v2 at full rate) or "dcqcn" (RoCE v2 with DCQCN); that of
    the table's own name when absent.
    """
    initial_window: int | None = None
    """TCP: initial window (segments). Range: 1 to 65536."""
    receive_buffer: str | None = None
    """TCP: receive buffer (size); half of it is the window, as in Linux. Range: "4 KiB" to "16 GiB"."""
    send_buffer: str | None = None
    """TCP: what the sender keeps, sent or not (size). Range: "4 KiB" to "16 GiB"."""
    tso: str | None = None
    """TCP: what is handed down at once at most (segmentation offload) (size); "0 B" = one packet.

    Range: at most "1 MiB".
    """
    rto_min: str | None = None
    """TCP: least retransmission timeout (time). Range: "1 us" to "100 s"."""
    rto_initial: str | None = None
    """TCP: retransmission timeout before there is a sample (time). Range: "1 us" to "100 s"."""
    ack_segments: int | None = None
    """TCP: full segments per acknowledgement; 1 = every packet is acknowledged. Range: 1 to 1024."""
    ack_delay: str | None = None
    """TCP: longest delay of an acknowledgement (time). Range: at most "1 s"."""
    sack: bool | None = None
    """TCP: whether selective acknowledgements are used."""
    tail_loss_probe: bool | None = None
    """TCP: whether tail loss probes are sent."""
    ecn: bool | None = None
    """TCP: whether packets can be marked (ECN)."""
    gain: float | None = None
    """DCTCP and DCQCN: gain g of the moving average of marks (0 to 1). Range: 0.0001 to 1."""
    alpha: float | None = None
    """DCTCP: first value of alpha (0 to 1)."""
    message: str | None = None
    """RoCE: a message (size). Range: "1 B" to "2 GiB"."""
    in_flight: int | None = None
    """RoCE: messages in flight. Range: 1 to 65536."""
    payload: str | None = None
    """RoCE: data of one packet at most (size): "256 B", "512 B", "1 KiB", "2 KiB" or "4 KiB"; the largest of them that
    the flow's MTU has room for when absent.

    Range: "256 B" to "4 KiB".
    """
    ack_packets: int | None = None
    """RoCE: packets per acknowledgement. Range: 1 to 65536."""
    timeout: str | None = None
    """RoCE: when what is not acknowledged is sent again (time). Range: "1 us" to "100 s"."""
    notify: str | None = None
    """DCQCN: least time between two congestion notifications of a flow (time). Range: "1 ns" to "1 s"."""
    alpha_timer: str | None = None
    """DCQCN: period of the update of alpha without notification (time). Range: "1 ns" to "1 s"."""
    increase_timer: str | None = None
    """DCQCN: period of rate increase (time). Range: "1 ns" to "1 s"."""
    increase_bytes: str | None = None
    """DCQCN: byte counter of rate increase (size). Range: "1 KiB" to "1 TB"."""
    fast_rounds: int | None = None
    """DCQCN: rounds of fast recovery. Range: 0 to 1024."""
    additive: str | None = None
    """DCQCN: additive increase (bandwidth). Range: "1 kbps" to "1 TB/s"."""
    hyper: str | None = None
    """DCQCN: hyper increase (bandwidth). Range: "1 kbps" to "1 TB/s"."""
    least: str | None = None
    """DCQCN: least rate (bandwidth). Range: "1 kbps" to "1 TB/s"."""
