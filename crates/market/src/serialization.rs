//! The serialised forms of the exact values: symbols are strings, numbers are integers of millionths.
//!
//! [`Batch`](crate::records::Batch) documents the whole form. Reading validates as the constructors do.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Decimal, Price, SplitRatio, Symbol};

impl Serialize for Symbol {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Symbol {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(SymbolVisitor)
    }
}

struct SymbolVisitor;

impl Visitor<'_> for SymbolVisitor {
    type Value = Symbol;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a ticker such as \"AAPL\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Symbol, E> {
        text.parse().map_err(E::custom)
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.micros())
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i64::deserialize(deserializer).map(Self::from_micros)
    }
}

impl Serialize for Price {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.micros())
    }
}

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let price = Decimal::deserialize(deserializer)?;
        Self::try_from(price).map_err(|error| D::Error::custom(format_args!("price {price} {error}")))
    }
}

impl Serialize for SplitRatio {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.micros())
    }
}

impl<'de> Deserialize<'de> for SplitRatio {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ratio = Decimal::deserialize(deserializer)?;
        Self::try_from(ratio).map_err(|error| D::Error::custom(format_args!("split ratio {ratio} {error}")))
    }
}
