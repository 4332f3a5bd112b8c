# Written by `python -m scripts.generate` from the schema, whose words are in crates/params/src.
"""The memory controllers, their DRAM, and the address map."""

from collections.abc import Sequence
from dataclasses import dataclass

from hostnet.system.description import Description


@dataclass(frozen=True, kw_only=True, repr=False)
class Timing(Description):
    """Timing constraints in clocks (half the data rate), named as in JEDEC JESD79-4."""

    burst: int | None = None
    """Data bus time of one column access (clocks). Range: 1 to 64."""
    cl: int | None = None
    """RD to the first read data (clocks). Range: 1 to 1000."""
    cwl: int | None = None
    """WR to the first write data (clocks). Range: 1 to 1000."""
    rcd: int | None = None
    """ACT to RD or WR (clocks). Range: 1 to 1000."""
    rp: int | None = None
    """PRE to ACT (clocks). Range: 1 to 1000."""
    ras: int | None = None
    """ACT to PRE (clocks). Range: 1 to 10000."""
    rc: int | None = None
    """ACT to ACT of one bank (clocks). Range: 1 to 10000."""
    wr: int | None = None
    """Last write data to PRE (clocks). Range: 0 to 1000."""
    rtp: int | None = None
    """RD to PRE (clocks). Range: 0 to 1000."""
    ccd_s: int | None = None
    """RD to RD or WR to WR, other bank group (clocks). Range: 1 to 1000."""
    ccd_l: int | None = None
    """RD to RD or WR to WR, same bank group (clocks). Range: 1 to 1000."""
    ccd_l_wr: int | None = None
    """WR to WR, same bank group, if longer than `ccd_l` (clocks); `ccd_l` when absent. Range: 1 to 1000."""
    rrd_s: int | None = None
    """ACT to ACT, other bank group (clocks). Range: 1 to 1000."""
    rrd_l: int | None = None
    """ACT to ACT, same bank group (clocks). Range: 1 to 1000."""
    wtr_s: int | None = None
    """Last write data to RD, other bank group (clocks). Range: 0 to 1000."""
    wtr_l: int | None = None
    """Last write data to RD, same bank group (clocks). Range: 0 to 1000."""
    faw: int | None = None
    """Window of at most four ACT of one rank (clocks); 0 means none. Range: 0 to 10000."""
    ppd: int | None = None
    """PRE to PRE of one rank (clocks); 0 means none. Range: 0 to 1000. Default: 0."""
    rfc: int | None = None
    """Duration of a REF of one rank (clocks); 0 turns refresh off. Range: 0 to 100000."""
    refi: int | None = None
    """Mean interval between the REF commands of one rank (clocks). Range: 100 to 10000000."""
    rfc_sb: int | None = None
    """REFSB to the next command for its banks (clocks). Range: 0 to 100000. Default: 0."""
    refi_sb: int | None = None
    """Mean interval between the REFSB commands of one rank (clocks). Range: 0 to 10000000. Default: 0."""
    refsb_act: int | None = None
    """REFSB to ACT of another bank of the rank (clocks). Range: 0 to 10000. Default: 0."""
    refsb_refsb: int | None = None
    """REFSB to REFSB of one rank (clocks). Range: 0 to 100000. Default: 0."""
    rank_switch: int | None = None
    """Bus turnaround between ranks (clocks). Range: 0 to 1000."""
    read_to_write: int | None = None
    """RD to WR of one rank, beyond CL + burst - CWL (clocks). Range: 0 to 1000."""
    act_clocks: int | None = None
    """Command bus time of ACT (clocks). Range: 1 to 4. Default: 1."""
    cas_clocks: int | None = None
    """Command bus time of RD or WR (clocks). Range: 1 to 4. Default: 1."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Dram(Description):
    """DRAM of one channel; values set here override the device."""

    data_rate: str | None = None
    """Data rate of the bus (transfer rate). Speed grades are exact: "2933 MT/s" means 8800/3 MT/s. A clock cycle has
    the length of two transfers.

    Range: "100 MT/s" to "20 GT/s".
    """
    subchannels: int | None = None
    """Independent parts of a channel, each with its own controller and all that follows: DDR5 subchannels, HBM
    pseudo-channels; a power of two.

    Range: 1 to 4. Default: 1.
    """
    ranks: int | None = None
    """Ranks per subchannel; a power of two. A subchannel has at most 64 banks. Range: 1 to 16."""
    bank_groups: int | None = None
    """Bank groups per rank; a power of two. Range: 1 to 16."""
    banks_per_group: int | None = None
    """Banks per bank group; a power of two. Range: 1 to 16."""
    rows: int | None = None
    """Rows per bank; a power of two. Range: 2 to 16777216."""
    row_size: str | None = None
    """Size of a row over the whole subchannel (size); a power of two. Range: "128 B" to "1 MiB"."""
    accesses_per_line: int | None = None
    """Column accesses (RD or WR) needed to move one line; a power of two. Range: 1 to 4. Default: 1."""
    row_bus: bool | None = None
    """True if row commands (ACT, PRE, REF) and column commands (RD, WR) have a bus each, as in HBM. Default: False."""
    same_bank: str | None = None
    """Banks that one refresh of less than a rank (REFSB) refreshes: "none" (the device has no such command),
    "every-group" (the bank with the same number in every bank group, DDR5) or "one-bank" (one bank, HBM).

    Default: "none".
    """
    postponed_max: int | None = None
    """Maximum number of refreshes of a rank that may be postponed. Range: 0 to 64. Default: 8."""
    timing: Timing = Timing()
    """Timing constraints in clocks (half the data rate), named as in JEDEC JESD79-4."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AddressMap(Description):
    """One entry per selector bit, lowest first.

    The bits of the byte address whose parity forms it, such as "8+13+17". The row and the column are the remaining
    address bits.
    """

    channel: Sequence[str] | None = None
    """Bits of the channel number, lowest first. Each is the parity of some bits of the byte address, such as "8+13+17".
    """
    channel_bytes: str | None = None
    """Consecutive bytes on one channel (size) if the number of channels is not a power of two, in place of `channel`; a
    power of two. 256 B when absent. The other masks then apply to the address without the channel.

    Range: "64 B" to "64 TiB".
    """
    subchannel: Sequence[str] | None = None
    """Address bits that form the subchannel number; none when absent."""
    rank: Sequence[str] | None = None
    """Address bits that form the rank number."""
    bank_group: Sequence[str] | None = None
    """Address bits that form the bank group number."""
    bank: Sequence[str] | None = None
    """Address bits that form the bank number within the bank group. The row and the column are the remaining address
    bits.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class ReadQueue(Description):
    """Read pending queue (RPQ)."""

    entries: int | None = None
    """Entries of the read pending queue (RPQ). Range: 1 to 4096."""
    full_threshold: int | None = None
    """Number of entries in use at or above which the hardware counter reports the queue as full, at most `entries`;
    `entries` when absent. It affects only what is reported.

    Range: 1 to 4096.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class WriteQueue(Description):
    """Write pending queue (WPQ)."""

    entries: int | None = None
    """Entries of the write pending queue (WPQ). Range: 1 to 4096."""
    full_threshold: int | None = None
    """Number of entries in use at or above which the hardware counter reports the queue as full, at most `entries`;
    `entries` when absent. It affects only what is reported.

    Range: 1 to 4096.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Controller(Description):
    """Controller of every channel, or of every subchannel; values set here override the profile."""

    rpq: ReadQueue = ReadQueue()
    """Read pending queue (RPQ)."""
    wpq: WriteQueue = WriteQueue()
    """Write pending queue (WPQ)."""
    shared_queue: bool | None = None
    """True if reads and writes share the entries of the RPQ; the WPQ entries are then no limit. Default: False."""
    entry_until: str | None = None
    """Time at which a request releases its queue entry: "column" (with the last column access of the request) or
    "activation" (with the activation issued for the request, which then owns the bank until its column access).

    Default: "column".
    """
    scheduler: str | None = None
    """Scheduling policy among the requests of one direction: "column-first" (first-ready: column accesses before
    activations before precharges, and the oldest request among equals), "oldest-ready" (first-ready: the oldest request
    with any command that can be issued, whatever the command) or "fcfs" (first come, first served: the oldest request,
    ready or not).

    Default: "column-first".
    """
    protect: str | None = None
    """Condition under which a row that queued requests still hit may be closed for another row: "nothing" (at any
    time), "older-hits" (when the request that closes the row is older than every request that hits it) or "all-hits"
    (when no queued request hits the row).

    Default: "all-hits".
    """
    write_high: int | str | None = None
    """Number of WPQ entries in use at or above which write mode may start (count or share), at most `wpq.entries`: 40,
    or "80%" for more than that share of them.

    Range: 1 to 4096.
    """
    write_low: int | str | None = None
    """WPQ entries in use at which write mode ends (count or share), below `write_high`: 8, or "20%" for fewer than that
    share of them.

    Range: 0 to 4095.
    """
    reads_per_mode: int | None = None
    """Reads that must be served after a write mode before the next may start, unless few reads wait.

    Range: 0 to 1000000.
    """
    reads_few: int | None = None
    """Largest number of waiting reads at which write mode may start at once; limited to `rpq.entries` - 1.

    Range: 0 to 4096.
    """
    writes_per_mode: int | None = None
    """Writes that write mode serves before waiting reads end it. Range: 1 to 1000000."""
    idle_drain: str | None = None
    """Handling of writes while the read queue is empty: "off" (no writes are served), "yield" (writes are served until
    `idle_reads`, `idle_hits` or `idle_age` stops them) or "mode" (write mode starts, and lasts until it ends by its own
    rules).

    Default: "yield".
    """
    idle_writes: int | None = None
    """Number of WPQ entries in use at or above which writes are served while the read queue is empty; a value above the
    number of entries means never.

    Range: 1 to 8192.
    """
    idle_reads: int | None = None
    """Number of waiting reads above which those writes stop. Range: 0 to 4096."""
    idle_hits: int | None = None
    """Number of waiting row hits of reads above which those writes stop; a value above the number of entries means
    never.

    Range: 0 to 4096. Default: 4096.
    """
    idle_age: str | None = None
    """Age of a waiting read at which those writes stop, however few reads wait (time); "off" means never.

    Range: at most "1 ms". Default: "off".
    """
    idle_flush: str | None = None
    """Time without a new write after which an empty read queue also serves fewer writes than `idle_writes` (time).
    "off": these writes wait for others, for ever if none arrive. Not with `idle_drain = "off"`.

    Range: at most "1 ms". Default: "off".
    """
    spare_writes: int | None = None
    """Number of WPQ entries in use at or above which writes fill command slots that no read can use; a value above the
    number of entries means never.

    Range: 1 to 8192.
    """
    spare_rows: bool | None = None
    """True if such writes may open and close rows; otherwise they only use open rows."""
    row_hold: str | None = None
    """Age limit of row protection (time): an older request for another row may close a row despite queued hits; "off"
    means never.

    Range: at most "1 ms". Default: "off".
    """
    row_hits: int | None = None
    """Column accesses to an open row after which a waiting request may close the row despite queued hits; 0 means no
    limit.

    Range: 0 to 1000000. Default: 0.
    """
    page: str | None = None
    """Page policy: time at which a row that no queued request hits is closed: "open" (when a request needs another row
    of the bank), "closed" (with the last column access to the row) or "timeout" (after `idle_close` without access).

    Default: "timeout".
    """
    idle_close: str | None = None
    """Time without access after which a row is closed (time); required and used with the page policy "timeout".

    Range: at most "1 ms". Default: "off".
    """
    write_auto_precharge: bool | None = None
    """True if a write closes its row when no queued request hits it."""
    refresh: str | None = None
    """Refresh commands in use: "off" (no refresh), "all-banks" (REF: all banks of a rank) or "same-bank" (REFSB: some
    banks of a rank).

    Default: "all-banks".
    """
    refresh_postponed: int | None = None
    """Refreshes of a rank that may be postponed while requests wait for the rank; at most `memory.dram.postponed_max`.

    Range: 0 to 64. Default: 0.
    """
    refresh_holds_all: bool | None = None
    """True if a refresh that is due blocks the whole subchannel until it is issued, false if it blocks only its own
    banks.

    Default: False.
    """
    forwarding: bool | None = None
    """True if a queued write to the same line answers a read. Default: False."""
    merging: bool | None = None
    """True if a write replaces a queued write to the same line. Default: False."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Memory(Description):
    """Memory controllers and their DRAM."""

    channels: int | None = None
    """Number of memory channels, not only powers of two; the two subchannels of a DDR5 DIMM count as one channel.

    Range: 1 to 64.
    """
    device: str | None = None
    """DRAM device on every channel: its name, or the path of a file such as "./my.toml", relative to the configuration.
    It sets the values of `memory.dram`.
    """
    profile: str | None = None
    """Profile of the controller: its name, or the path of a file. It sets the values of `memory.controller`."""
    dram: Dram = Dram()
    """DRAM of one channel; values set here override the device."""
    size: str | None = None
    """Memory in use (size), or "all" for the full capacity of the channels. Range: "64 KiB" to "64 TiB"."""
    page: str | None = None
    """Size of a page (size): "4 KiB", "2 MiB" or "1 GiB". Range: "4 KiB" to "1 GiB"."""
    run: str | None = None
    """Size of the physically contiguous runs of a buffer (size), at least a page; a power of two. When absent, that of
    the preset, or a page if a page is larger.

    Range: "4 KiB" to "1 TiB".
    """
    map: str | AddressMap | None = None
    """Address map from physical lines to DRAM: "intel", "A", "B" or "C", an order of fields such as "RoBaRaCoCh", a
    list of fields such as "bg co ba ra ro", or a table with the address bits of each selector.
    """
    controller: Controller = Controller()
    """Controller of every channel, or of every subchannel; values set here override the profile."""
