//! Arbitrary JSON as a create request: the parser returns an alert or errors, and never panics.
#![no_main]

use alerts::request::{ParseContext, parse_create};
use libfuzzer_sys::fuzz_target;
use market::Calendar;

fuzz_target!(|bytes: &[u8]| {
    let Ok(body) = serde_json::from_slice(bytes) else {
        return;
    };
    let calendar = Calendar::nyse();
    let time_zone = market::calendar::new_york_time_zone();
    let now = jiff::Timestamp::from_second(1_720_000_000).unwrap();
    match parse_create(
        &body,
        &ParseContext {
            now,
            time_zone: &time_zone,
            calendar: &calendar,
        },
    ) {
        Ok(alert) => assert!(
            alert
                .condition
                .threshold()
                .is_none_or(|threshold| threshold.micros() >= 0)
        ),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
