//! The routing of an alert in words, for the preview of a change.

use std::collections::HashMap;

use ::alerts::Routing;
use ::alerts::routing::RouteDelivery;
use foundation::route_check::unknown_channels;
use foundation::{Actor, ServiceError};

use crate::approvals::Approvals;

impl Approvals {
    /// Describes the change from one routing to another: ", sent to Trading room, then Phone"; empty if there is none. The owner must see
    /// to whom an agent sends messages.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for a new route with a channel that the account does not have.
    pub(super) async fn routing_preview(
        &self,
        actor: &Actor,
        before: &Routing,
        after: &Routing,
    ) -> Result<String, ServiceError> {
        let mut text = String::new();
        if after.route != before.route {
            text.push_str(&match after.route.as_deref() {
                None => ", sent by the account's route".to_owned(),
                Some(route) => {
                    let channels = self.ports.store.notification_channels(actor.account).await?.into_iter();
                    let names: HashMap<_, _> = channels.map(|channel| (channel.id.0, channel.name)).collect();
                    let names = route.channels().iter().map(|id| names.get(id).map(String::as_str));
                    let names: Option<Vec<&str>> = names.collect();
                    let names = names.ok_or_else(unknown_channels)?;
                    match route.delivery {
                        RouteDelivery::All => format!(", sent to {}", names.join(" and ")),
                        RouteDelivery::Failover { ack_timeout: None } => format!(", sent to {}", names.join(", then ")),
                        RouteDelivery::Failover {
                            ack_timeout: Some(timeout),
                        } => {
                            let names = names.join(", then ");
                            format!(
                                ", sent to {names}, each after {} without an acknowledgement",
                                timeout.span()
                            )
                        }
                    }
                }
            });
        }
        match (before.is_urgent, after.is_urgent) {
            (false, true) => text.push_str(", also during quiet hours"),
            (true, false) => text.push_str(", not during quiet hours"),
            _ => {}
        }
        Ok(text)
    }
}
