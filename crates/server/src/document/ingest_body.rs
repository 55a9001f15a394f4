//! The body that pushes market data.
//!
//! Each element is judged by itself, and one that will not do is answered under `rejected`. So the schema allows
//! anything in the arrays, and says beside it what will do.

use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// Market data: any of the arrays.
#[derive(Debug, ToSchema)]
pub struct IngestBody {}

/// What a member of an element holds.
#[derive(Clone, Copy)]
enum Is {
    Symbol,
    Text,
    Flag,
    Date,
    Instant,
    Number,
    Whole,
    Word(&'static [&'static str]),
}

struct Kind {
    name: &'static str,
    schema: &'static str,
    description: &'static str,
    required: &'static [(&'static str, Is)],
    optional: &'static [(&'static str, Is)],
}

const KINDS: &[Kind] = &[
    Kind {
        name: "stocks",
        schema: "PushedStock",
        description: "A stock for the catalog",
        required: &[("symbol", Is::Symbol), ("name", Is::Text)],
        optional: &[
            ("type", Is::Text),
            ("sector", Is::Text),
            ("industry", Is::Text),
            ("country", Is::Text),
            ("exchange", Is::Text),
            ("isin", Is::Text),
            ("is_active", Is::Flag),
        ],
    },
    Kind {
        name: "quotes",
        schema: "PushedQuote",
        description: "An observation of a price; `volume` is the session's so far, `time` is now if it is left out",
        required: &[("symbol", Is::Symbol), ("price", Is::Number)],
        optional: &[
            ("volume", Is::Whole),
            ("time", Is::Instant),
            ("bid", Is::Number),
            ("ask", Is::Number),
        ],
    },
    Kind {
        name: "bars",
        schema: "PushedBar",
        description: "A completed session",
        required: &[
            ("symbol", Is::Symbol),
            ("date", Is::Date),
            ("open", Is::Number),
            ("high", Is::Number),
            ("low", Is::Number),
            ("close", Is::Number),
            ("volume", Is::Whole),
        ],
        optional: &[],
    },
    Kind {
        name: "fundamentals",
        schema: "PushedFundamentals",
        description: "Figures of a company, known from `as_of` on, which is today if it is left out",
        required: &[("symbol", Is::Symbol)],
        optional: &[
            ("as_of", Is::Date),
            ("eps_ttm", Is::Number),
            ("eps_forward", Is::Number),
            ("market_cap", Is::Number),
            ("dividend_yield", Is::Number),
            ("dividend_amount", Is::Number),
            ("beta", Is::Number),
        ],
    },
    Kind {
        name: "earnings",
        schema: "PushedEarnings",
        description: "An earnings date",
        required: &[("symbol", Is::Symbol), ("date", Is::Date)],
        optional: &[
            ("time", Is::Word(&["before_open", "after_close", "unknown"])),
            ("eps_estimate", Is::Number),
        ],
    },
    Kind {
        name: "dividends",
        schema: "PushedDividend",
        description: "A dividend",
        required: &[("symbol", Is::Symbol), ("ex_date", Is::Date)],
        optional: &[("payment_date", Is::Date), ("amount", Is::Number)],
    },
    Kind {
        name: "splits",
        schema: "PushedSplit",
        description: "A split: `ratio` new shares for an old one, from `date` on",
        required: &[("symbol", Is::Symbol), ("date", Is::Date), ("ratio", Is::Number)],
        optional: &[],
    },
    Kind {
        name: "insider_transactions",
        schema: "PushedInsiderTransaction",
        description: "An insider's trade; `code` is that of the SEC's Form 4",
        required: &[
            ("symbol", Is::Symbol),
            ("filed_on", Is::Date),
            ("insider", Is::Text),
            ("code", Is::Text),
            ("side", Is::Word(&["buy", "sell"])),
            ("shares", Is::Number),
            ("price", Is::Number),
        ],
        optional: &[("traded_on", Is::Date)],
    },
    Kind {
        name: "mentions",
        schema: "PushedMentions",
        description: "How often a stock was mentioned in the hour that begins at `time`",
        required: &[("symbol", Is::Symbol), ("time", Is::Instant), ("mentions", Is::Whole)],
        optional: &[],
    },
];

impl Is {
    fn schema(self) -> Value {
        match self {
            Self::Symbol => json!({"type": "string", "pattern": "^[A-Za-z0-9.-]{1,10}$"}),
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

impl Kind {
    fn schema(&self) -> Value {
        let members = |members: &[(&str, Is)]| -> Map<String, Value> {
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

/// Describes the body.
pub(super) fn describe(schemas: &mut Value) {
    let mut properties = Map::new();
    for kind in KINDS {
        schemas[kind.schema] = kind.schema();
        let element = json!({"anyOf": [
            {"$ref": format!("#/components/schemas/{}", kind.schema)},
            {"description": "Anything else is answered under `rejected`, with the reason"},
        ]});
        let array = json!({"type": ["array", "null"], "description": kind.description, "items": element});
        properties.insert(kind.name.to_owned(), array);
    }
    let quotes = KINDS.iter().find(|kind| kind.name == "quotes").map(Kind::example);
    schemas["IngestBody"] = json!({
        "type": "object",
        "description": "Any of the arrays. Numbers may also come as texts.",
        "properties": properties,
        "examples": [{"quotes": [quotes]}],
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_that_is_taken_is_described_with_a_schema_of_its_own() {
        let mut schemas = json!({});
        describe(&mut schemas);
        let described = schemas["IngestBody"]["properties"].as_object().unwrap();
        let taken = [
            "stocks",
            "quotes",
            "bars",
            "fundamentals",
            "earnings",
            "dividends",
            "splits",
            "insider_transactions",
            "mentions",
        ];
        assert_eq!(described.keys().collect::<Vec<_>>(), taken);
        for (name, array) in described {
            let reference = array["items"]["anyOf"][0]["$ref"].as_str().unwrap();
            let schema = reference.rsplit('/').next().unwrap();
            assert!(schemas[schema]["properties"]["symbol"].is_object(), "{name}");
        }
    }
}
