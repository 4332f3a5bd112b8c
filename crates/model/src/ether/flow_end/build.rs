//! Creates the ends of flows.

use super::super::message_end::MessageFlowEnd;
use super::super::port_queues::PRIORITIES;
use super::super::stream::{RdmaFlowEnd, TcpFlowEnd, TransportTimer};
use super::{FlowEnd, FlowEndKind};
use crate::flow::Datagrams;
use crate::params::{FlowParams, Traffic, Transport};
use hostnet_kernel::Time;

impl FlowEnd {
    /// Creates the end of flow number `flow`: at the sender if `initiator`, else at the receiver. The end sends by
    /// `port` of its host, whose bandwidth is `port_bytes_per_s`.
    #[must_use]
    pub fn new(flow: u32, params: &FlowParams, initiator: bool, port: u16, port_bytes_per_s: u64) -> Self {
        let kind = match (&params.transport, &params.traffic) {
            (Transport::Tcp(tcp), _) => FlowEndKind::TcpFlowEnd(TcpFlowEnd::new(tcp, params, initiator)),
            (Transport::Roce(roce), _) => {
                FlowEndKind::RdmaFlowEnd(Box::new(RdmaFlowEnd::new(roce, params, initiator, port_bytes_per_s)))
            }
            (Transport::Udp(_), traffic) => FlowEndKind::Datagrams(Box::new(Datagrams::new(
                traffic,
                initiator,
                Time::from_ps(params.start_ps.max(1)),
            ))),
            (Transport::Raw, Traffic::Replay { packets }) if initiator => {
                FlowEndKind::Replay(packets.iter().rev().copied().collect())
            }
            (Transport::Raw, _) => FlowEndKind::Sink,
        };
        Self {
            service: match &params.traffic {
                Traffic::Service(service) if !initiator => Some((service.number, service.workers)),
                _ => None,
            },
            wake_set: initiator.then(|| Time::from_ps(params.start_ps.max(1))),
            ..Self::of_kind(flow, params, (initiator, port), kind)
        }
    }

    /// Creates an end that nothing wakes and no service is at.
    fn of_kind(flow: u32, params: &FlowParams, (initiator, port): (bool, u16), kind: FlowEndKind) -> Self {
        let (host, peer) = if initiator { (params.from, params.to) } else { (params.to, params.from) };
        Self {
            flow,
            host,
            peer,
            port,
            priority: params.priority % PRIORITIES as u8,
            blocked: false,
            start_ps: params.start_ps,
            service: None,
            kind,
            timer: TransportTimer::default(),
            wake_at: None,
            wake_set: None,
            sent_packets: 0,
            sent_bytes: 0,
            received_packets: 0,
            received_bytes: 0,
        }
    }

    /// Creates the end of flow number `flow` whose messages a network carries whole. Up to `buffer_bytes` bytes may be
    /// written and not acknowledged.
    pub(in super::super) fn of_messages(
        flow: u32,
        params: &FlowParams,
        (initiator, port): (bool, u16),
        buffer_bytes: u64,
    ) -> Self {
        let kind = FlowEndKind::Messages(Box::new(MessageFlowEnd::new(flow, params, initiator, buffer_bytes)));
        Self::of_kind(flow, params, (initiator, port), kind)
    }
}
