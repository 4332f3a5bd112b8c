//! Chip parameters that the tests modify.

use hostnet_chip::{
    CacheParams, ChipParams, Completion, Home, Interleave, Mode, NiParams, Placement, RackParams, Routing, Shape,
    SoftwareCosts, Workload,
};
use hostnet_noc::{Allocation, Reuse, Router};

/// A chip of 64 tiles at 2 GHz whose cores read one remote line at a time.
pub(crate) fn params(placement: Placement) -> ChipParams {
    ChipParams {
        shape: Shape::Mesh,
        columns: 8,
        rows: 8,
        router: Router {
            vc_flits: 8,
            allocation: Allocation::Speculative,
            reuse: Reuse::TailSent,
            switch_cycles: 1,
            link_cycles: 1,
            credit_cycles: 3,
        },
        vcs: 1,
        flit_bytes: 16,
        routing: Routing::CdrDirectory,
        cache: CacheParams {
            l1_cycles: 3,
            bank_cycles: 6,
            bank_busy_cycles: 6,
            slice_lines: 4096,
            ways: 16,
            entries: 32,
            dirty_percent: 100,
        },
        memory_cycles: 100,
        memories: Vec::new(),
        interleave: Interleave::Line,
        home: Home::PageOffset,
        ni: NiParams {
            placement,
            entries: 128,
            wq_entries_per_line: 4,
            cq_entries_per_line: 8,
            rgp_frontend_cycles: 4,
            rgp_backend_cycles: 4,
            rcp_backend_cycles: 4,
            rcp_frontend_cycles: 8,
            latch_saves_cycles: 1,
            rrpp_cycles: 14,
            handover_cycles: 5,
            in_flight: 128,
            rrpp_in_flight: 64,
            completion: Completion::Posted,
        },
        software: SoftwareCosts { wq_write: 13, cq_read: 10, load: 1, poll_every: 4, mshrs: 32 },
        rack: RackParams { hops: 1, hop_cycles: 70 },
        workload: Workload { writes_percent: 0, mode: Mode::Turns, lines: 1, cores: (0..64).collect() },
        seed: 1,
    }
}
