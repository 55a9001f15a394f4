//! Serialisation of the market's types in a stored state: a symbol as its text, a price in millionths.

/// A [`market::Symbol`] as its text.
pub(crate) mod symbol {
    use market::Symbol;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(symbol: &Symbol, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(symbol.as_str())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Symbol, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A [`market::Price`] in millionths of a dollar.
pub(crate) mod price {
    use market::Price;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(price: &Price, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(price.micros())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Price, D::Error> {
        Price::from_micros(i64::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
