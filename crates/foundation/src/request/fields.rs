//! Types of fields in request bodies.

use alerts::AlertId;
use alerts::request::is_plausible_email;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use market::{Decimal, Price, Symbol};
use notify::signature::SigningSecret;
use serde_json::Value;
use store::model::{FeedbackId, WatchlistItemId};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use uuid::Uuid;

use super::schema::{formatted, nullable, string};
use super::{Field, NamedSchema};
use crate::account::normalize_email;

/// The pattern of texts without control characters that are not blank.
const LINE_PATTERN: &str = r"^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*$";

/// Reads a text that the database can store.
///
/// # Errors
/// A message.
pub fn plain_text(value: &Value) -> Result<&str, String> {
    let text = value.as_str().filter(|text| !text.contains('\0'));
    text.ok_or_else(|| "must be a text without the character U+0000".to_owned())
}

impl<T: Field> Field for Option<T> {
    const IS_REQUIRED: bool = false;

    fn read(value: &Value) -> Result<Self, String> {
        T::read(value).map(Some)
    }

    fn absent() -> Result<Self, String> {
        Ok(None)
    }

    fn schema() -> RefOr<Schema> {
        nullable(T::schema())
    }

    fn components(schemas: &mut Vec<NamedSchema>) {
        T::components(schemas);
    }
}

/// A change of an optional value: `None` keeps it; `Some(None)`, from null, removes it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Patch<T>(pub Option<Option<T>>);

impl<T: Field> Field for Patch<T> {
    const IS_REQUIRED: bool = false;

    fn read(value: &Value) -> Result<Self, String> {
        T::read(value).map(|value| Self(Some(Some(value))))
    }

    fn absent() -> Result<Self, String> {
        Ok(Self(None))
    }

    fn null() -> Result<Self, String> {
        Ok(Self(Some(None)))
    }

    fn schema() -> RefOr<Schema> {
        nullable(T::schema())
    }

    fn components(schemas: &mut Vec<NamedSchema>) {
        T::components(schemas);
    }
}

impl Field for bool {
    fn read(value: &Value) -> Result<Self, String> {
        value.as_bool().ok_or_else(|| "must be true or false".to_owned())
    }

    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Boolean).into()
    }
}

/// A boolean that defaults to `true`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrTrue(pub bool);

impl Field for OrTrue {
    const IS_REQUIRED: bool = false;

    fn read(value: &Value) -> Result<Self, String> {
        bool::read(value).map(Self)
    }

    fn absent() -> Result<Self, String> {
        Ok(Self(true))
    }

    fn schema() -> RefOr<Schema> {
        let boolean = ObjectBuilder::new().schema_type(Type::Boolean);
        nullable(boolean.default(Some(true.into())).into())
    }
}

impl Field for Price {
    fn read(value: &Value) -> Result<Self, String> {
        let number = value.as_f64().and_then(|number| Decimal::from_f64(number).ok());
        let price = number.and_then(|number| Self::try_from(number).ok());
        price.ok_or_else(|| "must be a price above 0 and at most 1000000000, or null".to_owned())
    }

    fn schema() -> RefOr<Schema> {
        let number = ObjectBuilder::new().schema_type(Type::Number);
        let number = number.format(Some(SchemaFormat::KnownFormat(KnownFormat::Double)));
        number.minimum(Some(0.000_001)).maximum(Some(1_000_000_000)).into()
    }
}

impl Field for Symbol {
    fn read(value: &Value) -> Result<Self, String> {
        let symbol = plain_text(value)?.trim().parse();
        symbol.map_err(|_| "must be 1 to 10 of the characters A-Z, 0-9, dot and hyphen".to_owned())
    }

    fn schema() -> RefOr<Schema> {
        string().pattern(Some("^[A-Za-z0-9.-]{1,10}$")).into()
    }
}

impl Field for SigningSecret {
    fn read(value: &Value) -> Result<Self, String> {
        Self::from_user(plain_text(value)?).map_err(|error| error.to_string())
    }

    fn schema() -> RefOr<Schema> {
        string().min_length(Some(1)).max_length(Some(512)).into()
    }
}

impl Field for Timestamp {
    fn read(value: &Value) -> Result<Self, String> {
        let time = plain_text(value)?.parse();
        time.map_err(|_| "must be a time such as 2026-03-02T14:30:00Z".to_owned())
    }

    fn schema() -> RefOr<Schema> {
        formatted("date-time").into()
    }
}

macro_rules! ids {
    ($($id:ident: $what:literal;)*) => {$(
        impl Field for $id {
            fn read(value: &Value) -> Result<Self, String> {
                let id = Uuid::try_parse(plain_text(value)?);
                id.map(Self).map_err(|_| concat!("must be the id of ", $what, ", a UUID").to_owned())
            }

            fn schema() -> RefOr<Schema> {
                formatted("uuid").into()
            }
        }
    )*};
}

ids! {
    AlertId: "an alert";
    FeedbackId: "a feedback entry";
    WatchlistItemId: "a watchlist item";
}

/// Declares types of texts: each with its reader and its schema.
#[macro_export]
macro_rules! texts {
    ($($(#[doc = $doc:literal])* $type:ident$(<$(const $number:ident),*>)? = $read:expr, $schema:expr;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone)]
        pub struct $type$(<$(const $number: usize),*>)?(pub String);

        impl$(<$(const $number: usize),*>)? $crate::request::Field for $type$(<$($number),*>)? {
            fn read(value: &::serde_json::Value) -> Result<Self, String> {
                let read: fn(&str) -> Result<String, String> = $read;
                read($crate::request::plain_text(value)?).map(Self)
            }

            fn schema() -> $crate::request::RefOr<$crate::request::Schema> {
                $schema.into()
            }
        }
    )*};
}

texts! {
    /// Any text, such as the token of a link.
    PlainText = |text| Ok(text.to_owned()), string().min_length(Some(1));
    /// A text of `LEAST` to `MOST` characters, without surrounding white space.
    Text<const LEAST, const MOST> = |text| {
        let is_in_range = (LEAST..=MOST).contains(&text.trim().chars().count());
        is_in_range.then(|| text.trim().to_owned()).ok_or_else(|| format!("must have {LEAST} to {MOST} characters"))
    }, string().max_length(Some(MOST)).pattern(Some(r"^[^\x00]*$"));
    /// A text of 1 to `MOST` characters without control characters, such as line breaks, and surrounding white space.
    Line<const MOST> = |text| {
        let line = text.trim();
        let is_line = (1..=MOST).contains(&line.chars().count()) && !line.chars().any(char::is_control);
        is_line.then(|| line.to_owned()).ok_or_else(|| format!("must have 1 to {MOST} characters on one line"))
    }, string().min_length(Some(1)).max_length(Some(MOST)).pattern(Some(LINE_PATTERN));
    /// An email address, normalized.
    Email = |text| match normalize_email(text) {
        email if email.is_empty() => Err("is required".to_owned()),
        email if is_plausible_email(&email) => Ok(email),
        _ => Err("must be an email address such as ann@example.com".to_owned()),
    }, formatted("email").max_length(Some(254));
    /// The IANA name of a time zone.
    TimeZoneName = |text| {
        let zone = TimeZone::get(text).ok();
        let name = zone.as_ref().and_then(TimeZone::iana_name).map(str::to_owned);
        name.ok_or_else(|| "must be the IANA name of a time zone, such as Europe/Berlin".to_owned())
    }, string();
}
