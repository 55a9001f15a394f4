//! The separators of numbers.

/// The separators of numbers in a group of languages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Separators {
    thousands: &'static str,
    decimals: &'static str,
}

/// `1,234.50`: also the default.
pub(super) const ENGLISH: Separators = Separators {
    thousands: ",",
    decimals: ".",
};

/// The names of locales with their separators. `1.234,50`, `1 234,50` with narrow spaces that do not break, and `1’234.50`.
const LOCALES: [(&[&str], Separators); 4] = [
    (&["en"], ENGLISH),
    (
        &["de", "es", "it", "nl", "pt"],
        Separators {
            thousands: ".",
            decimals: ",",
        },
    ),
    (
        &["fr", "cs", "pl", "sv"],
        Separators {
            thousands: "\u{202f}",
            decimals: ",",
        },
    ),
    (
        &["de-CH"],
        Separators {
            thousands: "’",
            decimals: ".",
        },
    ),
];

impl Separators {
    /// Returns the separators of a locale, such as `de`.
    ///
    /// # Errors
    /// A sentence that names the locales.
    pub(super) fn of(name: &str) -> Result<Self, String> {
        let found = LOCALES.iter().find(|(names, _)| names.contains(&name));
        found.map(|(_, separators)| *separators).ok_or_else(|| {
            let names: Vec<&str> = LOCALES.iter().flat_map(|(names, _)| *names).copied().collect();
            format!("there is no locale `{name}`; use {}", names.join(", "))
        })
    }

    /// Formats a number in digits with a point: `-1234.50` becomes `-1.234,50`.
    pub(super) fn format(self, digits: &str) -> String {
        let (sign, digits) = match digits.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", digits),
        };
        let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "00"));
        let mut formatted = sign.to_owned();
        for (index, digit) in whole.chars().enumerate() {
            if index > 0 && (whole.len() - index) % 3 == 0 {
                formatted.push_str(self.thousands);
            }
            formatted.push(digit);
        }
        formatted + self.decimals + decimals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated_by_locale() {
        for (locale, digits, expected) in [
            ("en", "0.00", "0.00"),
            ("en", "999.99", "999.99"),
            ("en", "1000.00", "1,000.00"),
            ("en", "-1234567.89", "-1,234,567.89"),
            ("en", "-123.40", "-123.40"),
            ("de", "1234567.89", "1.234.567,89"),
            ("fr", "1234.50", "1\u{202f}234,50"),
            ("de-CH", "1234.50", "1’234.50"),
        ] {
            assert_eq!(Separators::of(locale).unwrap().format(digits), expected, "{locale}");
        }
    }

    #[test]
    fn unknown_locale_names_the_known_ones() {
        let error = Separators::of("xx").unwrap_err();
        assert_eq!(
            error,
            "there is no locale `xx`; use en, de, es, it, nl, pt, fr, cs, pl, sv, de-CH"
        );
    }
}
