//! Dates in queries.

use jiff::Timestamp;
use jiff::civil::Date;

use super::Query;

impl Query {
    /// A date such as 2026-03-02.
    pub fn date(&mut self, name: &str) -> Option<Date> {
        let text = self.value(name)?;
        let date = is_written(text, "####-##-##").then(|| text.parse().ok()).flatten();
        if date.is_none() {
            self.fault(name, "must be a date such as 2026-03-02");
        }
        date
    }

    /// An instant such as 2026-03-02T15:04:00Z.
    pub fn instant(&mut self, name: &str) -> Option<Timestamp> {
        let instant = self.value(name)?.trim().parse().ok();
        if instant.is_none() {
            self.fault(name, "must be an instant with its offset, such as 2026-03-02T15:04:00Z");
        }
        instant
    }

    /// The first day of a month such as 2026-03.
    pub fn month(&mut self, name: &str) -> Option<Date> {
        let text = self.value(name)?;
        let first = is_written(text, "####-##")
            .then(|| format!("{text}-01").parse().ok())
            .flatten();
        if first.is_none() {
            self.fault(name, "must be a month such as 2026-03");
        }
        first
    }
}

/// Whether a text is written as a pattern is, each `#` being a digit: more than that is a date to some readers.
fn is_written(text: &str, pattern: &str) -> bool {
    let fits = |(written, wanted): (u8, u8)| match wanted {
        b'#' => written.is_ascii_digit(),
        wanted => written == wanted,
    };
    text.len() == pattern.len() && text.bytes().zip(pattern.bytes()).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn read<T>(name: &str, text: &str, read: impl FnOnce(&mut Query) -> Option<T>) -> Result<Option<T>, ()> {
        let mut query = Query::of(&format!("/?{name}={text}").parse().unwrap());
        let value = read(&mut query);
        query.finish().map(|()| value).map_err(|_| ())
    }

    #[test]
    fn dates_are_days_that_there_are_in_one_form() {
        let day = |text: &str| read("from", text, |query| query.date("from"));
        assert_eq!(day("2024-02-29"), Ok(Some(date(2024, 2, 29))));
        for text in [
            "",
            "2023-02-29",
            "2024-2-29",
            "20240229",
            "2024-02-29T10:00",
            "+2024-02-29",
            "tomorrow",
            "0",
        ] {
            assert_eq!(day(text), Err(()), "{text}");
        }
        assert_eq!(read("to", "", |query| query.date("from")), Ok(None));
    }

    #[test]
    fn instants_have_an_offset() {
        let instant = |text: &str| read("since", text, |query| query.instant("since"));
        let at: Timestamp = "2024-02-29T15:04:00Z".parse().unwrap();
        for text in [
            "2024-02-29T15:04:00Z",
            "2024-02-29T10:04:00-05:00",
            "2024-02-29T15:04:00.000Z",
        ] {
            assert_eq!(instant(text), Ok(Some(at)), "{text}");
        }
        for text in ["", "2024-02-29", "2024-02-29T15:04:00", "yesterday", "1709219040"] {
            assert_eq!(instant(text), Err(()), "{text}");
        }
    }

    #[test]
    fn months_are_those_of_a_year() {
        let month = |text: &str| read("month", text, |query| query.month("month"));
        assert_eq!(month("2024-02"), Ok(Some(date(2024, 2, 1))));
        assert_eq!(month("2024-12"), Ok(Some(date(2024, 12, 1))));
        for text in ["", "2024-00", "2024-13", "2024-1", "202402", "2024-02-01", "02-2024"] {
            assert_eq!(month(text), Err(()), "{text}");
        }
    }
}
