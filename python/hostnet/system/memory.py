"""The memory controllers, their DRAM, and the address map."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Timing constraints in clocks, named as in JEDEC JESD79-4."""

    burst: int | None = None
    """Data bus clocks of one line. Range: 1 to 64."""
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
    rrd_s: int | None = None
    """ACT to ACT, other bank group (clocks). Range: 1 to 1000."""
    rrd_l: int | None = None
    """ACT to ACT, same bank group (clocks). Range: 1 to 1000."""
    wtr_s: int | None = None
    """Last write data to RD, other bank group (clocks). Range: 0 to 1000."""
    wtr_l: int | None = None
    """Last write data to RD, same bank group (clocks). Range: 0 to 1000."""
    faw: int | None = None
    """Window of four ACT of one rank (clocks). Range: 0 to 10000."""
    rfc: int | None = None
    """Refresh of one rank (clocks); 0 turns refresh off. Range: 0 to 100000."""
    refi: int | None = None
    """Mean interval of refreshes of one rank (clocks). Range: 100 to 10000000."""
    rank_switch: int | None = None
    """Bus turnaround between ranks (clocks). Range: 0 to 1000."""
    read_to_write: int | None = None
    """RD to WR of one rank, beyond CL + burst - CWL (clocks). Range: 0 to 1000."""


@dataclass(frozen=True, kw_only=True)
class Dram:
    """The DRAM of one channel: organisation and timing."""

    data_rate: str | None = None
    """Data rate of the bus (transfer rate).

    Speed grades are meant exactly: "2933 MT/s" is 8800/3 MT/s. Range: "100 MT/s" to "20 GT/s".
    """
    ranks: int | None = None
    """Ranks per channel; a power of two. Range: 1 to 16."""
    bank_groups: int | None = None
    """Bank groups per rank; a power of two. Range: 1 to 16."""
    banks_per_group: int | None = None
    """Banks per bank group; a power of two. Range: 1 to 16."""
    rows: int | None = None
    """Rows per bank; a power of two. Range: 2 to 16777216."""
    row_size: str | None = None
    """Bytes of a row over the whole channel (size); a power of two. Range: "128 B" to "1 MiB"."""
    timing: Timing = Timing()
    """Timing constraints in clocks (half the data rate), named as in JEDEC JESD79-4."""


@dataclass(frozen=True, kw_only=True)
class AddressMap:
    """One entry per selector bit, lowest first: the byte address bits whose parity it is, such as "8+13+17".

    The row and the column are the remaining address bits.
    """

    channel: Sequence[str] | None = None
    """Bits of the channel number."""
    rank: Sequence[str] | None = None
    """Bits of the rank number."""
    bank_group: Sequence[str] | None = None
    """Bits of the bank group number."""
    bank: Sequence[str] | None = None
    """Bits of the bank number within its group."""


@dataclass(frozen=True, kw_only=True)
class ReadQueue:
    """The read pending queue of one channel."""

    entries: int | None = None
    """Entries. Range: 1 to 4096."""
    full_threshold: int | None = None
    """Entries from which the hardware counter calls the queue full.

    Affects what is reported, nothing else. Range: 1 to 4096.
    """


@dataclass(frozen=True, kw_only=True)
class WriteQueue:
    """The write pending queue of one channel."""

    entries: int | None = None
    """Entries. Range: 1 to 4096."""
    full_threshold: int | None = None
    """Entries from which the hardware counter calls the queue full.

    Affects what is reported, nothing else. Range: 1 to 4096.
    """


@dataclass(frozen=True, kw_only=True)
class Controller:
    """The memory controller of one channel."""

    rpq: ReadQueue = ReadQueue()
    """The read pending queue."""
    wpq: WriteQueue = WriteQueue()
    """The write pending queue."""
    write_high: int | None = None
    """WPQ entries from which write mode may be entered. Range: 1 to 4096."""
    write_low: int | None = None
    """WPQ entries at which write mode ends; below `write_high`. Range: 0 to 4095."""
    reads_per_mode: int | None = None
    """Reads served since the last write mode before the next may start, unless few reads wait. Range: 0 to 1000000."""
    reads_few: int | None = None
    """Reads waiting at or below which write mode may start at once. Range: 0 to 4096."""
    writes_per_mode: int | None = None
    """Writes served in write mode before waiting reads end it. Range: 1 to 1000000."""
    idle_writes: int | None = None
    """WPQ entries from which an idle read queue lets writes pass; more than there are means never. Range: 1 to 8192."""
    idle_reads: int | None = None
    """Reads waiting above which such writes stop. Range: 0 to 4096."""
    spare_writes: int | None = None
    """WPQ entries from which writes fill slots that no read can use; more than there are means never.

    Range: 1 to 8192.
    """
    spare_rows: bool | None = None
    """Whether such writes may open and close rows, or only use rows that are open."""
    row_hold: str | None = None
    """Age limit of first-ready scheduling (time): a request that is older and waits for a row of its own may close a
    row although hits for it still wait. Range: at most "1 ms".
    """
    idle_close: str | None = None
    """Time without access after which a row is closed (time). Range: at most "1 ms"."""
    write_auto_precharge: bool | None = None
    """Whether a write closes its row when no queued request hits it."""


@dataclass(frozen=True, kw_only=True)
class Memory:
    """The memory of the socket."""

    channels: int | None = None
    """Channels; a power of two. Range: 1 to 64."""
    device: str | None = None
    """Name of the DRAM device on every channel. It gives the values of `memory.dram`."""
    dram: Dram = Dram()
    """The DRAM of one channel; what is set here overrides the device."""
    size: str | None = None
    """Memory in use (size), or "all" that the channels hold. Range: "64 KiB" to "64 TiB"."""
    page: str | None = None
    """Size of a page (size): "4 KiB", "2 MiB" or "1 GiB"."""
    run: str | None = None
    """Physically contiguous run of a buffer (size), at least a page; a power of two. Range: "4 KiB" to "1 TiB"."""
    map: str | AddressMap | None = None
    """Where a physical line lies: "intel", an order of bit fields such as "RoBaRaCoCh", or each selector's bits."""
    controller: Controller = Controller()
    """The controller of every channel."""
