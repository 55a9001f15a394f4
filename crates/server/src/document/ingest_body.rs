//! The request body for pushed market data.
//!
//! Each element is validated separately, and invalid ones are returned under `rejected`. So the schema allows anything in
//! the arrays, and describes the valid elements as one alternative.

use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::names::SYMBOL_PATTERN;

/// Market data, as any of the arrays.
#[derive(Debug, ToSchema)]
pub struct IngestBody {}

/// The type of an element's field.
#[derive(Clone, Copy)]
enum FieldType {
    Symbol,
    Text,
    Flag,
    Date,
    Instant,
    Number,
    Whole,
    Word(&'static [&'static str]),
}

struct IngestArray {
    name: &'static str,
    schema: &'static str,
    description: &'static str,
    required: &'static [(&'static str, FieldType)],
    optional: &'static [(&'static str, FieldType)],
}

const INGEST_ARRAYS: &[IngestArray] = &[
    IngestArray {
        name: "stocks",
        schema: "PushedStock",
        description: "A stock for the catalog",
        required: &[("symbol", FieldType::Symbol), ("name", FieldType::Text)],
        optional: &[
            ("type", FieldType::Text),
            ("sector", FieldType::Text),
            ("industry", FieldType::Text),
            ("country", FieldType::Text),
            ("exchange", FieldType::Text),
            ("isin", FieldType::Text),
            ("is_active", FieldType::Flag),
        ],
    },
    IngestArray {
        name: "quotes",
        schema: "PushedQuote",
        description: "A price observation. `volume` and `vwap` (the volume-weighted average price) are those of the session so far; `time` defaults to now",
        required: &[("symbol", FieldType::Symbol), ("price", FieldType::Number)],
        optional: &[
            ("volume", FieldType::Whole),
            ("time", FieldType::Instant),
            ("bid", FieldType::Number),
            ("ask", FieldType::Number),
            ("vwap", FieldType::Number),
        ],
    },
    IngestArray {
        name: "bars",
        schema: "PushedBar",
        description: "A completed session",
        required: &[
            ("symbol", FieldType::Symbol),
            ("date", FieldType::Date),
            ("open", FieldType::Number),
            ("high", FieldType::Number),
            ("low", FieldType::Number),
            ("close", FieldType::Number),
            ("volume", FieldType::Whole),
        ],
        optional: &[],
    },
    IngestArray {
        name: "intraday_bars",
        schema: "PushedIntradayBar",
        description: "A bar of a part of a session that has ended, for previews and explanations of past moments; no alert is \
                      judged by it. `time` is when it begins. Kept for 30 days",
        required: &[
            ("symbol", FieldType::Symbol),
            ("time", FieldType::Instant),
            ("open", FieldType::Number),
            ("high", FieldType::Number),
            ("low", FieldType::Number),
            ("close", FieldType::Number),
            ("volume", FieldType::Whole),
        ],
        optional: &[],
    },
    IngestArray {
        name: "fundamentals",
        schema: "PushedFundamentals",
        description: "Fundamentals of a company, known since `as_of`, which defaults to today",
        required: &[("symbol", FieldType::Symbol)],
        optional: &[
            ("as_of", FieldType::Date),
            ("eps_ttm", FieldType::Number),
            ("eps_forward", FieldType::Number),
            ("market_cap", FieldType::Number),
            ("dividend_yield", FieldType::Number),
            ("dividend_amount", FieldType::Number),
            ("beta", FieldType::Number),
        ],
    },
    IngestArray {
        name: "earnings",
        schema: "PushedEarnings",
        description: "An earnings date",
        required: &[("symbol", FieldType::Symbol), ("date", FieldType::Date)],
        optional: &[
            ("time", FieldType::Word(&["before_open", "after_close", "unknown"])),
            ("eps_estimate", FieldType::Number),
        ],
    },
    IngestArray {
        name: "dividends",
        schema: "PushedDividend",
        description: "A dividend",
        required: &[("symbol", FieldType::Symbol), ("ex_date", FieldType::Date)],
        optional: &[("payment_date", FieldType::Date), ("amount", FieldType::Number)],
    },
    IngestArray {
        name: "splits",
        schema: "PushedSplit",
        description: "A split: `ratio` new shares for each old share, effective on `date`",
        required: &[
            ("symbol", FieldType::Symbol),
            ("date", FieldType::Date),
            ("ratio", FieldType::Number),
        ],
        optional: &[],
    },
    IngestArray {
        name: "insider_transactions",
        schema: "PushedInsiderTransaction",
        description: "An insider trade; `code` is the transaction code of SEC Form 4",
        required: &[
            ("symbol", FieldType::Symbol),
            ("filed_on", FieldType::Date),
            ("insider", FieldType::Text),
            ("code", FieldType::Text),
            ("side", FieldType::Word(&["buy", "sell"])),
            ("shares", FieldType::Number),
            ("price", FieldType::Number),
        ],
        optional: &[("traded_on", FieldType::Date)],
    },
    IngestArray {
        name: "mentions",
        schema: "PushedMentions",
        description: "The number of mentions of a stock in the hour that starts at `time`",
        required: &[
            ("symbol", FieldType::Symbol),
            ("time", FieldType::Instant),
            ("mentions", FieldType::Whole),
        ],
        optional: &[],
    },
];

impl FieldType {
    fn schema(self) -> Value {
        match self {
            Self::Symbol => json!({"type": "string", "pattern": SYMBOL_PATTERN}),
            Self::Text => json!({"type": "string"}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Date => json!({"type": "string", "format": "date"}),
            Self::Instant => json!({"type": "string", "format": "date-time"}),
            Self::Number => json!({"type": "number"}),
            Self::Whole => json!({"type": "integer", "minimum": 0}),
            Self::Word(words) => json!({"type": "string", "enum": words}),
        }
    }

    fn example(self, name: &str) -> Value {
        match (self, name) {
            (Self::Symbol, _) => json!("AAPL"),
            (Self::Text, "code") => json!("P"),
            (Self::Text, "insider") => json!("Ann Example"),
            (Self::Text, _) => json!("Apple Inc."),
            (Self::Flag, _) => json!(true),
            (Self::Date, _) => json!("2026-03-02"),
            (Self::Instant, _) => json!("2026-03-02T15:00:00Z"),
            (Self::Number, "ratio") => json!(4),
            (Self::Number, _) => json!(189.2),
            (Self::Whole, _) => json!(1200),
            (Self::Word(words), _) => json!(words.first()),
        }
    }
}

impl IngestArray {
    fn schema(&self) -> Value {
        let members = |members: &[(&str, FieldType)]| -> Map<String, Value> {
            members
                .iter()
                .map(|(name, is)| ((*name).to_owned(), is.schema()))
                .collect()
        };
        let mut properties = members(self.required);
        properties.extend(members(self.optional).into_iter().map(|(name, mut schema)| {
            schema["type"] = json!([schema["type"], "null"]);
            if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
                words.push(Value::Null);
            }
            (name, schema)
        }));
        let required: Vec<&str> = self.required.iter().map(|(name, _)| *name).collect();
        json!({
            "type": "object",
            "description": self.description,
            "properties": properties,
            "required": required,
        })
    }

    fn example(&self) -> Value {
        let members = self
            .required
            .iter()
            .map(|(name, is)| ((*name).to_owned(), is.example(name)));
        Value::Object(members.collect())
    }
}

/// Adds the schemas of the body.
pub(super) fn describe(schemas: &mut Value) {
    let mut properties = Map::new();
    for kind in INGEST_ARRAYS {
        schemas[kind.schema] = kind.schema();
        let element = json!({"anyOf": [
            {"$ref": format!("#/components/schemas/{}", kind.schema)},
            {"description": "Any other element is returned under `rejected` with the reason"},
        ]});
        let array = json!({"type": ["array", "null"], "description": kind.description, "items": element});
        properties.insert(kind.name.to_owned(), array);
    }
    let quotes = INGEST_ARRAYS
        .iter()
        .find(|kind| kind.name == "quotes")
        .map(IngestArray::example);
    schemas["IngestBody"] = json!({
        "type": "object",
        "description": "Any of the arrays. Numbers may also be strings.",
        "properties": properties,
        "examples": [{"quotes": [quotes]}],
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_array_has_a_schema_for_its_elements() {
        let mut schemas = json!({});
        describe(&mut schemas);
        let described = schemas["IngestBody"]["properties"].as_object().unwrap();
        let accepted = [
            "stocks",
            "quotes",
            "bars",
            "intraday_bars",
            "fundamentals",
            "earnings",
            "dividends",
            "splits",
            "insider_transactions",
            "mentions",
        ];
        assert_eq!(described.keys().collect::<Vec<_>>(), accepted);
        for (name, array) in described {
            let reference = array["items"]["anyOf"][0]["$ref"].as_str().unwrap();
            let schema = reference.rsplit('/').next().unwrap();
            assert!(schemas[schema]["properties"]["symbol"].is_object(), "{name}");
        }
    }
}
