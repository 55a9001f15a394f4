//! Queries and paths: read with all their faults at once (decisions 1.4).
//!
//! Of a parameter that comes more than once the last counts; parameters that are not known are ignored.

mod dates;
mod ids;
mod symbols;

use std::collections::HashMap;
use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::Uri;
use http::request::Parts;
use market::{Price, Symbol};
use service::{Fields, PageRequest};

use crate::app::App;
use crate::error::ApiError;

pub(crate) use ids::uuid;
pub use ids::{AlertPath, ApiKeyPath, DeliveryPath, GrantPath, SymbolPath, WatchlistItemPath, WebhookPath};

/// Reads the parameters of a query and gathers what is wrong with them.
#[derive(Debug, Default)]
pub struct Query {
    values: HashMap<String, String>,
    faults: Fields,
}

impl FromRequestParts<App> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.uri))
    }
}

impl Query {
    fn of(uri: &Uri) -> Self {
        let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri);
        Self {
            values: pairs.map(|pairs| pairs.0.into_iter().collect()).unwrap_or_default(),
            faults: Fields::new(),
        }
    }

    /// The same of parameters that did not come as a query.
    pub(crate) fn of_pairs(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            values: pairs.into_iter().collect(),
            faults: Fields::new(),
        }
    }

    /// The text of a parameter, if it is there.
    fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    fn fault(&mut self, name: &str, fault: impl Into<String>) {
        self.faults.entry(name.to_owned()).or_default().push(fault.into());
    }

    /// `page` and `limit`. A limit above `most` is cut to it.
    pub fn page(&mut self, default: u32, most: u32) -> PageRequest {
        let page = match self.count("page") {
            Some(u32::MAX) => {
                self.fault("page", "must be a whole number below 4294967295");
                1
            }
            page => page.unwrap_or(1),
        };
        let limit = self.limit(default, most);
        PageRequest { page, limit }
    }

    /// `limit`, cut to `most`.
    pub fn limit(&mut self, default: u32, most: u32) -> u32 {
        self.count("limit").unwrap_or(default).min(most)
    }

    /// A whole number from 1 on; one that is too large for words is the largest there is.
    fn count(&mut self, name: &str) -> Option<u32> {
        let text = self.value(name)?;
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.trim_start_matches('0') {
            digits if is_number && !digits.is_empty() => Some(digits.parse().unwrap_or(u32::MAX)),
            _ => {
                self.fault(name, "must be a whole number from 1 on");
                None
            }
        }
    }

    /// A word out of a list.
    pub fn word<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.value(name)?;
        let found = words
            .iter()
            .find(|(word, _)| *word == text)
            .map(|(_, meaning)| *meaning);
        if found.is_none() {
            let allowed: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.fault(name, format!("must be one of {}", allowed.join(", ")));
        }
        found
    }

    /// `true` or `false`; false if it is not there.
    pub fn flag(&mut self, name: &str) -> bool {
        match self.value(name) {
            None => false,
            Some(text) if text.eq_ignore_ascii_case("true") || text == "1" => true,
            Some(text) if text.eq_ignore_ascii_case("false") || text == "0" => false,
            Some(_) => {
                self.fault(name, "must be true or false");
                false
            }
        }
    }

    /// A text of at most `max_chars` characters; an empty one is as good as none.
    pub fn text(&mut self, name: &str, max_chars: usize) -> Option<String> {
        let text = self.value(name)?.trim().to_owned();
        if text.contains('\0') {
            self.fault(name, "must not contain the character U+0000; leave it out");
            return None;
        }
        if text.chars().count() > max_chars {
            self.fault(name, format!("must have at most {max_chars} characters"));
            return None;
        }
        (!text.is_empty()).then_some(text)
    }

    /// A symbol.
    pub fn symbol(&mut self, name: &str) -> Option<Symbol> {
        let text = self.value(name)?;
        let symbol = text.trim().parse().ok();
        if symbol.is_none() {
            self.fault(name, SYMBOL_FAULT);
        }
        symbol
    }

    /// A price; an empty text is as good as none.
    pub fn price(&mut self, name: &str) -> Option<Price> {
        let text = self.value(name).filter(|text| !text.trim().is_empty())?;
        let price = text.trim().parse().ok();
        if price.is_none() {
            self.fault(name, "must be a price above 0 and at most 1000000000, such as 160.50");
        }
        price
    }

    /// A list with commas between its words, of at most `most`, each read by `read`; an empty one is as good as none.
    pub fn list<T>(
        &mut self,
        name: &str,
        most: usize,
        fault: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<Vec<T>> {
        let text = self.value(name).filter(|text| !text.trim().is_empty())?;
        let words: Vec<&str> = text.split(',').map(str::trim).collect();
        if words.len() > most {
            self.fault(name, format!("must have at most {most} elements"));
            return None;
        }
        let read: Option<Vec<T>> = words.into_iter().map(read).collect();
        if read.is_none() {
            self.fault(name, fault);
        }
        read
    }

    /// Notes that a parameter is missing.
    pub fn missing(&mut self, name: &str, fault: &str) {
        if !self.faults.contains_key(name) {
            self.fault(name, fault);
        }
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// 422 with all faults.
    pub fn finish(self) -> Result<(), ApiError> {
        if self.faults.is_empty() {
            Ok(())
        } else {
            Err(ApiError::fields(&self.faults))
        }
    }
}

/// What a symbol has to be.
pub(crate) const SYMBOL_FAULT: &str = "must be 1 to 10 of the characters A-Z, 0-9, dot and hyphen";

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query::of(&format!("/?{text}").parse().unwrap())
    }

    fn faults(read: impl FnOnce(&mut Query), text: &str) -> Vec<String> {
        let mut reader = query(text);
        read(&mut reader);
        reader.faults.into_keys().collect()
    }

    #[test]
    fn a_limit_above_the_maximum_is_cut_and_one_below_one_is_refused() {
        for (query, expected) in [
            ("", Ok((1, 10))),
            ("page=3&limit=100", Ok((3, 100))),
            ("limit=101", Ok((1, 100))),
            ("limit=99999999999999999999999", Ok((1, 100))),
            ("page=4294967294", Ok((4_294_967_294, 10))),
            ("page=99999999999999999999999", Err("page")),
            ("limit=0", Err("limit")),
            ("limit=-1", Err("limit")),
            ("limit=ten", Err("limit")),
            ("limit=1.5", Err("limit")),
            ("limit=", Err("limit")),
            ("page=0", Err("page")),
            ("page=+1", Err("page")),
        ] {
            let mut reader = self::query(query);
            let page = reader.page(10, 100);
            let read = match reader.faults.keys().next() {
                None => Ok((page.page, page.limit)),
                Some(field) => Err(field.as_str()),
            };
            assert_eq!(read, expected, "{query}");
        }
    }

    #[test]
    fn of_a_parameter_that_comes_twice_the_last_counts() {
        let mut reader = query("search=one&search=two&unknown=x");
        assert_eq!(reader.text("search", 100).as_deref(), Some("two"));
        assert!(reader.finish().is_ok());
    }

    #[test]
    fn an_unknown_word_is_refused_with_those_that_are_known() {
        let mut reader = query("sort_direction=sideways");
        assert_eq!(reader.word("sort_direction", &[("asc", true), ("desc", false)]), None);
        let error = reader.finish().unwrap_err();
        assert!(format!("{error:?}").contains("asc, desc"), "{error:?}");
    }

    #[test]
    fn texts_are_decoded_and_held_to_their_length() {
        let mut reader = query("search=%41pple%20%26+Co");
        assert_eq!(reader.text("search", 100).as_deref(), Some("Apple & Co"));
        assert_eq!(
            faults(|reader| _ = reader.text("search", 100), "search=a%00b"),
            ["search"]
        );
        assert_eq!(
            faults(|reader| _ = reader.text("search", 3), "search=%C3%A4%C3%B6%C3%BC%C3%9F"),
            ["search"]
        );
        assert!(faults(|reader| _ = reader.text("search", 3), "search=%C3%A4%C3%B6%C3%BC").is_empty());
        assert_eq!(query("search=").text("search", 3), None);
    }

    #[test]
    fn flags_are_taken_as_clients_write_them() {
        for (query, flag) in [
            ("", false),
            ("minimal=true", true),
            ("minimal=True", true),
            ("minimal=0", false),
        ] {
            assert_eq!(self::query(query).flag("minimal"), flag, "{query}");
        }
        assert_eq!(
            faults(|reader| _ = reader.flag("minimal"), "minimal=maybe"),
            ["minimal"]
        );
    }

    #[test]
    fn a_price_is_above_zero_and_a_number() {
        for (text, price) in [("160.50", Some("160.5")), ("1e2", Some("100")), ("", None)] {
            let mut reader = query(&format!("target_price={text}"));
            let read = reader.price("target_price").map(|price| price.to_string());
            assert_eq!(read.as_deref(), price, "{text}");
            assert!(reader.finish().is_ok());
        }
        for text in ["0", "-1", "1e10", "NaN", "inf", "ten", "0x10", "1,5"] {
            let read = |reader: &mut Query| _ = reader.price("target_price");
            assert_eq!(
                faults(read, &format!("target_price={text}")),
                ["target_price"],
                "{text}"
            );
        }
    }
}
