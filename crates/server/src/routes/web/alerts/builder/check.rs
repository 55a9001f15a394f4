//! The meaning of an alert that does not exist yet: its sentence, when it would have fired, and its chart.

use alerts::condition::Side;
use evaluation::stocks::CandleRange;
use foundation::ServiceError;
use market::{Price, Symbol};
use serde_json::{Map, Value, json};
use service::alerts::Preview;
use web::screens::PassedLevel;
use web::screens::builder::{ChartLevel, PassedRule, PreviewText, RuleChart, RuleCheck, RuleError, rule_chart};

use crate::routes::prelude::*;
use crate::routes::web::response::{error_text, is_failure};
use crate::routes::web::visitor::Visitor;

/// The meaning of an alert.
pub(in crate::routes::web) struct CheckedAlert {
    /// The rule that is read as the same alert; `None` if no rule means exactly the same.
    pub(in crate::routes::web) text: Option<String>,
    /// The sentence, the preview and the chart.
    pub(in crate::routes::web) check: RuleCheck,
}

/// Describes the body of a create request, and plays it over the stored bars. Of several stocks the first is played. The chart shows
/// the former levels, too.
pub(in crate::routes::web) async fn check_body(
    app: &App,
    visitor: &Visitor,
    body: &Map<String, Value>,
    former: &[Price],
) -> Result<CheckedAlert, ServiceError> {
    let alerts = &app.service().alerts;
    let described = alerts
        .describe_alert(&visitor.actor, &Value::Object(body.clone()))
        .await?;
    let mut check = RuleCheck {
        sentence: Some(described.sentence),
        ..RuleCheck::default()
    };
    if let Some(symbol) = played_symbol(body) {
        let mut played = body.clone();
        played.remove("scope");
        played.insert("symbol".to_owned(), json!(symbol.as_str()));
        let preview = alerts.preview_alert(&visitor.actor, &json!({"alert": played})).await;
        let preview = match preview {
            Ok(preview) => Some(preview),
            Err(error) if is_failure(&error) => return Err(error),
            Err(error) => {
                check.error = Some(RuleError::new("", error_text(error), None));
                None
            }
        };
        check.preview = preview.as_ref().map(PreviewText::of);
        let level = |is_former| move |&price: &Price| ChartLevel { price, is_former };
        let former = former.iter().map(level(true));
        let levels: Vec<_> = former.chain(described.levels.iter().map(level(false))).collect();
        check.chart = chart(app, symbol, &levels, preview.as_ref()).await?;
        check.passed = passed_rule(app, visitor, body).await;
    }
    Ok(CheckedAlert {
        text: described.text,
        check,
    })
}

/// Returns the level of a price alert, or of a comparison of the price with a number, if the price has passed it.
async fn passed_rule(app: &App, visitor: &Visitor, body: &Map<String, Value>) -> Option<PassedRule> {
    let symbol: Symbol = body.get("symbol")?.as_str()?.parse().ok()?;
    let price = app.service().stocks.figures().quote(symbol).price?;
    let mut flipped = body.clone();
    let level = match body.get("condition")?.as_str()? {
        name @ ("price_above" | "price_below") => {
            let side = if name == "price_above" {
                Side::Above
            } else {
                Side::Below
            };
            let threshold: Price = body.get("threshold")?.to_string().parse().ok()?;
            let level = PassedLevel::of(symbol, side, threshold, Some(price))?;
            flipped.insert("condition".to_owned(), json!(format!("price_{}", level.flipped())));
            level
        }
        _ => {
            let when = body.get("parameters")?.get("when")?.as_str()?;
            let (side, number) = match (when.strip_prefix("price > "), when.strip_prefix("price < ")) {
                (Some(number), _) => (Side::Above, number),
                (None, number) => (Side::Below, number?),
            };
            let threshold: Price = number.parse().ok()?;
            // At the number itself neither comparison is true.
            let level = PassedLevel::of(symbol, side, threshold, Some(price)).filter(|_| price != threshold)?;
            let sign = level.flipped().pick(">", "<");
            flipped.insert(
                "parameters".to_owned(),
                json!({"when": format!("price {sign} {number}")}),
            );
            level
        }
    };
    let flipped = Value::Object(flipped);
    let described = app.service().alerts.describe_alert(&visitor.actor, &flipped).await;
    let flipped = described.ok()?.text?;
    Some(PassedRule { level, flipped })
}

/// Returns the chart of a stock with levels and firings; `None` without bars.
async fn chart(
    app: &App,
    symbol: Symbol,
    levels: &[ChartLevel],
    preview: Option<&Preview>,
) -> Result<Option<RuleChart>, ServiceError> {
    let bars = app.service().stocks.candles(symbol, CandleRange::Year1).await?;
    Ok((!bars.is_empty()).then(|| rule_chart(symbol, &bars, levels, preview)))
}

/// Returns the stock that is played: the alert's own, or the first of several.
fn played_symbol(body: &Map<String, Value>) -> Option<Symbol> {
    let scope = body.get("scope");
    let symbol = match scope {
        None => body.get("symbol"),
        Some(scope) => scope.get("symbols").and_then(|symbols| symbols.get(0)),
    };
    symbol?.as_str()?.parse().ok()
}
