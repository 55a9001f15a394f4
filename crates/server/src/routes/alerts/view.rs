//! Alerts as JSON.

use alerts::engine::{Evaluation, State};
use serde::Serialize;
use serde_json::{Map, Value};
use service::alerts::{AlertDetail, AlertItem, Judged, MadeBy, StoredAlert};
use service::stocks::StockView;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::document::names::{ChannelName, ConditionName, MadeByName, StatusName};
use crate::values::{decimal, price, timestamp};

/// What every alert shows.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlertFields {
    /// Which one.
    pub id: Uuid,
    /// The stock.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// What it waits for.
    #[schema(value_type = ConditionName)]
    pub condition: &'static str,
    /// The condition's threshold; null where it takes none.
    #[schema(required, example = 200)]
    pub threshold: Option<f64>,
    /// How its owner is told.
    #[schema(value_type = ChannelName)]
    pub notification: &'static str,
    /// Where it is in its life.
    #[schema(value_type = StatusName)]
    pub status: &'static str,
    /// When it was made.
    #[schema(format = DateTime, example = "2026-03-02T14:30:00.000Z")]
    pub created_at: String,
    /// When it last fired.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub triggered_at: Option<String>,
    /// The price when it was made or last activated; null while there was none to be had.
    #[schema(required, example = 189.2)]
    pub initial_price: Option<f64>,
    /// Who made it; null if that is not known.
    #[schema(required)]
    pub created_by: Option<MadeByView>,
    /// The condition's parameters in their normal form, and whatever marks the client sent with them.
    #[schema(required, value_type = Option<Object>)]
    pub parameters: Option<Map<String, Value>>,
}

/// Who made something.
#[derive(Debug, Serialize, ToSchema)]
pub struct MadeByView {
    /// The account's owner (`person`), a program by an API key or by OAuth, the analyst, or somebody without an account.
    #[schema(value_type = MadeByName, example = "api_key")]
    pub kind: &'static str,
    /// What the key or the app is called.
    #[schema(required, example = "laptop")]
    pub name: Option<String>,
}

impl MadeByView {
    /// As it is kept.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let made_by = MadeBy::from_text(text);
        Self {
            kind: made_by.kind(),
            name: made_by.name().map(str::to_owned),
        }
    }
}

impl AlertFields {
    fn of(stored: StoredAlert) -> Self {
        let alert = stored.alert;
        Self {
            id: alert.id.0,
            symbol: alert.symbol.to_string(),
            condition: alert.condition.kind().name(),
            threshold: alert.condition.threshold().map(decimal),
            notification: alert.notification.name(),
            status: alert.status.name(),
            created_at: timestamp(alert.created_at),
            triggered_at: alert.triggered_at.map(timestamp),
            initial_price: alert.initial_price.map(price),
            created_by: stored.created_by.as_deref().map(MadeByView::of),
            parameters: alert.parameters.map(alerts::json::in_javascript_order),
        }
    }
}

/// A single alert with its stock.
#[derive(Debug, Serialize, ToSchema)]
pub struct Alert {
    /// The alert.
    #[serde(flatten)]
    pub fields: AlertFields,
    /// Its stock.
    pub stock: AlertStock,
    /// The same as `stock`.
    pub stocks: AlertStock,
    /// Whether it is judged at present, and if not, why; null for an alert that is not active.
    #[schema(required)]
    pub evaluation: Option<EvaluationView>,
}

impl Alert {
    /// As the service shows it.
    #[must_use]
    pub fn of(detail: AlertDetail) -> Self {
        let stock = AlertStock::of(&detail.stock);
        Self {
            fields: AlertFields::of(detail.stored),
            stocks: stock.clone(),
            stock,
            evaluation: detail.evaluation.map(EvaluationView::of),
        }
    }
}

/// The stock of an alert, with its figures.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AlertStock {
    /// The company's name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// The last price; null until one is known.
    #[schema(required, example = 189.2)]
    pub last_price: Option<f64>,
    /// The highest price of 52 weeks.
    #[schema(required, example = 199.62)]
    pub high_52w: Option<f64>,
    /// The lowest price of 52 weeks.
    #[schema(required, example = 164.08)]
    pub low_52w: Option<f64>,
    /// Wilder's RSI(14), the last price taken for today's close.
    #[schema(required, minimum = 0, maximum = 100, example = 55.2)]
    pub rsi: Option<f64>,
    /// The average of 50 sessions.
    #[schema(required, example = 185.1)]
    pub ma_50: Option<f64>,
    /// The average of 200 sessions.
    #[schema(required, example = 180.7)]
    pub ma_200: Option<f64>,
}

impl AlertStock {
    fn of(stock: &StockView) -> Self {
        Self {
            name: stock.row.name.clone(),
            last_price: stock.last_price.map(price),
            high_52w: stock.high_52w.map(price),
            low_52w: stock.low_52w.map(price),
            rsi: stock.rsi.map(decimal),
            ma_50: stock.ma_50.map(decimal),
            ma_200: stock.ma_200.map(decimal),
        }
    }
}

/// The stock of an alert in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ListedStock {
    /// The company's name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// The last price; null until one is known.
    #[schema(required, example = 189.2)]
    pub last_price: Option<f64>,
}

/// Whether an alert is judged.
#[derive(Debug, Serialize, ToSchema)]
pub struct EvaluationView {
    /// `ok`: it is judged. `waiting`: it will be, when what is missing has come about by itself. `blind`: it is not,
    /// and something has to be done about it.
    pub state: EvaluationState,
    /// What keeps it from being judged.
    #[schema(required, example = "no earnings per share are known")]
    pub reason: Option<String>,
    /// Since when.
    #[schema(format = DateTime, example = "2026-03-02T14:30:00.000Z")]
    pub since: String,
}

/// Whether an alert is judged, in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum EvaluationState {
    /// It is.
    Ok,
    /// It will be.
    Waiting,
    /// It is not.
    Blind,
}

impl EvaluationView {
    fn of(evaluation: Evaluation) -> Self {
        let (state, reason) = match evaluation.state {
            State::Ok => (EvaluationState::Ok, None),
            State::Waiting(reason) => (EvaluationState::Waiting, Some(reason.to_string())),
            State::Blind(reason) => (EvaluationState::Blind, Some(reason.to_string())),
        };
        Self {
            state,
            reason,
            since: timestamp(evaluation.since),
        }
    }
}

/// An alert in a list: as much of it as was asked for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ListedAlert {
    /// With `extended=true`.
    Extended(Box<ExtendedAlert>),
    /// As a rule.
    Usual(Box<UsualAlert>),
    /// With `minimal=true`.
    Minimal(MinimalAlert),
}

/// An alert in a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct UsualAlert {
    /// The alert.
    #[serde(flatten)]
    pub fields: AlertFields,
    /// Its stock.
    pub stock: ListedStock,
    /// The same as `stock`.
    pub stocks: ListedStock,
}

/// The least that says which alert it is.
#[derive(Debug, Serialize, ToSchema)]
pub struct MinimalAlert {
    /// Which one.
    pub id: Uuid,
    /// The stock.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// What it waits for.
    #[schema(value_type = ConditionName)]
    pub condition: &'static str,
    /// The condition's threshold; null where it takes none.
    #[schema(required, example = 200)]
    pub threshold: Option<f64>,
    /// Where it is in its life.
    #[schema(value_type = StatusName)]
    pub status: &'static str,
}

/// An alert in a list, with how near it is to firing.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExtendedAlert {
    /// The alert.
    #[serde(flatten)]
    pub fields: AlertFields,
    /// Its stock.
    pub stock: AlertStock,
    /// The same as `stock`.
    pub stocks: AlertStock,
    /// Whether it is judged at present, and if not, why; null for an alert that is not active.
    #[schema(required)]
    pub evaluation: Option<EvaluationView>,
    /// When its stock was observed last.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub last_evaluated_at: Option<String>,
    /// What its condition measures, as it is now.
    #[schema(required, example = 189.2)]
    pub last_metric_value: Option<f64>,
    /// By how many percent that has to move to reach the threshold; 0 once it is there.
    #[schema(required, example = 5.7)]
    pub distance_pct: Option<f64>,
}

impl ListedAlert {
    /// As the service shows it.
    #[must_use]
    pub fn of(item: AlertItem, minimal: bool) -> Self {
        let fields = AlertFields::of(item.stored);
        if minimal {
            return Self::Minimal(MinimalAlert {
                id: fields.id,
                symbol: fields.symbol,
                condition: fields.condition,
                threshold: fields.threshold,
                status: fields.status,
            });
        }
        match item.extended {
            Some(judged) => Self::Extended(Box::new(ExtendedAlert::of(fields, judged))),
            None => {
                let stock = ListedStock {
                    name: item.stock_name,
                    last_price: item.last_price.map(price),
                };
                Self::Usual(Box::new(UsualAlert {
                    fields,
                    stocks: stock.clone(),
                    stock,
                }))
            }
        }
    }
}

impl ExtendedAlert {
    fn of(fields: AlertFields, judged: Judged) -> Self {
        let stock = AlertStock::of(&judged.stock);
        Self {
            fields,
            stocks: stock.clone(),
            stock,
            evaluation: judged.evaluation.map(EvaluationView::of),
            last_evaluated_at: judged.last_evaluated_at.map(timestamp),
            last_metric_value: judged.metric.map(decimal),
            distance_pct: judged.distance_pct.map(decimal),
        }
    }
}
