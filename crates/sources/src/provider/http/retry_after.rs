//! The `Retry-After` header: seconds or an HTTP date.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;

/// Returns the wait from `now`: zero for a past date, `None` for an invalid value.
pub(super) fn read(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(SystemTime::from(now)).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_seconds_and_dates() {
        let now = "2024-03-08T14:30:00Z".parse().unwrap();
        for (value, expected) in [
            ("7", Some(7)),
            (" 120 ", Some(120)),
            ("Fri, 08 Mar 2024 14:30:45 GMT", Some(45)),
            ("Fri, 08 Mar 2024 14:29:00 GMT", Some(0)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("-1", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(read(value, now), expected.map(Duration::from_secs), "{value}");
        }
    }
}
