//! The part of the builder about notification: the alert's own route, and whether it is urgent.

use crate::form_state::FormState;
use crate::screens::RouteForm;

/// The inputs of the part, as members of the body are named.
pub const ROUTE_INPUTS: [&str; 4] = ["channels", "policy", "ack_timeout", "urgent"];

/// The route of an alert and its urgency.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NotificationPart {
    /// The route.
    pub route: RouteForm,
    /// Whether messages are sent during quiet hours, too.
    pub is_urgent: bool,
    /// The errors of the inputs.
    pub state: FormState,
}

impl NotificationPart {
    /// Returns whether the part has something to show.
    pub(super) fn is_open(&self) -> bool {
        let has_channel = self.route.choices.iter().any(|choice| choice.is_selected);
        has_channel || self.is_urgent || !self.state.errors.is_empty()
    }
}
