//! Text of flows, as it is hashed. There may be a million of them, and most differ from the one before in few numbers.

use super::{canonical, Hasher};
use hostnet_params::{FlowParams, RankChannelParams, Traffic};
use serde::Serialize;

/// Canonical JSON of the latest value of a key.
struct Latest<T> {
    value: Option<T>,
    text: String,
}

impl<T: Clone + PartialEq + Serialize> Latest<T> {
    fn new() -> Self {
        Self { value: None, text: String::new() }
    }

    fn text(&mut self, value: &T) -> serde_json::Result<&str> {
        if self.value.as_ref() != Some(value) {
            self.text = canonical(value)?;
            self.value = Some(value.clone());
        }
        Ok(&self.text)
    }
}

impl Hasher {
    /// Hashes flows as an array of objects with sorted keys.
    pub(super) fn flows(&mut self, flows: &[FlowParams]) -> serde_json::Result<()> {
        let (mut deaf, mut latest_moves, mut files, mut ways) =
            (Latest::new(), Latest::new(), Latest::new(), Latest::new());
        let (mut transports, mut kinds) = (Latest::new(), Latest::new());
        let mut before = "[";
        for flow in flows {
            // All fields are named, so that a new one is not forgotten.
            let FlowParams {
                class,
                from,
                to,
                from_core,
                to_core,
                transport,
                traffic,
                start_ps,
                deaf_ps,
                moves,
                sendfile,
                via,
                priority,
                mtu_bytes,
                compress,
            } = flow;
            self.text(before);
            before = ",";
            self.number("{\"class\":", *class);
            if let [true, _] | [_, true] = compress {
                self.keyed("compress", &canonical(compress)?);
            }
            self.keyed("deaf_ps", deaf.text(deaf_ps)?);
            self.number(",\"from\":", *from);
            self.number(",\"from_core\":", *from_core);
            self.keyed("moves", latest_moves.text(moves)?);
            self.number(",\"mtu_bytes\":", *mtu_bytes);
            self.number(",\"priority\":", *priority);
            self.keyed("sendfile", files.text(sendfile)?);
            self.number(",\"start_ps\":", *start_ps);
            self.number(",\"to\":", *to);
            self.number(",\"to_core\":", *to_core);
            match traffic {
                Traffic::Messages(channel) => self.channel(*channel),
                other => self.keyed("traffic", kinds.text(other)?),
            }
            self.keyed("transport", transports.text(transport)?);
            self.keyed("via", ways.text(via)?);
            self.text("}");
            self.flush();
        }
        self.text(if flows.is_empty() { "[]" } else { "]" });
        Ok(())
    }

    /// Adds a key and its value to an object.
    fn keyed(&mut self, key: &str, value: &str) {
        self.text(",\"");
        self.text(key);
        self.text("\":");
        self.text(value);
    }

    /// Adds the traffic of a channel, which differs in every flow.
    fn channel(&mut self, RankChannelParams { job, ranks: [from, to], lane }: RankChannelParams) {
        self.number(",\"traffic\":{\"Messages\":{\"job\":", job);
        self.number(",\"ranks\":[", from);
        self.number(",", to);
        self.text("]");
        // The first connection is the only one of most jobs, whose hashes must not change.
        if lane > 0 {
            self.number(",\"lane\":", lane);
        }
        self.text("}}");
    }
}
