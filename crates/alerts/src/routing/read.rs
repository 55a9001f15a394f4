//! Reads the routing of a request: the members `channels`, `policy`, `ack_timeout`, `urgent` and `templates`.

use std::sync::Arc;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    AckTimeout, ChannelRoute, MAX_ROUTE_CHANNELS, MessageTemplates, RouteDelivery, RoutePolicy, Routing, templates,
};
use crate::options::Span;
use crate::request::{FieldErrors, InvalidField, RequestError, kind_of};

/// The members of a route.
const ROUTE_MEMBERS: [&str; 3] = ["channels", "policy", "ack_timeout"];

/// A requested change of a routing: the new values of the members that were sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RoutingChange {
    /// The route; `None` if it is not changed.
    route: Option<Option<Box<ChannelRoute>>>,
    /// Whether the alert is urgent; `None` if it is not changed.
    is_urgent: Option<bool>,
    /// The templates; `None` if they are not changed.
    templates: Option<Option<Arc<MessageTemplates>>>,
}

impl RoutingChange {
    /// Returns whether the routing is not changed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.route.is_none() && self.is_urgent.is_none() && self.templates.is_none()
    }

    /// Returns the changed routing.
    #[must_use]
    pub fn apply(self, current: &Routing) -> Routing {
        Routing {
            route: self.route.unwrap_or_else(|| current.route.clone()),
            is_urgent: self.is_urgent.unwrap_or(current.is_urgent),
            templates: self.templates.unwrap_or_else(|| current.templates.clone()),
        }
    }
}

/// Returns whether a body has a member of a routing.
pub(crate) fn has_routing(body: &Map<String, Value>) -> bool {
    body.contains_key("urgent")
        || body.contains_key("templates")
        || ROUTE_MEMBERS.iter().any(|name| body.contains_key(*name))
}

/// Reads a change of a routing. Members of a route that are omitted keep their values, `channels` null or empty removes the route, and
/// null in another member resets it. So do the templates.
///
/// # Errors
/// The errors of each field. Whether the channels exist and the templates render is not checked.
pub fn read_routing(body: &Map<String, Value>, current: &Routing) -> Result<RoutingChange, FieldErrors> {
    let mut errors = FieldErrors::default();
    let is_urgent = match body.get("urgent") {
        None => Ok(None),
        Some(Value::Null) => Ok(Some(false)),
        Some(Value::Bool(is_urgent)) => Ok(Some(*is_urgent)),
        Some(other) => {
            let message = format!("must be true, false or null, not {}", kind_of(other));
            Err(errors.add("urgent", message))
        }
    };
    let route = match ROUTE_MEMBERS.iter().any(|name| body.contains_key(*name)) {
        true => route(body, current.route.as_deref(), &mut errors).map(Some),
        false => Ok(None),
    };
    let templates = body.get("templates").map(|value| {
        let read = templates::read(value, current.templates.as_deref(), &mut errors)?;
        Ok::<_, InvalidField>(read.map(Arc::new))
    });
    match (route, is_urgent, templates.transpose()) {
        (Ok(route), Ok(is_urgent), Ok(templates)) => Ok(RoutingChange {
            route: route.map(|route| route.map(Box::new)),
            is_urgent,
            templates,
        }),
        _ => Err(errors),
    }
}

/// Reads the body of a request with a whole route; `None` if `channels` is omitted, null or empty.
///
/// # Errors
/// [`RequestError`] with all errors of the body. Whether the channels exist is not checked.
pub fn parse_route(body: &Value) -> Result<Option<ChannelRoute>, RequestError> {
    read_route(crate::request::object(body)?).map_err(RequestError::Invalid)
}

/// Reads a whole route; `None` if `channels` is omitted, null or empty.
///
/// # Errors
/// The errors of each field. Whether the channels exist is not checked.
pub fn read_route(body: &Map<String, Value>) -> Result<Option<ChannelRoute>, FieldErrors> {
    let mut errors = FieldErrors::default();
    route(body, None, &mut errors).map_err(|InvalidField| errors)
}

fn route(
    body: &Map<String, Value>,
    current: Option<&ChannelRoute>,
    errors: &mut FieldErrors,
) -> Result<Option<ChannelRoute>, InvalidField> {
    let channels = channels(body, current, errors);
    let policy = policy(body, current, errors);
    let ack_timeout = ack_timeout(body, current, errors);
    let (channels, policy, ack_timeout) = (channels?, policy?, ack_timeout?);
    if channels.is_empty() {
        let needless = ["policy", "ack_timeout"];
        let needless = needless
            .iter()
            .filter(|name| body.get(**name).is_some_and(|value| !value.is_null()));
        let refused = needless.map(|name| errors.add(*name, "needs `channels`; name at least one channel"));
        return refused.last().map_or(Ok(None), Err);
    }
    let delivery = match policy {
        RoutePolicy::Failover => RouteDelivery::Failover { ack_timeout },
        // Omitted, it does not belong to the new policy.
        RoutePolicy::All if body.get("ack_timeout").is_none_or(Value::is_null) => RouteDelivery::All,
        RoutePolicy::All => return Err(errors.add("ack_timeout", "needs the policy `failover`")),
    };
    Ok(Some(ChannelRoute {
        channels: channels.into(),
        delivery,
    }))
}

fn channels(
    body: &Map<String, Value>,
    current: Option<&ChannelRoute>,
    errors: &mut FieldErrors,
) -> Result<Vec<Uuid>, InvalidField> {
    let ids = match body.get("channels") {
        None => return Ok(current.map_or_else(Vec::new, |route| route.channels.to_vec())),
        Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(values)) => values.iter().map(|value| Uuid::parse_str(value.as_str()?).ok()),
        Some(other) => {
            let message = format!(
                "must be an array of ids of notification channels or null, not {}",
                kind_of(other)
            );
            return Err(errors.add("channels", message));
        }
    };
    let Some(ids) = ids.collect::<Option<Vec<Uuid>>>() else {
        return Err(errors.add("channels", "must be ids of notification channels"));
    };
    if ids.len() > MAX_ROUTE_CHANNELS {
        let message = format!("must be at most {MAX_ROUTE_CHANNELS} channels");
        return Err(errors.add("channels", message));
    }
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(errors.add("channels", "must name each channel once"));
    }
    Ok(ids)
}

fn policy(
    body: &Map<String, Value>,
    current: Option<&ChannelRoute>,
    errors: &mut FieldErrors,
) -> Result<RoutePolicy, InvalidField> {
    match body.get("policy") {
        None => Ok(current.map_or_else(RoutePolicy::default, |route| route.delivery.policy())),
        Some(Value::Null) => Ok(RoutePolicy::default()),
        Some(value) => value
            .as_str()
            .and_then(RoutePolicy::from_name)
            .ok_or_else(|| errors.add("policy", "must be `all` or `failover`")),
    }
}

fn ack_timeout(
    body: &Map<String, Value>,
    current: Option<&ChannelRoute>,
    errors: &mut FieldErrors,
) -> Result<Option<AckTimeout>, InvalidField> {
    match body.get("ack_timeout") {
        None => Ok(current.and_then(|route| route.delivery.ack_timeout())),
        Some(Value::Null) => Ok(None),
        Some(value) => {
            let span = value.as_str().and_then(|text| text.parse::<Span>().ok());
            let timeout = span.and_then(AckTimeout::new);
            let message = "must be a length of time from 1m to 24h, such as 15m or 2h";
            timeout.map(Some).ok_or_else(|| errors.add("ack_timeout", message))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ONE: &str = "0b0ab3a5-6c47-4a5b-8d1f-1f2d6b6f0a01";
    const TWO: &str = "0b0ab3a5-6c47-4a5b-8d1f-1f2d6b6f0a02";

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    fn read(value: Value) -> Result<Routing, Vec<String>> {
        read_onto(&Routing::default(), value)
    }

    fn read_onto(current: &Routing, value: Value) -> Result<Routing, Vec<String>> {
        match read_routing(&object(value), current) {
            Ok(change) => Ok(change.apply(current)),
            Err(errors) => Err(errors.iter().map(|(field, _)| field.to_owned()).collect()),
        }
    }

    #[test]
    fn written_routing_is_read_as_the_same_routing() {
        for value in [
            json!({}),
            json!({"urgent": true}),
            json!({"channels": [ONE, TWO], "policy": "all"}),
            json!({"channels": [TWO, ONE], "policy": "failover"}),
            json!({"channels": [ONE], "policy": "failover", "ack_timeout": "24h", "urgent": true}),
        ] {
            let routing = read(value.clone()).unwrap();
            assert_eq!(Value::Object(routing.to_json()), value);
        }
    }

    #[test]
    fn omitted_members_keep_their_values_and_null_removes_them() {
        let current =
            read(json!({"channels": [ONE], "policy": "failover", "ack_timeout": "5m", "urgent": true})).unwrap();
        for (change, expected) in [
            (
                json!({}),
                json!({"channels": [ONE], "policy": "failover", "ack_timeout": "5m", "urgent": true}),
            ),
            (
                json!({"channels": [TWO]}),
                json!({"channels": [TWO], "policy": "failover", "ack_timeout": "5m", "urgent": true}),
            ),
            (
                json!({"policy": "all"}),
                json!({"channels": [ONE], "policy": "all", "urgent": true}),
            ),
            (
                json!({"policy": null, "urgent": null}),
                json!({"channels": [ONE], "policy": "all"}),
            ),
            (
                json!({"ack_timeout": null}),
                json!({"channels": [ONE], "policy": "failover", "urgent": true}),
            ),
            (json!({"channels": null}), json!({"urgent": true})),
            (json!({"channels": [], "urgent": false}), json!({})),
        ] {
            let changed = read_onto(&current, change.clone()).unwrap();
            assert_eq!(Value::Object(changed.to_json()), expected, "{change}");
        }
    }

    #[test]
    fn errors_name_the_member() {
        for (value, field) in [
            (json!({"channels": ONE}), "channels"),
            (json!({"channels": [1]}), "channels"),
            (json!({"channels": ["x"]}), "channels"),
            (json!({"channels": [ONE, ONE]}), "channels"),
            (json!({"channels": [ONE], "policy": "any"}), "policy"),
            (json!({"policy": "failover"}), "policy"),
            (json!({"ack_timeout": "5m"}), "ack_timeout"),
            (json!({"channels": [ONE], "ack_timeout": "5m"}), "ack_timeout"),
            (
                json!({"channels": [ONE], "policy": "failover", "ack_timeout": 5}),
                "ack_timeout",
            ),
            (json!({"urgent": 1}), "urgent"),
        ] {
            assert_eq!(read(value.clone()), Err(vec![field.to_owned()]), "{value}");
        }
    }

    #[test]
    fn acknowledgement_is_awaited_from_one_minute_to_a_day() {
        for (timeout, is_valid) in [
            ("0m", false),
            ("1m", true),
            ("1440m", true),
            ("1d", true),
            ("24h", true),
            ("25h", false),
            ("1441m", false),
        ] {
            let route = json!({"channels": [ONE], "policy": "failover", "ack_timeout": timeout});
            assert_eq!(read(route).is_ok(), is_valid, "{timeout}");
        }
    }

    #[test]
    fn route_has_at_most_50_channels() {
        let ids = |count: u128| {
            (1..=count)
                .map(|id| Uuid::from_u128(id).to_string())
                .collect::<Vec<_>>()
        };
        assert!(read(json!({"channels": ids(50)})).is_ok());
        assert!(read(json!({"channels": ids(51)})).is_err());
    }
}
