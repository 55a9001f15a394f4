//! Query and path parameters. All invalid parameters are reported together (decisions 1.4).
//!
//! If a parameter is repeated, the last value counts. Unknown parameters are ignored.

mod dates;
mod ids;
mod list;
mod page;
mod symbols;
mod tags;

use std::collections::HashMap;
use std::convert::Infallible;

use axum::extract::FromRequestParts;
use foundation::ErrorsByField;
use http::Uri;
use http::request::Parts;
use market::{Decimal, Price, Symbol};

use crate::error::ApiError;
use crate::state::App;

pub(crate) use ids::uuid;
pub use ids::{
    AlertPath, ApiKeyPath, DeliveryPath, FiringPath, GrantPath, JobPath, NotificationChannelPath, SymbolPath,
    WatchlistItemPath, WebhookPath,
};
pub use list::{ListItemId, ListParams};

/// Reads query parameters and collects their errors.
#[derive(Debug, Default)]
pub struct Query {
    values: HashMap<String, String>,
    errors: ErrorsByField,
}

impl FromRequestParts<App> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, Infallible> {
        Ok(Self::from_uri(&parts.uri))
    }
}

impl Query {
    fn from_uri(uri: &Uri) -> Self {
        let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri);
        Self {
            values: pairs.map(|pairs| pairs.0.into_iter().collect()).unwrap_or_default(),
            errors: ErrorsByField::new(),
        }
    }

    /// Creates a reader for parameters from another source than a URL.
    pub(crate) fn from_pairs(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            values: pairs.into_iter().collect(),
            errors: ErrorsByField::new(),
        }
    }

    /// Drops parameters without a value: a form sends the fields that are left empty.
    #[must_use]
    pub(crate) fn without_empty(mut self) -> Self {
        self.values.retain(|_, value| !value.is_empty());
        self
    }

    /// Returns whether a parameter was sent.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns the raw text of a parameter.
    fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    pub(crate) fn reject(&mut self, name: &str, message: impl Into<String>) {
        self.errors.entry(name.to_owned()).or_default().push(message.into());
    }

    /// Reads `limit`. A value above `max` is clamped.
    pub fn limit(&mut self, default: u32, max: u32) -> u32 {
        self.count("limit").unwrap_or(default).min(max)
    }

    /// Reads a whole number of at least 1. Values above the maximum of `u32` are clamped.
    fn count(&mut self, name: &str) -> Option<u32> {
        let text = self.value(name)?;
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.trim_start_matches('0') {
            digits if is_number && !digits.is_empty() => Some(digits.parse().unwrap_or(u32::MAX)),
            _ => {
                self.reject(name, "must be a whole number of at least 1");
                None
            }
        }
    }

    /// Reads one of a list of named values.
    pub fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.value(name)?;
        let found = choices
            .iter()
            .find(|(choice, _)| *choice == text)
            .map(|(_, meaning)| *meaning);
        if found.is_none() {
            let allowed: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
            self.reject(name, format!("must be one of {}", allowed.join(", ")));
        }
        found
    }

    /// Reads a boolean; `false` if the parameter is missing.
    pub fn flag(&mut self, name: &str) -> bool {
        match self.value(name) {
            None => false,
            Some(text) if text.eq_ignore_ascii_case("true") || text == "1" => true,
            Some(text) if text.eq_ignore_ascii_case("false") || text == "0" => false,
            Some(_) => {
                self.reject(name, "must be true or false");
                false
            }
        }
    }

    /// Reads a text of at most `max_chars` characters. An empty text counts as missing.
    pub fn text(&mut self, name: &str, max_chars: usize) -> Option<String> {
        let text = self.value(name)?.trim().to_owned();
        if text.contains('\0') {
            self.reject(name, "must not contain the character U+0000; leave it out");
            return None;
        }
        if text.chars().count() > max_chars {
            self.reject(name, format!("must have at most {max_chars} characters"));
            return None;
        }
        (!text.is_empty()).then_some(text)
    }

    /// Reads a stock symbol.
    pub fn symbol(&mut self, name: &str) -> Option<Symbol> {
        let text = self.value(name)?;
        let symbol = text.trim().parse().ok();
        if symbol.is_none() {
            self.reject(name, SYMBOL_ERROR);
        }
        symbol
    }

    /// Reads a price. An empty text counts as missing.
    pub fn price(&mut self, name: &str) -> Option<Price> {
        let text = self.value(name).filter(|text| !text.trim().is_empty())?;
        let price = text.trim().parse().ok();
        if price.is_none() {
            self.reject(name, "must be a price above 0 and at most 1000000000, such as 160.50");
        }
        price
    }

    /// Reads a percentage from 0 to 100.
    pub fn percent(&mut self, name: &str) -> Option<Decimal> {
        let text = self.value(name)?;
        let hundred = Decimal::from_units(100);
        let percent = text.trim().parse().ok();
        let percent = percent.filter(|&percent| percent >= Decimal::ZERO && Some(percent) <= hundred);
        if percent.is_none() {
            self.reject(name, "must be a percentage from 0 to 100, such as 1.5");
        }
        percent
    }

    /// Reads a comma-separated list of at most `max` elements, each parsed by `read`. An empty list counts as missing.
    pub fn list<T>(
        &mut self,
        name: &str,
        max: usize,
        message: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<Vec<T>> {
        let text = self.value(name).filter(|text| !text.trim().is_empty())?;
        let items: Vec<&str> = text.split(',').map(str::trim).collect();
        if items.len() > max {
            self.reject(name, format!("must have at most {max} elements"));
            return None;
        }
        let read: Option<Vec<T>> = items.into_iter().map(read).collect();
        if read.is_none() {
            self.reject(name, message);
        }
        read
    }

    /// Records that a required parameter is missing, unless it already has an error.
    pub fn missing(&mut self, name: &str, message: &str) {
        if !self.errors.contains_key(name) {
            self.reject(name, message);
        }
    }

    /// Finishes reading.
    ///
    /// # Errors
    /// 422 with all collected errors.
    pub fn finish(self) -> Result<(), ApiError> {
        if self.errors.is_empty() {
            Ok(())
        } else {
            Err(ApiError::fields(&self.errors))
        }
    }
}

/// Error message for an invalid symbol.
pub(crate) const SYMBOL_ERROR: &str = "must be 1 to 10 of the characters A-Z, 0-9, dot and hyphen";

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query::from_uri(&format!("/?{text}").parse().unwrap())
    }

    fn invalid_parameters(read: impl FnOnce(&mut Query), text: &str) -> Vec<String> {
        let mut reader = query(text);
        read(&mut reader);
        reader.errors.into_keys().collect()
    }

    #[test]
    fn last_value_of_a_repeated_parameter_counts() {
        let mut reader = query("search=one&search=two&unknown=x");
        assert_eq!(reader.text("search", 100).as_deref(), Some("two"));
        assert!(reader.finish().is_ok());
    }

    #[test]
    fn unknown_choice_is_refused_with_the_allowed_values() {
        let mut reader = query("sort_direction=sideways");
        assert_eq!(reader.choice("sort_direction", &[("asc", true), ("desc", false)]), None);
        let error = reader.finish().unwrap_err();
        assert!(format!("{error:?}").contains("asc, desc"), "{error:?}");
    }

    #[test]
    fn text_is_decoded_and_limited_in_length() {
        let mut reader = query("search=%41pple%20%26+Co");
        assert_eq!(reader.text("search", 100).as_deref(), Some("Apple & Co"));
        assert_eq!(
            invalid_parameters(|reader| _ = reader.text("search", 100), "search=a%00b"),
            ["search"]
        );
        assert_eq!(
            invalid_parameters(|reader| _ = reader.text("search", 3), "search=%C3%A4%C3%B6%C3%BC%C3%9F"),
            ["search"]
        );
        assert!(invalid_parameters(|reader| _ = reader.text("search", 3), "search=%C3%A4%C3%B6%C3%BC").is_empty());
        assert_eq!(query("search=").text("search", 3), None);
    }

    #[test]
    fn flag_accepts_common_spellings() {
        for (query, flag) in [
            ("", false),
            ("minimal=true", true),
            ("minimal=True", true),
            ("minimal=0", false),
        ] {
            assert_eq!(self::query(query).flag("minimal"), flag, "{query}");
        }
        assert_eq!(
            invalid_parameters(|reader| _ = reader.flag("minimal"), "minimal=maybe"),
            ["minimal"]
        );
    }

    #[test]
    fn price_must_be_a_positive_number() {
        for (text, price) in [("160.50", Some("160.5")), ("1e2", Some("100")), ("", None)] {
            let mut reader = query(&format!("target_price={text}"));
            let read = reader.price("target_price").map(|price| price.to_string());
            assert_eq!(read.as_deref(), price, "{text}");
            assert!(reader.finish().is_ok());
        }
        for text in ["0", "-1", "1e10", "NaN", "inf", "ten", "0x10", "1,5"] {
            let read = |reader: &mut Query| _ = reader.price("target_price");
            assert_eq!(
                invalid_parameters(read, &format!("target_price={text}")),
                ["target_price"],
                "{text}"
            );
        }
    }
}
