//! Alerts in responses.

use alerts::AlertScope;
use alerts::engine::{Evaluation, EvaluationStatus};
use alerts::options::Repeat;
use evaluation::stocks::StockView;
use foundation::MadeBy;
use serde_json::{Map, Value};
use service::alerts::{AlertDetail, AlertItem, AlertProximity, StoredAlert};

use crate::document::names::{ChannelName, ConditionName, MadeByName, RoutePolicyName, StatusName};
use crate::routes::alerts::managed_by::ManagedByView;
use crate::routes::prelude::*;
use crate::routes::templates::view::TemplatesView;

/// Fields common to all views of an alert.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlertFields {
    /// Unique id.
    pub id: Uuid,
    /// Stock symbol; null for an alert over many stocks.
    #[schema(required, example = "AAPL")]
    pub symbol: Option<String>,
    /// The stocks of an alert over many stocks: `symbols`, or the `watchlist` that it follows. Absent for an alert on one stock.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Object>, example = json!({"symbols": ["AAPL", "MSFT"]}))]
    pub scope: Option<Value>,
    /// Condition.
    #[schema(value_type = ConditionName)]
    pub condition: &'static str,
    /// Threshold of the condition; null if the condition has none.
    #[schema(required, example = 200)]
    pub threshold: Option<f64>,
    /// Notification channel.
    #[schema(value_type = ChannelName)]
    pub notification: &'static str,
    /// Status.
    #[schema(value_type = StatusName)]
    pub status: &'static str,
    /// Time of creation.
    #[schema(format = DateTime, example = "2026-03-02T14:30:00.000Z")]
    pub created_at: String,
    /// Time of the last firing.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub triggered_at: Option<String>,
    /// Price when the alert was created or last activated; null while no price was available.
    #[schema(required, example = 189.2)]
    pub initial_price: Option<f64>,
    /// Creator; null if unknown.
    #[schema(required)]
    pub created_by: Option<CreatorView>,
    /// The condition's parameters in normalized form, with any additional marks the client sent.
    #[schema(required, value_type = Option<Object>)]
    pub parameters: Option<Map<String, Value>>,
    /// The owner's note; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, max_length = 2000, example = "Sell half if it holds.")]
    pub note: Option<String>,
    /// The owner's tags; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_items = 1, max_items = 20, example = json!(["earnings", "swing"]))]
    pub tags: Option<Vec<String>>,
    /// The source that manages the alert, such as a set of files, and its name there; absent if people manage it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub managed_by: Option<ManagedByView>,
    /// The options that differ from their defaults; absent if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Object>, example = json!({"repeat": "each_time", "cooldown": "1h"}))]
    pub options: Option<Map<String, Value>>,
    /// The notification channels of the alert's route; absent if the alert has no route.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_items = 1, max_items = 50)]
    pub channels: Option<Vec<Uuid>>,
    /// How the channels are used: `all` or `failover`; absent if the alert has no route.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<RoutePolicyName>)]
    pub policy: Option<&'static str>,
    /// The time for an acknowledgement before the next channel is used; absent if only failures count.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "15m")]
    pub ack_timeout: Option<String>,
    /// Whether messages do not wait for the end of quiet hours; absent if they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = true)]
    pub urgent: Option<bool>,
    /// The templates of its messages; absent if they have those of the notification channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub templates: Option<TemplatesView>,
    /// The number of firings since the alert was created or last activated; absent unless it repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 3)]
    pub trigger_count: Option<u32>,
    /// Time of the last firing; absent unless the alert repeats, and before its first firing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub last_triggered_at: Option<String>,
    /// Why the alert is inactive: `expired`. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "expired")]
    pub inactive_reason: Option<&'static str>,
}

/// The creator of an object.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MadeByView)]
pub struct CreatorView {
    /// Kind of creator: the account's owner (`person`), a client with an API key or OAuth grant, the analyst, or a guest without an
    /// account.
    #[schema(value_type = MadeByName, example = "api_key")]
    pub kind: &'static str,
    /// Name of the API key or app.
    #[schema(required, example = "laptop")]
    pub name: Option<String>,
}

impl CreatorView {
    pub(crate) fn of(text: &str) -> Self {
        let made_by = MadeBy::from_text(text);
        Self {
            kind: made_by.kind(),
            name: made_by.name().map(str::to_owned),
        }
    }
}

impl AlertFields {
    pub(crate) fn of(stored: StoredAlert) -> Self {
        let scope = stored.scope().map(AlertScope::to_json);
        let alert = stored.alert;
        let repeating = alert
            .lifecycle
            .as_deref()
            .filter(|_| alert.options.repeat != Repeat::Once);
        let route = alert.routing.route.as_deref();
        Self {
            channels: route.map(|route| route.channels().to_vec()),
            policy: route.map(|route| route.delivery.policy().name()),
            ack_timeout: route.and_then(|route| Some(route.delivery.ack_timeout()?.span().to_string())),
            urgent: alert.routing.is_urgent.then_some(true),
            templates: alert.routing.templates.as_deref().cloned().map(TemplatesView::of),
            options: (!alert.options.are_default()).then(|| alert.options.to_json()),
            trigger_count: repeating.map(|state| state.firings),
            last_triggered_at: repeating.and_then(|state| state.last_fired_at).map(timestamp),
            inactive_reason: alert.has_expired().then_some("expired"),
            id: alert.id.0,
            symbol: scope.is_none().then(|| alert.symbol.to_string()),
            scope,
            condition: alert.condition.kind().name(),
            threshold: alert.condition.threshold().map(decimal),
            notification: alert.notification.name(),
            status: alert.status.name(),
            created_at: timestamp(alert.created_at),
            triggered_at: alert.triggered_at.map(timestamp),
            initial_price: alert.initial_price.map(price),
            created_by: stored.created_by.as_deref().map(CreatorView::of),
            managed_by: stored.managed_by.as_ref().map(ManagedByView::of),
            parameters: alert.parameters.map(alerts::json::in_javascript_order),
            note: alert.note.map(|note| note.as_str().to_owned()),
            tags: (!alert.tags.is_empty()).then(|| alert.tags.as_slice().to_vec()),
        }
    }
}

/// An alert with its stock.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Alert)]
pub struct AlertView {
    /// The alert's fields.
    #[serde(flatten)]
    pub fields: AlertFields,
    /// The alert's stock.
    pub stock: AlertStock,
    /// Same as `stock`.
    pub stocks: AlertStock,
    /// Evaluation state and reason; null if the alert is not active.
    #[schema(required)]
    pub evaluation: Option<EvaluationView>,
}

impl AlertView {
    pub(crate) fn of(detail: AlertDetail) -> Self {
        let stock = AlertStock::of(&detail.stock);
        Self {
            fields: AlertFields::of(detail.stored),
            stocks: stock.clone(),
            stock,
            evaluation: detail.evaluation.map(EvaluationView::of),
        }
    }
}

/// An alert's stock with its figures.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AlertStock {
    /// Company name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// Last price; null until one is known.
    #[schema(required, example = 189.2)]
    pub last_price: Option<f64>,
    /// 52-week high.
    #[schema(required, example = 199.62)]
    pub high_52w: Option<f64>,
    /// 52-week low.
    #[schema(required, example = 164.08)]
    pub low_52w: Option<f64>,
    /// Wilder's RSI(14), with the last price as today's close.
    #[schema(required, minimum = 0, maximum = 100, example = 55.2)]
    pub rsi: Option<f64>,
    /// 50-day moving average.
    #[schema(required, example = 185.1)]
    pub ma_50: Option<f64>,
    /// 200-day moving average.
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

/// An alert's stock in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ListedStock {
    /// Company name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// Last price; null until one is known.
    #[schema(required, example = 189.2)]
    pub last_price: Option<f64>,
}

/// Evaluation state of an alert.
#[derive(Debug, Serialize, ToSchema)]
pub struct EvaluationView {
    /// `ok`: the alert is evaluated. `waiting`: evaluation starts by itself once missing data arrives. `blind`: the alert cannot be
    /// evaluated and needs attention.
    pub state: EvaluationState,
    /// Reason why the alert is not evaluated.
    #[schema(required, example = "no earnings per share are known")]
    pub reason: Option<String>,
    /// Start of this state.
    #[schema(format = DateTime, example = "2026-03-02T14:30:00.000Z")]
    pub since: String,
}

/// Evaluation state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum EvaluationState {
    /// The alert is evaluated.
    Ok,
    /// Evaluation starts by itself once missing data arrives.
    Waiting,
    /// The alert cannot be evaluated and needs attention.
    Blind,
}

impl EvaluationView {
    fn of(evaluation: Evaluation) -> Self {
        let (state, reason) = match evaluation.state {
            EvaluationStatus::Ok => (EvaluationState::Ok, None),
            EvaluationStatus::Waiting(reason) => (EvaluationState::Waiting, Some(reason.to_string())),
            EvaluationStatus::Blind(reason) => (EvaluationState::Blind, Some(reason.to_string())),
        };
        Self {
            state,
            reason,
            since: timestamp(evaluation.since),
        }
    }
}

/// An alert in a list, in the requested level of detail.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ListedAlert {
    /// Response for `extended=true`.
    Extended(Box<ExtendedAlert>),
    /// Default response.
    Usual(Box<StandardAlert>),
    /// Response for `minimal=true`.
    Minimal(MinimalAlert),
}

/// An alert in a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UsualAlert)]
pub struct StandardAlert {
    /// The alert's fields.
    #[serde(flatten)]
    pub fields: AlertFields,
    /// The alert's stock.
    pub stock: ListedStock,
    /// Same as `stock`.
    pub stocks: ListedStock,
}

/// An alert in a list with `minimal=true`.
#[derive(Debug, Serialize, ToSchema)]
pub struct MinimalAlert {
    /// Unique id.
    pub id: Uuid,
    /// Stock symbol; null for an alert over many stocks.
    #[schema(required, example = "AAPL")]
    pub symbol: Option<String>,
    /// Condition.
    #[schema(value_type = ConditionName)]
    pub condition: &'static str,
    /// Threshold of the condition; null if the condition has none.
    #[schema(required, example = 200)]
    pub threshold: Option<f64>,
    /// Status.
    #[schema(value_type = StatusName)]
    pub status: &'static str,
}

/// An alert in a list with `extended=true`.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExtendedAlert {
    /// The alert's fields.
    #[serde(flatten)]
    pub fields: AlertFields,
    /// The alert's stock.
    pub stock: AlertStock,
    /// Same as `stock`.
    pub stocks: AlertStock,
    /// Evaluation state and reason; null if the alert is not active.
    #[schema(required)]
    pub evaluation: Option<EvaluationView>,
    /// Time of the last observed price of the stock.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub last_evaluated_at: Option<String>,
    /// Current value of the metric that the condition measures.
    #[schema(required, example = 189.2)]
    pub last_metric_value: Option<f64>,
    /// Percentage by which the metric must move to reach the threshold; 0 once reached.
    #[schema(required, example = 5.7)]
    pub distance_pct: Option<f64>,
}

impl ListedAlert {
    pub(crate) fn of(item: AlertItem, minimal: bool) -> Self {
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
                Self::Usual(Box::new(StandardAlert {
                    fields,
                    stocks: stock.clone(),
                    stock,
                }))
            }
        }
    }
}

impl ExtendedAlert {
    fn of(fields: AlertFields, judged: AlertProximity) -> Self {
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
