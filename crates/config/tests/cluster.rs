//! Clusters: what resolves, and to what.

mod common;

use common::{cluster, cluster_text};
use hostnet_config::{cluster_template, Format};

#[test]
fn every_template_resolves_and_its_effective_form_gives_the_same_plan() {
    for name in ["hostcc", "dumbbell", "incast", "rdma"] {
        let text = cluster_template(name).unwrap();
        assert!(hostnet_config::is_cluster(text, Format::Toml), "{name}");
        let plan = cluster(text, &[]);
        let effective = plan.effective.to_string();
        let again = cluster_text(&effective, Format::Json, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(again.cluster, plan.cluster, "{name}");
        assert_eq!((again.hash, again.effective), (plan.hash, plan.effective), "{name}");
    }
}
