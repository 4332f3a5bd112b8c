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
    """RD to its first data (clocks). Range: 1 to 1000."""
    cwl: int | None = None
    """WR to its first data (clocks). Range: 1 to 1000."""
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
    """WR to WR, same bank group, where it is longer (clocks); `ccd_l` when absent. Range: 1 to 1000."""
    rrd_s: int | None = None
    """ACT to ACT, other bank group (clocks). Range: 1 to 1000."""
    rrd_l: int | None = None
    """ACT to ACT, same bank group (clocks). Range: 1 to 1000."""
    wtr_s: int | None = None
    """Last write data to RD, other bank group (clocks). Range: 0 to 1000."""
    wtr_l: int | None = None
    """Last write data to RD, same bank group (clocks). Range: 0 to 1000."""
    faw: int | None = None
    """Window of four ACT of one rank (clocks); 0 means none. Range: 0 to 10000."""
    ppd: int | None = None
    """PRE to PRE of one rank (clocks); 0 means none. Range: 0 to 1000. Default: 0."""
    rfc: int | None = None
    """Refresh of one rank (clocks); 0 turns refresh off. Range: 0 to 100000."""
    refi: int | None = None
    """Mean interval of refreshes of one rank (clocks). Range: 100 to 10000000."""
    rfc_sb: int | None = None
    """REFSB to the next command for its banks (clocks). Range: 0 to 100000. Default: 0."""
    refi_sb: int | None = None
    """Mean interval of the REFSB of one rank (clocks). Range: 0 to 10000000. Default: 0."""
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
    """Command bus time of RD and WR (clocks). Range: 1 to 4. Default: 1."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Dram(Description):
    """The DRAM of one channel; what is set here overrides the device."""

    data_rate: str | None = None
    """Data rate of the bus (transfer rate). Speed grades are meant exactly: "2933 MT/s" is 8800/3 MT/s. A clock is two
    transfers.

    Range: "100 MT/s" to "20 GT/s".
    """
    subchannels: int | None = None
    """Parts of a channel that work on their own, each with a controller and all that follows: DDR5 subchannels, HBM
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
    """Bytes of a row over the whole subchannel (size); a power of two. Range: "128 B" to "1 MiB"."""
    accesses_per_line: int | None = None
    """Column accesses (RD or WR) that move one line; a power of two. Range: 1 to 4. Default: 1."""
    row_bus: bool | None = None
    """Whether row commands (ACT, PRE, REF) and column commands (RD, WR) have a bus each, as in HBM. Default: False."""
    same_bank: str | None = None
    """Which banks one refresh of less than a rank (REFSB) refreshes: "none" (the device has no such command),
    "every-group" (the bank of one number in every bank group, DDR5) or "one-bank" (one bank, HBM).

    Default: "none".
    """
    postponed_max: int | None = None
    """Refreshes that may be owed to a rank at most. Range: 0 to 64. Default: 8."""
    timing: Timing = Timing()
    """Timing constraints in clocks (half the data rate), named as in JEDEC JESD79-4."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AddressMap(Description):
    """One entry per selector bit, lowest first: the byte address bits whose parity it is, such as "8+13+17".

    The row and the column are the remaining address bits.
    """

    channel: Sequence[str] | None = None
    """Bits of the channel number, lowest first. Each is the parity of some bits of the byte address, written such as
    "8+13+17".
    """
    channel_bytes: str | None = None
    """Consecutive bytes of one channel (size) when the number of channels is no power of two, in place of `channel`; a
    power of two. 256 B when absent. The other masks then see the address with the channel taken out.

    Range: "64 B" to "64 TiB".
    """
    subchannel: Sequence[str] | None = None
    """Bits of the subchannel number; none when absent."""
    rank: Sequence[str] | None = None
    """Bits of the rank number."""
    bank_group: Sequence[str] | None = None
    """Bits of the bank group number."""
    bank: Sequence[str] | None = None
    """Bits of the bank number within its group. Row and column are the remaining address bits."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ReadQueue(Description):
    """The read pending queue."""

    entries: int | None = None
    """Entries of the read pending queue (RPQ). Range: 1 to 4096."""
    full_threshold: int | None = None
    """Entries from which the hardware counter calls the queue full, no more than `entries`; `entries` when absent.
    Changes what is reported, nothing else.

    Range: 1 to 4096.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class WriteQueue(Description):
    """The write pending queue."""

    entries: int | None = None
    """Entries of the write pending queue (WPQ). Range: 1 to 4096."""
    full_threshold: int | None = None
    """Entries from which the hardware counter calls the queue full, no more than `entries`; `entries` when absent.
    Changes what is reported, nothing else.

    Range: 1 to 4096.
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class Controller(Description):
    """The controller of every channel, or of every subchannel; what is set here overrides the profile."""

    rpq: ReadQueue = ReadQueue()
    """The read pending queue."""
    wpq: WriteQueue = WriteQueue()
    """The write pending queue."""
    shared_queue: bool | None = None
    """Whether reads and writes share the entries of the RPQ; those of the WPQ are then no limit. Default: False."""
    entry_until: str | None = None
    """When a request gives its entry back: "column" (with its last column access) or "activation" (with the activation
    made for it; from then on it owns the bank until its column access).

    Default: "column".
    """
    scheduler: str | None = None
    """Who goes first among the requests of one direction: "column-first" (first-ready: column accesses, then
    activations, then precharges; the oldest request among equals), "oldest-ready" (first-ready: the oldest request that
    some command may serve now, whatever the command) or "fcfs" (the oldest request, ready or not).

    Default: "column-first".
    """
    protect: str | None = None
    """When a row that queued requests still want may be closed for another row: "nothing" (at any time), "older-hits"
    (when the request that closes it is older than every request that wants it) or "all-hits" (when no request wants
    it).

    Default: "all-hits".
    """
    write_high: int | str | None = None
    """WPQ entries from which write mode may begin (count or share), at most `wpq.entries`: 40, or "80%" for more than
    that share of them.

    Range: 1 to 4096.
    """
    write_low: int | str | None = None
    """WPQ entries at which write mode ends (count or share), below `write_high`: 8, or "20%" for fewer than that share
    of them.

    Range: 0 to 4095.
    """
    reads_per_mode: int | None = None
    """Reads served since the last write mode before the next may start, unless few reads wait. Range: 0 to 1000000."""
    reads_few: int | None = None
    """Reads waiting at or below which write mode may start at once; less than `rpq.entries`, whatever it says.

    Range: 0 to 4096.
    """
    writes_per_mode: int | None = None
    """Writes served in write mode before waiting reads end it. Range: 1 to 1000000."""
    idle_drain: str | None = None
    """What an empty read queue does for writes: "off" (nothing), "yield" (writes pass until `idle_reads`, `idle_hits`
    or `idle_age` ends it) or "mode" (write mode begins, and lasts until it ends by its own rules).

    Default: "yield".
    """
    idle_writes: int | None = None
    """WPQ entries from which an idle read queue lets writes pass; more than there are means never. Range: 1 to 8192."""
    idle_reads: int | None = None
    """Reads waiting above which such writes stop. Range: 0 to 4096."""
    idle_hits: int | None = None
    """Reads of open rows waiting above which such writes stop; more than there are entries means never.

    Range: 0 to 4096. Default: 4096.
    """
    idle_age: str | None = None
    """Age of a waiting read at which such writes stop, however few reads wait (time); "off" means never.

    Range: at most "1 ms". Default: "off".
    """
    idle_flush: str | None = None
    """Time after the last write has come from which fewer writes than `idle_writes` pass, too, once no read waits
    (time). "off": they wait for others, for ever if none come. Not with `idle_drain = "off"`.

    Range: at most "1 ms". Default: "off".
    """
    spare_writes: int | None = None
    """WPQ entries from which writes fill command slots that no read can use; more than there are means never.

    Range: 1 to 8192.
    """
    spare_rows: bool | None = None
    """Whether such writes may open and close rows, or only use rows that are open."""
    row_hold: str | None = None
    """Age limit of first-ready scheduling (time): a request that is older and waits for a row of its own may close a
    row although hits for it still wait; "off" means never.

    Range: at most "1 ms". Default: "off".
    """
    row_hits: int | None = None
    """Column accesses to an open row after which a waiting request may close it although hits for it still wait; 0
    means any number.

    Range: 0 to 1000000. Default: 0.
    """
    page: str | None = None
    """When a row is closed that no queued request wants: "open" (not before another row is wanted), "closed" (with its
    last column access) or "timeout" (after `idle_close` without access).

    Default: "timeout".
    """
    idle_close: str | None = None
    """Time without access after which a row is closed (time); needed and used with the page policy "timeout".

    Range: at most "1 ms". Default: "off".
    """
    write_auto_precharge: bool | None = None
    """Whether a write closes its row when no queued request hits it."""
    refresh: str | None = None
    """Which refresh commands are used: "off" (none), "all-banks" (REF: all banks of a rank) or "same-bank" (REFSB: some
    banks of a rank).

    Default: "all-banks".
    """
    refresh_postponed: int | None = None
    """Refreshes of a rank that may be put off while requests wait for it; at most `memory.dram.postponed_max`.

    Range: 0 to 64. Default: 0.
    """
    refresh_holds_all: bool | None = None
    """Whether a refresh that is due holds up the whole subchannel until it is issued, or only its own banks.

    Default: False.
    """
    forwarding: bool | None = None
    """Whether a read is answered from a queued write to its line. Default: False."""
    merging: bool | None = None
    """Whether a write takes the place of a queued write to its line. Default: False."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Memory(Description):
    """The memory controllers and their DRAM."""

    channels: int | None = None
    """Channels of DIMMs, not the two subchannels of DDR5; any number, not only powers of two. Range: 1 to 64."""
    device: str | None = None
    """The DRAM device on every channel: its name, or the path of a file such as "./my.toml", relative to the
    configuration. It gives the values of `memory.dram`.
    """
    profile: str | None = None
    """Profile of the controller: its name, or the path of a file. It gives the values of `memory.controller`."""
    dram: Dram = Dram()
    """The DRAM of one channel; what is set here overrides the device."""
    size: str | None = None
    """Memory in use (size), or "all" that the channels hold. Range: "64 KiB" to "64 TiB"."""
    page: str | None = None
    """Size of a page (size): "4 KiB", "2 MiB" or "1 GiB". Range: "4 KiB" to "1 GiB"."""
    run: str | None = None
    """Physically contiguous run of a buffer (size), at least a page; a power of two. When absent that of the preset, or
    a page if that is more.

    Range: "4 KiB" to "1 TiB".
    """
    map: str | AddressMap | None = None
    """Where a physical line lies: "intel", "A", "B" or "C", an order of fields such as "RoBaRaCoCh", a list of fields
    such as "bg co ba ra ro", or a table with the bits of each selector.
    """
    controller: Controller = Controller()
    """The controller of every channel, or of every subchannel; what is set here overrides the profile."""
