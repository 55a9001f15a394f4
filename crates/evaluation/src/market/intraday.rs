//! The intraday bars that are stored.

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
    let kept_from = intraday_kept_from(now);
    let reason = |time: Timestamp| {
        let session = calendar.session(new_york_date(time));
        let session = session.filter(|session| session.open <= time && time < session.close);
        match session {
            None => Some("time is outside of the sessions; omit the bar"),
            Some(session) if now < session.close => {
                Some("its session has not ended; send its prices as quotes, and the bar after the session")
            }
            Some(_) if time < kept_from => Some("time is more than 30 days ago; omit the bar"),
            Some(_) => None,
        }
    };
    let mut indexes = 0..;
    rows.retain(|row| {
        let (index, reason) = (indexes.next(), reason(row.bar.time));
        rejected.extend(index.zip(reason).map(|(index, reason)| RowRejection {
            kind: INTRADAY_BARS,
            index,
            reason: reason.to_owned(),
        }));
        reason.is_none()
    });
}
