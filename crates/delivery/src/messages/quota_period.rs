//! Period of quotas.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use foundation::ServiceError;

/// Period of quotas: a calendar month in UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuotaPeriod {
    /// First instant of the month.
    pub start: Timestamp,
    /// First instant after the month.
    pub end: Timestamp,
}

impl QuotaPeriod {
    /// Returns the month of an instant.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] for an instant at the end of the supported time range.
    pub fn of(now: Timestamp) -> Result<Self, ServiceError> {
        let day = now.to_zoned(TimeZone::UTC).date();
        let next = day.last_of_month().tomorrow().map_err(ServiceError::internal)?;
        let begin = |day: jiff::civil::Date| day.to_zoned(TimeZone::UTC).map(|at| at.timestamp());
        Ok(Self {
            start: begin(day.first_of_month()).map_err(ServiceError::internal)?,
            end: begin(next).map_err(ServiceError::internal)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quota_period_is_a_utc_calendar_month() {
        for (now, start, end) in [
            ("2024-02-29T23:59:59Z", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"),
            ("2024-12-01T00:00:00Z", "2024-12-01T00:00:00Z", "2025-01-01T00:00:00Z"),
        ] {
            let period = QuotaPeriod::of(now.parse().unwrap()).unwrap();
            assert_eq!(period.start, start.parse().unwrap());
            assert_eq!(period.end, end.parse().unwrap());
        }
    }
}
