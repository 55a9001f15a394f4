//! Date and time parameters.

use jiff::Timestamp;
use jiff::civil::Date;

use super::Query;

impl Query {
    /// Reads a date such as 2026-03-02.
    pub fn date(&mut self, name: &str) -> Option<Date> {
        let text = self.value(name)?;
        let date = matches_pattern(text, "####-##-##").then(|| text.parse().ok()).flatten();
        if date.is_none() {
            self.reject(name, "must be a date such as 2026-03-02");
        }
        date
    }

    /// Reads an instant such as 2026-03-02T15:04:00Z.
    pub fn instant(&mut self, name: &str) -> Option<Timestamp> {
        let instant = self.value(name)?.trim().parse().ok();
        if instant.is_none() {
            self.reject(name, "must be an instant with its offset, such as 2026-03-02T15:04:00Z");
        }
        instant
    }

    /// Reads a month such as 2026-03 and returns its first day.
    pub fn month(&mut self, name: &str) -> Option<Date> {
        let text = self.value(name)?;
        let first = matches_pattern(text, "####-##")
            .then(|| format!("{text}-01").parse().ok())
            .flatten();
        if first.is_none() {
            self.reject(name, "must be a month such as 2026-03");
        }
        first
    }
}

/// Returns whether a text matches a pattern in which `#` stands for a digit. The date parser alone would accept other formats.
fn matches_pattern(text: &str, pattern: &str) -> bool {
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
        let mut query = Query::from_uri(&format!("/?{name}={text}").parse().unwrap());
        let value = read(&mut query);
        query.finish().map(|()| value).map_err(|_| ())
    }

    #[test]
    fn date_must_exist_and_use_the_iso_format() {
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
    fn instant_requires_an_offset() {
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
    fn month_must_be_between_01_and_12() {
        let month = |text: &str| read("month", text, |query| query.month("month"));
        assert_eq!(month("2024-02"), Ok(Some(date(2024, 2, 1))));
        assert_eq!(month("2024-12"), Ok(Some(date(2024, 12, 1))));
        for text in ["", "2024-00", "2024-13", "2024-1", "202402", "2024-02-01", "02-2024"] {
            assert_eq!(month(text), Err(()), "{text}");
        }
    }
}
