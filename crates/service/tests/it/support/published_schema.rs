//! The published schema of webhook events.

use std::sync::LazyLock;

use delivery::webhooks::EVENT;
use jsonschema::{Validator, draft202012};
use store::model::StoredEvent;

/// Panics if the body of the event's deliveries does not match `docs/schemas/events`.
pub(super) fn assert_matches_published_schema(event: &StoredEvent) {
    static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
        let schema = include_str!("../../../../../docs/schemas/events/alert.triggered.json");
        let options = draft202012::options().should_validate_formats(true);
        options.build(&serde_json::from_str(schema).unwrap()).unwrap()
    });
    let data = alerts::json::text(&event.data.clone().into());
    let body = notify::message::webhook_body(event.alert.0, EVENT, event.at, &data);
    let body = serde_json::from_slice(&body).unwrap();
    let errors: Vec<_> = SCHEMA.iter_errors(&body).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{body}: {errors:#?}");
}
