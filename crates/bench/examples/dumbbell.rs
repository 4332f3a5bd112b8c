use hostnet_bench::network::*;
use std::time::Instant;
fn main() {
    let arg = |i: usize, d: u64| std::env::args().nth(i).and_then(|a| a.parse().ok()).unwrap_or(d);
    let d =
        Dumbbell { flows: arg(1, 2) as u16, gbps: arg(2, 10), mark_packets: arg(3, 65) as u32, buffer_packets: 4096 };
    let ms = 1_000_000_000;
    let mut r = Running::new(&d);
    let t = Instant::now();
    r.advance(50 * ms);
    let warm = r.outcome();
    r.begin_window();
    r.advance(arg(4, 200) * ms);
    let o = r.outcome();
    let s = t.elapsed().as_secs_f64();
    let bdp = if d.gbps == 10 { 52.0 } else { 504.0 };
    let w = (bdp + f64::from(d.mark_packets)) / f64::from(d.flows);
    println!(
        "goodput {:.3} Gbps jain {:.4} queue {:.1} ({:.1}) {}-{} (warm max {}) marked {:.3} = {:.2} of law W*={w:.1}; dropped {} hash {:016x}; {:.2} s, {:.2} M data packets/s",
        o.total() * 8e-9, o.fairness(), o.queue.mean(), o.queue.standard_deviation(), o.queue.min(), o.queue.max(), warm.queue.max(), o.marked, o.marked / (2.0 / w).sqrt(), o.dropped, r.hash(), s, r.fabric().switches().next().unwrap().ports()[0].egress().sent_packets() as f64 / s / 1e6
    );
}
