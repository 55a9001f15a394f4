//! The form for a route, in the settings and in the builder: its channels in their order, the policy, and the time for an acknowledgement.

use alerts::routing::{ChannelRoute, RoutePolicy};

/// A channel that a route can have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RouteChoice {
    /// The id of the channel.
    pub id: String,
    /// The name of the channel.
    pub name: String,
    /// Whether the route has it.
    pub is_selected: bool,
    /// Its position in the route, from 1, as it is stored or was entered.
    pub position: String,
}

/// The form for a route.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RouteForm {
    /// The channels of the account, oldest first.
    pub choices: Vec<RouteChoice>,
    /// The policy.
    pub policy: RoutePolicy,
    /// The time for an acknowledgement, such as `15m`.
    pub ack_timeout: String,
    /// Whether a route is stored.
    pub is_stored: bool,
}

impl RouteForm {
    /// Returns the form of a stored route. `channels` are the ids and names of the channels.
    #[must_use]
    pub fn of(channels: &[(String, String)], route: Option<&ChannelRoute>) -> Self {
        let position_of = |id: &str| {
            let mut ids = route.map_or(&[][..], ChannelRoute::channels).iter();
            ids.position(|of_route| of_route.to_string() == id)
        };
        let choices = channels.iter().map(|(id, name)| {
            let position = position_of(id);
            RouteChoice {
                id: id.clone(),
                name: name.clone(),
                is_selected: position.is_some(),
                position: position.map_or_else(String::new, |position| (position + 1).to_string()),
            }
        });
        let timeout = route.and_then(|route| route.delivery.ack_timeout());
        Self {
            choices: choices.collect(),
            policy: route.map_or(RoutePolicy::default(), |route| route.delivery.policy()),
            ack_timeout: timeout.map_or_else(String::new, |timeout| timeout.span().to_string()),
            is_stored: route.is_some(),
        }
    }

    /// Returns the ids of the selected channels in the order of their positions. Those without a position are the last.
    #[must_use]
    pub fn selected(&self) -> Vec<String> {
        let mut selected: Vec<_> = self.choices.iter().filter(|choice| choice.is_selected).collect();
        selected.sort_by_key(|choice| choice.position.trim().parse().unwrap_or(u32::MAX));
        selected.into_iter().map(|choice| choice.id.clone()).collect()
    }

    pub(crate) fn is_failover(&self) -> bool {
        self.policy == RoutePolicy::Failover
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn form_has_the_positions_of_a_route_and_returns_them_as_an_order() {
        let ids = ["a", "b", "c"].map(|end| format!("0b0ab3a5-6c47-4a5b-8d1f-1f2d6b6f0a0{end}"));
        let channels = ids.clone().map(|id| (id.clone(), id));
        let body = json!({"channels": [ids[2], ids[0]], "policy": "failover", "ack_timeout": "15m"});
        let route = alerts::routing::parse_route(&body).unwrap();
        let mut form = RouteForm::of(&channels, route.as_ref());
        let positions: Vec<_> = form.choices.iter().map(|choice| choice.position.as_str()).collect();
        assert_eq!(positions, ["2", "", "1"]);
        assert_eq!(form.selected(), [ids[2].clone(), ids[0].clone()]);
        assert!(form.is_failover() && form.ack_timeout == "15m");
        form.choices[1].is_selected = true;
        assert_eq!(form.selected(), [ids[2].clone(), ids[0].clone(), ids[1].clone()]);
        assert_eq!(RouteForm::of(&channels, None).selected(), [""; 0]);
    }
}
