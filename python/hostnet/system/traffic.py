# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""Traffic of the hosts of a cluster, and its transports."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Move(Description):
    """Migration of a thread, and of its flow, to another core."""

    at: str
    """Time of the migration, from the start of the run (time). Range: at most "1000 s"."""
    core: int
    """Core that the thread migrates to. Range: 0 to 65535."""
    end: str | None = None
    """End of the flow with the threads to migrate: "from" (the host that initiates the flow) or "to" (the other host);
    when absent, `to` if it is a server, else `from`.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class OtherRequests(Description):
    """For "rpc": requests of a second kind, chosen at random, such as the SET requests of memcached."""

    share: float
    """Share of requests of this kind (0 to 1)."""
    request: str
    """Size of a request (size). Range: "1 B" to "1 TB"."""
    response: str
    """Size of a response (size). Range: "1 B" to "1 TB"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class SizePoint(Description):
    """Point of a cumulative distribution of flow sizes. Sizes between two points are equally likely."""

    bytes: str
    """Data of a flow (size); 0 B only with a share of 0, as the lower end of the first range.

    Range: "0 B" to "1000 TB".
    """
    share: float
    """Share of flows with at most this much data (0 to 1)."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ServiceIo(Description):
    """Storage reads that each request waits for; none when absent. Only if the workers are on a server."""

    reads: int
    """Number of reads; equal pieces of work precede, separate and follow them. Range: 1 to 255."""
    latency: str
    """Latency of each read (time). Range: "1 ps" to "10 s"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Service(Description):
    """For "service": arrivals of requests, and the workers that serve them."""

    rate: float
    """Requests per second of each flow, in an open loop: requests do not wait for the answers to earlier ones.

    Range: 0.001 to 1000000.
    """
    arrivals: str | None = None
    """Arrival process of the requests: "poisson" (independent arrivals) or "constant" (equal intervals); "poisson" when
    absent.
    """
    time: str | None = None
    """Mean service time of a request at a worker (time); none when absent. At a server it is work of a core at
    `core.frequency`.

    Range: at most "1000 s".
    """
    cycles: int | None = None
    """Mean service time in cycles of the core of the worker, in place of `time`; only if the workers are on a server.

    Range: 1 to 1000000000000.
    """
    distribution: str | None = None
    """Distribution of the service time: "constant", "exponential" or "lognormal"; "constant" when absent."""
    deviation: float | None = None
    """With "lognormal": standard deviation of the service time divided by its mean; 1 when absent.

    Range: 0.01 to 10.
    """
    workers: int | None = None
    """Requests that a host serves at a time, of all flows of the table; the others wait in order of arrival; 1 when
    absent. At a server they are divided among the cores that have connections, at least one each.

    Range: 1 to 65536.
    """
    io: ServiceIo | None = None
    """Storage reads that each request waits for; none when absent. Only if the workers are on a server."""
    burst: int | None = None
    """Requests of each flow that arrive as a burst, with bursts at intervals that keep the mean `rate`; 1 when absent.

    Range: 1 to 65536.
    """
    spacing: str | None = None
    """Time between two requests of a burst (time); all arrive at once when absent. Range: at most "1 s"."""
    phase: str | None = None
    """Time of the first requests of each requesting host, with arrivals = "constant": "aligned" (the start of the flow,
    for all hosts) or "random" (a random time within one interval, drawn for each host); one interval after the flow
    begins when absent.
    """
    verb: str | None = None
    """First word of a request, 2 to 16 letters, of which a NIC may inspect the first two; "GET" when absent."""
    requests: str | Sequence[SizePoint] | None = None
    """Distribution of the sizes of requests, in place of `request`, as of `sizes`."""
    responses: str | Sequence[SizePoint] | None = None
    """Distribution of the sizes of answers, in place of `response`."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Flow(Description):
    """Flows between hosts."""

    kind: str
    """Behaviour of the applications: "bulk" (`from` sends data, iperf), "rpc" (`from` sends requests, and `to` answers
    each, netperf), "service" (`from` sends requests in an open loop, and workers of `to` serve them, httperf,
    memcached), "write" (`from` writes to the memory of `to`, RDMA, ib_write_bw), "read" (`from` reads from the memory
    of `to`, RDMA, ib_read_bw), "replay" (`from` sends the packets of a capture), "datagram" (`from` sends datagrams
    over UDP), "packets" (`from` sends packets of different sizes over UDP in an open loop) or "forward" (`from`
    forwards the packets that it receives by other flows).
    """
    from_: str | Sequence[str]
    """Host that initiates the flow, or several: each of them has private flows, or lists of equal length are paired.

    Its key in files is `from`.
    """
    to: str | Sequence[str]
    """Host at the other end, or several."""
    count: int | None = None
    """Flows per pair of hosts. Range: 1 to 65536. Default: 1."""
    pairs: str | None = None
    """Pairing of the hosts of `from` and `to`, which may be the same hosts: "all-to-all" (from every host of `from` to
    every other host of `to`), "permutation" (from every host of `from` to a random host of `to`, each of which receives
    from one host), "incast" (to every host of `to` from all hosts of `from`, or from `senders` random ones) or "random"
    (from a host of `from` to a random host of `to` for every flow); as the lists say when absent, at random with
    `load`.
    """
    senders: int | None = None
    """For the pairs "incast": hosts of `from`, drawn at random, that send to each host of `to`; all when absent.

    Range: 1 to 16384.
    """
    sizes: str | Sequence[SizePoint] | None = None
    """For "bulk", "write" and "read": random size of each flow, from a distribution by name ("web-search",
    "data-mining") or a list of tables of `bytes` and `share`. For "packets": random size of each packet, with the
    header of 14 B of its frame, by name ("database", "webserver", "hadoop"), such a list, or a CSV file of both
    columns.
    """
    load: float | None = None
    """Offered load: flows start at random (Poisson), at a rate at which their data is this share of the capacity of the
    cables of `from`, or of those of `to` if that is less (0 to 1).

    Range: 0.0001 to 1.
    """
    until: str | None = None
    """With `load`: time after which no more flows start, from the start of the run (time); its end when absent.

    Range: at most "1000 s".
    """
    transport: str | None = None
    """Transport, by name; "dctcp" when absent, "roce" for "write" and "read". Not for "datagram", "packets" and
    "forward", which use UDP.
    """
    class_: str | None = None
    """Class that the results of the flows are counted under; the name of the table when absent.

    Its key in files is `class`.
    """
    from_cores: str | Sequence[int] | None = None
    """Cores of the applications at `from`, assigned round robin; the lowest free cores when absent, with several
    sockets those of socket 0 first, wherever the NIC is attached. A core that is given may run workloads too, at a host
    with fidelity "line".

    Range: 0 to 1023.
    """
    to_cores: str | Sequence[int] | None = None
    """Cores of the applications at `to`, assigned round robin; the lowest free cores when absent, as for `from_cores`.

    Range: 0 to 1023.
    """
    mtu: str | None = None
    """Largest IP packet (size); that of the network when absent. Range: "128 B" to "65535 B"."""
    priority: int | None = None
    """Priority class of the packets; 3 over RoCE and 0 otherwise when absent. Range: 0 to 7."""
    start: str | None = None
    """Start of the first flow, from the start of the run (time). Range: at most "1000 s". Default: "0 ps"."""
    stagger: str | None = None
    """Delay between the starts of consecutive flows of the table (time). Range: at most "1000 s". Default: "0 ps"."""
    deaf: tuple[str, str] | None = None
    """For "bulk" and "rpc" over TCP: interval in which the receiving application does not read: two times from the
    start of the run (time).

    Range: at most "1000 s".
    """
    move: Sequence[Move] | None = None
    """For "bulk" and "rpc" over TCP: migrations of the threads to other cores, in order of time, at most 1024, such as
    `[{ at = "2 ms", core = 14 }]`; all flows of the table migrate, at each of its hosts.
    """
    sendfile: str | None = None
    """For "bulk" over TCP from a server: placement of the pages of a file that is sent without a copy, one file per
    flow: "local" (to the core that initiates the flow; "first-touch" is the same), "node:1" (in the memory of a NUMA
    node) or "interleave" (over all nodes, round robin). When absent, data that the application writes is copied and
    sent.
    """
    via: Sequence[str] | None = None
    """Switches on the path from `from` to `to`, and in reverse order on the path back; a shortest path when absent."""
    bytes: str | None = None
    """For "bulk", "write" and "read": data of each flow (size); without end when absent. Range: "1 B" to "1000 TB"."""
    pattern: str | None = None
    """For "datagram": behaviour of the applications: "open" (`from` sends in an open loop, iperf -u), "ping" (`from`
    sends one request at a time, and `to` answers it, sockperf) or "generate" (the kernel of `from` passes the same
    packet to its NIC repeatedly, pktgen); "open" when absent.
    """
    size: str | None = None
    """For the patterns "open" and "generate": data of a datagram (size); with headers of 28 B it must fit the MTU.

    Range: "1 B" to "65507 B".
    """
    rate: str | None = None
    """For the pattern "open": data rate of each flow (bandwidth); as fast as the sender can when absent. For "packets":
    mean rate of the bytes of the packets, as `sizes` counts them.

    Range: "1 kbps" to "10 TB/s".
    """
    timeout: str | None = None
    """For the pattern "ping": timeout of a request without a response (time); "10 ms" when absent.

    Range: "1 us" to "1000 s".
    """
    buffer: str | None = None
    """For UDP: data that a socket of a server buffers in either direction (size); "212992 B" when absent, as in Linux.

    Range: "1 B" to "1 GiB".
    """
    request: str | None = None
    """For "rpc", "service" and the pattern "ping": size of a request (size). Range: "1 B" to "1 TB"."""
    response: str | None = None
    """For "rpc", "service" and the pattern "ping": size of a response (size); that of a request when absent.

    Range: "1 B" to "1 TB".
    """
    other: OtherRequests | None = None
    """For "rpc": requests of a second kind, chosen at random, such as the SET requests of memcached."""
    service: Service | None = None
    """For "service": arrivals of requests, and the workers that serve them."""
    in_flight: int | None = None
    """For "rpc": requests in flight; 1 when absent. For "service": maximum number of requests without a response,
    beyond which requests are abandoned; 1024 when absent.

    Range: 1 to 65536.
    """
    think: str | None = None
    """For "rpc" and the pattern "ping": time between a response and the next request (time); none when absent.

    Range: at most "1000 s".
    """
    pcap: str | None = None
    """For "replay": path of a capture (pcap or pcapng), relative to the configuration."""
    scale: float | None = None
    """For "replay": factor that the times of the capture are multiplied by; 1 when absent. Range: 1e-06 to 1000000."""
    arrivals: str | None = None
    """For "packets" with `rate`: arrival process of the packets, "poisson" or "constant"; "poisson" when absent."""
    takes: str | Sequence[str] | None = None
    """For "forward": tables of flows whose packets `from` forwards, a name or a list."""
    function: str | None = None
    """For "forward": data of a packet that a core reads before it forwards the packet: "l3f" (the first line, which
    holds the headers: forwarding by address) or "dpi" (the whole packet: deep packet inspection); "l3f" when absent.
    """
    work: str | None = None
    """For "forward": work of a core on each packet beside that of its driver and its lines (time); none when absent.

    Range: at most "1 ms".
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Transport(Description):
    """Transport of flows. Absent values are those of the base."""

    base: str | None = None
    """Transport that provides absent values: "reno" (TCP with Reno, RFC 5681, 6582, 6675), "cubic" (TCP with CUBIC, RFC
    9438), "dctcp" (TCP with DCTCP, RFC 8257), "roce" (RoCE v2 at full rate) or "dcqcn" (RoCE v2 with DCQCN); that of
    the table's own name when absent.
    """
    initial_window: int | None = None
    """TCP: initial window (segments). Range: 1 to 65536."""
    receive_buffer: str | None = None
    """TCP: receive buffer (size); half of it is the window, as in Linux. Range: "4 KiB" to "16 GiB"."""
    send_buffer: str | None = None
    """TCP: send buffer, for data sent or not yet sent (size). Range: "4 KiB" to "16 GiB"."""
    tso: str | None = None
    """TCP: maximum data passed to the NIC at once (segmentation offload) (size); "0 B" = one packet.

    Range: at most "1 MiB".
    """
    rto_min: str | None = None
    """TCP: minimum retransmission timeout (time). Range: "1 us" to "100 s"."""
    rto_initial: str | None = None
    """TCP: retransmission timeout before the first RTT sample (time). Range: "1 us" to "100 s"."""
    ack_segments: int | None = None
    """TCP: full segments per acknowledgement; 1 = every packet is acknowledged. Range: 1 to 1024."""
    ack_delay: str | None = None
    """TCP: longest delay of an acknowledgement (time). Range: at most "1 s"."""
    sack: bool | None = None
    """TCP: true if selective acknowledgements are used."""
    tail_loss_probe: bool | None = None
    """TCP: true if tail loss probes are sent."""
    ecn: bool | None = None
    """TCP: true if packets are ECN-capable."""
    gain: float | None = None
    """DCTCP and DCQCN: gain g of the moving average of marks (0 to 1). Range: 0.0001 to 1."""
    alpha: float | None = None
    """DCTCP: initial value of alpha (0 to 1)."""
    message: str | None = None
    """RoCE: size of a message (size). Range: "1 B" to "2 GiB"."""
    in_flight: int | None = None
    """RoCE: messages in flight. Range: 1 to 65536."""
    payload: str | None = None
    """RoCE: maximum data per packet (size): "256 B", "512 B", "1 KiB", "2 KiB" or "4 KiB"; the largest of these that
    fits the flow's MTU when absent.

    Range: "256 B" to "4 KiB".
    """
    ack_packets: int | None = None
    """RoCE: packets per acknowledgement. Range: 1 to 65536."""
    timeout: str | None = None
    """RoCE: retransmission timeout (time). Range: "1 us" to "100 s"."""
    notify: str | None = None
    """DCQCN: minimum time between two congestion notifications of a flow (time). Range: "1 ns" to "1 s"."""
    alpha_timer: str | None = None
    """DCQCN: period of the update of alpha without a notification (time). Range: "1 ns" to "1 s"."""
    increase_timer: str | None = None
    """DCQCN: period of the rate increase timer (time). Range: "1 ns" to "1 s"."""
    increase_bytes: str | None = None
    """DCQCN: data per increase event of the byte counter (size). Range: "1 KiB" to "1 TB"."""
    fast_rounds: int | None = None
    """DCQCN: rounds of fast recovery. Range: 0 to 1024."""
    additive: str | None = None
    """DCQCN: step of additive increase (bandwidth). Range: "1 kbps" to "1 TB/s"."""
    hyper: str | None = None
    """DCQCN: step of hyper increase (bandwidth). Range: "1 kbps" to "1 TB/s"."""
    least: str | None = None
    """DCQCN: minimum rate (bandwidth). Range: "1 kbps" to "1 TB/s"."""
