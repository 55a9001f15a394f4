//! Phone numbers that may receive text messages.
//!
//! Fraudsters earn money with messages to their own numbers and request codes there (toll fraud, "SMS pumping"). So
//! premium-rate numbers are rejected everywhere, and so are countries that the operator has not allowed.

use std::fmt;
use std::str::FromStr;

/// A country calling code of ITU-T E.164, without the plus sign: 1 to 3 digits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallingCode(String);

/// Error for a text that is not a country calling code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a country calling code has 1 to 3 digits and does not start with 0, such as 1 or 44")]
pub struct CallingCodeError;

impl FromStr for CallingCode {
    type Err = CallingCodeError;

    fn from_str(text: &str) -> Result<Self, CallingCodeError> {
        let digits = text.strip_prefix('+').unwrap_or(text);
        let is_code = (1..=3).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && !digits.starts_with('0');
        is_code.then(|| Self(digits.to_owned())).ok_or(CallingCodeError)
    }
}

impl fmt::Display for CallingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// North America, the European Economic Area, Switzerland, the United Kingdom, Australia, New Zealand, Japan, South Korea,
/// Singapore.
const DEFAULT_ALLOWED_COUNTRIES: &[&str] = &[
    "1", "30", "31", "32", "33", "34", "351", "352", "353", "354", "356", "357", "358", "359", "36", "370", "371",
    "372", "385", "386", "39", "40", "41", "420", "421", "423", "43", "44", "45", "46", "47", "48", "49", "61", "64",
    "65", "81", "82",
];

/// Returns the country calling codes that are allowed by default.
#[must_use]
pub fn default_allowed_countries() -> Vec<CallingCode> {
    DEFAULT_ALLOWED_COUNTRIES
        .iter()
        .map(|code| CallingCode((*code).to_owned()))
        .collect()
}

/// Prefixes of expensive numbers: premium rate, shared cost, personal numbering, satellite and international networks.
/// Each starts with its country calling code.
///
/// Source: the numbering plans that the countries file with the ITU (<https://www.itu.int/oth/T0202.aspx>).
const PREMIUM_RANGES: &[&str] = &[
    // International: shared cost, satellite (Inmarsat, Global Mobile Satellite), personal and network numbers, premium rate.
    "808", "870", "878", "881", "882", "883", "979", //
    // North America.
    "1900", "1976", //
    // Greece, the Netherlands, Belgium, France, Spain.
    "3090", "31900", "31906", "31909", "3270", "3290", "3281", "3389", "3381", "3382", "34803", "34806", "34807",
    "34905", "34907", //
    // Portugal, Finland, Bulgaria, Hungary.
    "351601", "351607", "351646", "351648", "351760", "351761", "351762", "358600", "358700", "35990", "3690",
    "3691", //
    // Croatia, Slovenia, Italy, Romania.
    "38560", "38564", "38569", "38690", "39166", "3989", "4090", //
    // Switzerland, Czechia, Slovakia, Austria.
    "41900", "41901", "41906", "420900", "420906", "420909", "421900", "43810", "43820", "43900", "43901", "43930",
    "43931", //
    // United Kingdom: premium rate, personal numbering, service numbers.
    "449", "4470", "4484", "4487", //
    // Denmark, Sweden, Norway, Poland, Germany.
    "4590", "46900", "46939", "46944", "4782", "4870", "49137", "49180", "49190", "49700", "49900", //
    // Mexico, Brazil, Australia, New Zealand.
    "52900", "55900", "6119", "64900", //
    // Russia, Japan, South Korea, Turkey, Israel.
    "7803", "7809", "81570", "81990", "8260", "90900", "9721900", "9721919",
];

/// North American exchange whose lines are premium rate in every area: +1 NPA 976 XXXX.
const PREMIUM_EXCHANGE: &str = "976";

/// Returns an error message if a number is not allowed. An empty list allows every country.
pub fn violation(number: &str, allowed: &[CallingCode]) -> Option<String> {
    let Some(digits) = number.strip_prefix('+').filter(|digits| is_e164(digits)) else {
        return Some("must be a phone number in E.164 format, such as +14155550123".to_owned());
    };
    if is_premium(digits) {
        return Some(
            "must be an ordinary number; premium-rate, shared-cost and satellite numbers are not supported".to_owned(),
        );
    }
    let is_allowed = allowed.is_empty() || allowed.iter().any(|code| digits.starts_with(&code.0));
    (!is_allowed).then(|| {
        "is in a country that does not receive text messages from this service; the operator can allow it (sms.allowed_countries)"
            .to_owned()
    })
}

/// Returns whether digits form an E.164 number. No number that receives text messages has fewer than 8 digits,
/// including the country code.
fn is_e164(digits: &str) -> bool {
    (8..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0')
}

fn is_premium(digits: &str) -> bool {
    let has_premium_exchange = digits.starts_with('1') && digits.get(4..7) == Some(PREMIUM_EXCHANGE);
    has_premium_exchange || PREMIUM_RANGES.iter().any(|range| digits.starts_with(range))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(texts: &[&str]) -> Vec<CallingCode> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn number_is_plus_and_8_to_15_digits() {
        for text in ["+14155550123", "+12345678", "+123456789012345"] {
            assert_eq!(violation(text, &[]), None, "{text}");
        }
        for text in [
            "",
            "+",
            "14155550123",
            "+0123456789",
            "+1234567",
            "+1234567890123456",
            "+1 415 555 0123",
            "+1415555012x",
            "++14155550123",
            "+١٢٣٤٥٦٧٨",
        ] {
            assert!(
                violation(text, &[]).is_some_and(|fault| fault.contains("E.164")),
                "{text}"
            );
        }
    }

    #[test]
    fn premium_rate_numbers_are_rejected_in_every_country() {
        for number in [
            "+19005550123",
            "+19765550123",
            "+14159765550",
            "+979123456789",
            "+881612345678",
            "+449098790000",
            "+447012345678",
            "+33899123456",
            "+499001234567",
        ] {
            for allowed in [default_allowed_countries(), Vec::new()] {
                let fault = violation(number, &allowed);
                assert!(fault.is_some_and(|fault| fault.contains("premium-rate")), "{number}");
            }
        }
        for number in [
            "+19015550123",
            "+14159755550",
            "+447400123456",
            "+33612345678",
            "+491701234567",
            "+421905123456",
            "+393401234567",
        ] {
            assert_eq!(violation(number, &default_allowed_countries()), None, "{number}");
        }
    }

    #[test]
    fn only_allowed_countries_are_accepted() {
        let allowed = codes(&["41", "+372"]);
        assert_eq!(violation("+41791234567", &allowed), None);
        assert_eq!(violation("+37251234567", &allowed), None);
        for number in ["+14155550123", "+37061234567", "+4915112345678"] {
            assert!(
                violation(number, &allowed).is_some_and(|fault| fault.contains("sms.allowed_countries")),
                "{number}"
            );
        }
        assert_eq!(
            violation("+959123456789", &[]),
            None,
            "without a list every country is allowed"
        );
        assert!(violation("+959123456789", &default_allowed_countries()).is_some());
    }

    #[test]
    fn calling_code_has_1_to_3_digits() {
        for text in ["1", "44", "+351"] {
            assert!(text.parse::<CallingCode>().is_ok(), "{text}");
        }
        for text in ["", "+", "0", "044", "1868", "4x", "٤٤"] {
            assert_eq!(text.parse::<CallingCode>(), Err(CallingCodeError), "{text}");
        }
    }

    #[test]
    fn default_countries_and_premium_ranges_are_well_formed() {
        assert_eq!(default_allowed_countries(), codes(DEFAULT_ALLOWED_COUNTRIES));
        assert!(
            PREMIUM_RANGES
                .iter()
                .all(|range| range.bytes().all(|byte| byte.is_ascii_digit()))
        );
    }
}
