//! Which intraday bars are stored.

use ::market::calendar::new_york_date;
use ::market::records::IntradayRow;
use ::market::{Calendar, intraday_kept_from};
use jiff::Timestamp;
use sources::ingest::{INTRADAY_BARS, RowRejection};

use crate::replay::bar_calendar;

/// Rejects intraday bars that no preview can use: of a session that has not ended, of no session, and those that are too old.
pub(super) fn reject_unusable(
    rows: &mut Vec<IntradayRow>,
    calendar: &Calendar,
    now: Timestamp,
    rejected: &mut Vec<RowRejection>,
) {
    let calendar = bar_calendar(calendar);
    let reason = |time: Timestamp| {
        let session = calendar.session(new_york_date(time));
        let session = session.filter(|session| session.open <= time && time < session.close);
        match session {
            None => Some("time is outside of the sessions; omit the bar"),
            Some(session) if now < session.close => {
                Some("its session has not ended; send its prices as quotes, and the bar after the session")
            }
            Some(_) if time < intraday_kept_from(now) => Some("time is more than 30 days ago; omit the bar"),
            Some(_) => None,
        }
    };
    let reasons: Vec<_> = rows.iter().map(|row| reason(row.bar.time)).collect();
    rejected.extend(reasons.iter().enumerate().filter_map(|(index, reason)| {
        Some(RowRejection {
            kind: INTRADAY_BARS,
            index,
            reason: (*reason)?.to_owned(),
        })
    }));
    let mut reasons = reasons.into_iter();
    rows.retain(|_| reasons.next().flatten().is_none());
}
