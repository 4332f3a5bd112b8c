//! Services at an endpoint: requests that arrive at its ends, and those that have been served.

use super::endpoint::Endpoint;
use crate::part::{NetContext, Payload};
use hostnet_kernel::Time;

impl Endpoint {
    /// Handles the event of a service: one or more requests have been served.
    pub(super) fn on_served(&mut self, service: u32, context: &mut NetContext) {
        let now = context.now();
        // Several workers may end at the same time; one event serves them all.
        while let Some((end, number)) = self.services.as_mut().and_then(|services| services.served(service, now)) {
            self.ends[end as usize].update_application(now, |application| application.serve(number));
            self.advance(end, context);
        }
        let to_set = self.services.as_mut().and_then(|services| services.event(service));
        self.arm_service(to_set, context);
    }

    /// Passes requests that have arrived at an end to their workers.
    pub(super) fn take_requests(&mut self, end: u32, context: &mut NetContext) {
        let Some(services) = &mut self.services else { return };
        let to_set = services.admit(end, &mut self.ends[end as usize], context.now());
        self.arm_service(to_set, context);
    }

    fn arm_service(&self, to_set: Option<(u32, Time)>, context: &mut NetContext) {
        if let Some((service, time)) = to_set {
            let delay_ps = time.ps().saturating_sub(context.now().ps()).max(1);
            context.send(context.id, delay_ps, Payload::Begin { connection: self.ends.len() as u32 + service });
        }
    }
}
