//! Networks by name and size: numbers of switches and cables, distances, and errors.

use crate::common::{assert_tells, cluster, cluster_text, told};
use hostnet_config::{Format, Plan};
use hostnet_params::{CableEnd, ClusterParams};

/// Returns the plan of a network with `hosts` endpoints.
fn network(hosts: usize, network: &str) -> Plan {
    let plan = cluster(&text(hosts, network), &[]);
    let effective = plan.effective.to_string();
    let again = cluster_text(&effective, Format::Json, &[]).unwrap_or_else(|error| panic!("{error}: {effective}"));
    assert_eq!((&again.cluster, &again.effective), (&plan.cluster, &plan.effective));
    plan
}

fn text(hosts: usize, network: &str) -> String {
    format!("[host.e]\nkind = \"endpoint\"\ncount = {hosts}\n[network]\n{network}\n")
}

/// Returns the neighbours of each switch and host: switches by their numbers, then hosts.
fn neighbours(cluster: &ClusterParams) -> Vec<Vec<usize>> {
    let node = |end: CableEnd| match end {
        CableEnd::Switch(switch) => usize::from(switch),
        CableEnd::Host(host) => cluster.switches.len() + usize::from(host),
    };
    let mut all = vec![Vec::new(); cluster.switches.len() + cluster.hosts.len()];
    for cable in &cluster.cables {
        let [one, other] = cable.ends.map(node);
        all[one].push(other);
        all[other].push(one);
    }
    all
}

/// Returns the maximum number of cables on a shortest path between two hosts.
fn diameter(cluster: &ClusterParams) -> usize {
    let neighbours = neighbours(cluster);
    let farthest = |from: usize| {
        let mut distances = vec![usize::MAX; neighbours.len()];
        distances[from] = 0;
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(&node) = reached.get(next) {
            next += 1;
            for &peer in &neighbours[node] {
                if distances[peer] == usize::MAX {
                    distances[peer] = distances[node] + 1;
                    reached.push(peer);
                }
            }
        }
        distances.into_iter().skip(cluster.switches.len()).max().expect("there are hosts")
    };
    (cluster.switches.len()..neighbours.len()).map(farthest).max().expect("there are hosts")
}

/// Returns the number of switches, the number of cables, and the diameter.
fn sizes(plan: &Plan) -> (usize, usize, usize) {
    (plan.cluster.switches.len(), plan.cluster.cables.len(), diameter(&plan.cluster))
}

#[test]
fn a_tree_has_its_switches_and_cables() {
    for (leaves, hosts) in [(2, 1), (8, 8), (5, 3)] {
        let plan = network(leaves * hosts, &format!("topology = \"two-tier\"\nleaves = {leaves}"));
        assert_eq!(sizes(&plan), (leaves + 1, leaves * hosts + leaves, 4));
        for spines in [1, 3] {
            let text = format!("topology = \"leaf-spine\"\nleaves = {leaves}\nspines = {spines}");
            let plan = network(leaves * hosts, &text);
            assert_eq!(sizes(&plan), (leaves + spines, leaves * hosts + leaves * spines, 4));
        }
    }
}

#[test]
fn a_fat_tree_has_room_for_the_cube_of_its_ports() {
    for k in [4, 6, 8, 10] {
        let hosts = k * k * k / 4;
        let plan = network(hosts, "topology = \"fat-tree\"");
        assert_eq!(sizes(&plan), (5 * k * k / 4, 3 * hosts, 6), "k = {k}");
        let ports = neighbours(&plan.cluster);
        assert!(ports[..plan.cluster.switches.len()].iter().all(|ports| ports.len() == k));
        let next = network(hosts + 1, "topology = \"fat-tree\"");
        assert_eq!(next.effective["network"]["k"], k + 2, "one host more takes larger switches");
    }
    assert_eq!(sizes(&network(2, "topology = \"fat-tree\"\nk = 2")), (5, 6, 6));
}

#[test]
fn grids_are_as_far_across_as_their_sizes_say() {
    for n in [2, 3, 8, 9] {
        let cables = if n > 2 { n } else { 1 };
        assert_eq!(sizes(&network(2 * n, &format!("topology = \"ring\"\nsize = {n}"))), (n, 2 * n + cables, 2 + n / 2));
    }
    for (x, y) in [(2, 3), (4, 4), (1, 5)] {
        let plan = network(x * y, &format!("topology = \"mesh\"\nsize = [{x}, {y}]"));
        assert_eq!(sizes(&plan), (x * y, x * y + (x - 1) * y + x * (y - 1), 2 + x - 1 + y - 1));
    }
    for (x, y, z) in [(3, 4, 1), (4, 4, 4), (3, 5, 3)] {
        let shape = if z > 1 { format!("[{x}, {y}, {z}]") } else { format!("[{x}, {y}]") };
        let plan = network(x * y * z, &format!("topology = \"torus\"\nsize = {shape}"));
        let dimensions = if z > 1 { 3 } else { 2 };
        assert_eq!(sizes(&plan), (x * y * z, x * y * z * (1 + dimensions), 2 + x / 2 + y / 2 + z / 2));
    }
    let plan = network(8, "topology = \"torus\"\nsize = [2, 2, 2]");
    let names = &plan.cluster.switches;
    assert_eq!([&names[1].name, &names[6].name], ["switch-0-0-1", "switch-1-1-0"]);
}

#[test]
fn a_dragonfly_joins_every_two_groups_alike() {
    for (a, p, h) in [(2, 1, 1), (4, 2, 2), (3, 2, 1)] {
        let groups = a * h + 1;
        let hosts = groups * a * p;
        let plan = network(hosts, &format!("topology = \"dragonfly\"\na = {a}\np = {p}\nh = {h}"));
        let cables = hosts + groups * a * (a - 1) / 2 + groups * (groups - 1) / 2;
        assert_eq!(sizes(&plan), (groups * a, cables, 5), "{a} {p} {h}");
        let ports = neighbours(&plan.cluster);
        assert!(ports[..groups * a].iter().all(|ports| ports.len() == a - 1 + p + h));
    }
    let balanced = network(72, "topology = \"dragonfly\"");
    let size = |key: &str| balanced.effective["network"][key].as_u64();
    assert_eq!([size("a"), size("p"), size("h"), size("groups")], [4, 2, 2, 9].map(Some));
    let few = network(24, "topology = \"dragonfly\"\na = 4\np = 2\nh = 2\ngroups = 3");
    assert_eq!(sizes(&few).1, 24 + 3 * 6 + 3 * 4, "four cables between each two of three groups");
}

#[test]
fn hosts_follow_their_switches_and_servers_stand_where_they_are_put() {
    let text =
        "[host.e]\nkind = \"endpoint\"\ncount = 6\n[host.s]\npreset = \"cascade-lake-hostcc\"\nat = \"leaf-1\"\n\
                [host.t]\nkind = \"endpoint\"\ncount = 2\nat = [\"leaf-0\", \"leaf-2\"]\n\
                [network]\ntopology = \"leaf-spine\"\nleaves = 3\nspines = 2\n";
    let plan = cluster(text, &[]);
    let leaf = |host: u16| match plan.cluster.cables[usize::from(host)].ends {
        [CableEnd::Host(at), CableEnd::Switch(leaf)] if at == host => leaf,
        other => panic!("{other:?}"),
    };
    assert_eq!((0..9).map(leaf).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2, 1, 0, 2]);
    let says = |change: &str, wanted: &[&str]| refused(text, &[change], wanted);
    says("host.s.at=leaf-9", &["[does-not-exist host.s.at]", "\"leaf-9\"", "\"leaf-0\""]);
    says("host.s.at=spine-1", &["[does-not-exist host.s.at]", "\"spine-1\"", "\"leaf-0\""]);
    says("host.t.at=leaf-0", &[]);
    says("host.e.at=leaf-0", &["[too-few-slots host.e.at] \"leaf-0\""]);
    says("host.e.at=[\"leaf-0\", \"leaf-1\"]", &["[wrong-count host.e.at]"]);
    says("network.topology=star", &["[no-effect network.topology]", "topology = \"two", "\", \""]);
}

/// Checks the error of a change; without `wanted`, that the change is valid.
fn refused(text: &str, changes: &[&str], wanted: &[&str]) {
    let error = match (cluster_text(text, Format::Toml, changes), wanted) {
        (Ok(_), []) => return,
        (Ok(_), _) => panic!("{changes:?} resolves"),
        (Err(error), _) => told(&error),
    };
    assert!(!wanted.is_empty(), "{error}");
    assert_tells(&error, wanted);
}

#[test]
fn sizes_that_cannot_be_are_refused() {
    let says = |hosts: usize, shape: &str, wanted: &[&str]| refused(&text(hosts, shape), &[], wanted);
    says(8, "topology = \"fat-tree\"\nk = 5", &["[not-a-multiple network.k] test.toml:6: "]);
    says(17, "topology = \"fat-tree\"\nk = 4", &["[too-few-slots network.k]", "17", "16"]);
    says(8, "topology = \"fat-tre\"", &["[unknown-name network.topology] \"fat-tree\""]);
    says(8, "topology = \"leaf-spine\"", &["[missing-key network.leaves]"]);
    says(9, "topology = \"two-tier\"\nleaves = 2\nhosts_per_switch = 4", &["[too-few-slots network.hosts_per_switch]"]);
    says(8, "topology = \"mesh\"", &["[missing-key network.size]"]);
    says(8, "topology = \"mesh\"\nsize = [2, 2, 2]", &["[wrong-count network.size]"]);
    says(8, "topology = \"ring\"\nsize = [2, 2]", &["[wrong-count network.size]"]);
    says(8, "topology = \"torus\"\nsize = [4096, 4096, 4096]", &["[too-many network.size] 16384"]);
    says(8, "topology = \"ring\"\nsize = 0", &["[out-of-range network.size]"]);
    says(8, "topology = \"dragonfly\"\na = 2\nh = 1\ngroups = 4", &["[too-few-slots network.groups]"]);
    says(8, "topology = \"ring\"\nsize = 4\nk = 4", &["[no-effect network.k] topology = \"fat"]);
    says(2, "topology = \"star\"\ncore.rate = \"1 Gbps\"", &["[no-effect network.core]"]);
    let spines = "topology = \"leaf-spine\"\nleaves = 2\nspines = 2";
    says(8, &format!("{spines}\n[switch.leave]\nbuffer = \"1 MB\""), &["[does-not-exist switch.leave]"]);
    says(8, &format!("{spines}\n[switch.leaf-7]\nalpha = 1"), &["[does-not-exist switch.leaf-7] \"leaf-0\""]);
    says(8, &format!("{spines}\n[cable.leaf-0_leaf-1]\nrate = \"1 Gbps\""), &["[does-not-exist cable.leaf-0_leaf-1]"]);
    says(8, &format!("{spines}\n[host.leaf-1]\nkind = \"endpoint\""), &["[duplicate network.topology]"]);
    let rates = "oversubscription = 2\ncore.rate = \"1 Gbps\"";
    says(8, &format!("{spines}\n{rates}"), &["[conflicting-keys network.oversubscription]"]);
}

#[test]
fn oversubscription_gives_rates_or_spines() {
    let rates = |plan: &Plan| plan.cluster.cables.last().map(|cable| cable.bytes_per_s);
    let tree = network(32, "topology = \"two-tier\"\nleaves = 4\nrate = \"10 Gbps\"\noversubscription = 4");
    assert_eq!(rates(&tree), Some(8 * 1_250_000_000 / 4));
    let fixed =
        network(32, "topology = \"leaf-spine\"\nleaves = 4\nspines = 2\nrate = \"10 Gbps\"\noversubscription = 2");
    assert_eq!(rates(&fixed), Some(8 * 1_250_000_000 / 2 / 2));
    let counted = |over: u32| {
        let core = "core = { rate = \"40 Gbps\", latency = \"3 us\" }";
        let shape =
            format!("topology = \"leaf-spine\"\nleaves = 4\nrate = \"10 Gbps\"\noversubscription = {over}\n{core}");
        network(64, &shape)
    };
    assert_eq!(counted(1).cluster.switches.len(), 4 + 4);
    assert_eq!(counted(2).cluster.switches.len(), 4 + 2);
    let plan = counted(2);
    let last = plan.cluster.cables.last().expect("there are cables");
    assert_eq!((last.bytes_per_s, last.latency_ps), (5_000_000_000, 3_000_000));
}

#[test]
fn switches_and_cables_are_changed_one_by_one_or_together() {
    let text = text(8, "topology = \"leaf-spine\"\nleaves = 2\nspines = 2");
    let more = "[switch.leaf]\nbuffer = \"1 MB\"\n[switch.leaf-1]\nlatency = \"1 us\"\n\
                [cable.spine-1_leaf-0]\ndown = [[\"1 ms\", \"2 ms\"]]\n[cable.e]\nrate = \"25 Gbps\"\n";
    let cluster = cluster(&format!("{text}{more}"), &["network.switch.latency=2 us"]).cluster;
    let switches: Vec<_> = cluster.switches.iter().map(|switch| (switch.buffer_bytes, switch.latency_ps)).collect();
    assert_eq!(
        switches,
        [(1_000_000, 2_000_000), (1_000_000, 1_000_000), (16_000_000, 2_000_000), (16_000_000, 2_000_000)]
    );
    let down: Vec<_> =
        cluster.cables.iter().filter(|cable| !cable.down_ps.is_empty()).map(|cable| cable.ends).collect();
    assert_eq!(down, [[CableEnd::Switch(0), CableEnd::Switch(3)]]);
    assert!(cluster.cables[..8].iter().all(|cable| cable.bytes_per_s == 3_125_000_000));
    assert!(cluster.cables[8..].iter().all(|cable| cable.bytes_per_s == 12_500_000_000));
}
