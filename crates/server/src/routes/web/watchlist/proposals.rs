//! The analyst's alerts and proposals for a stock of the watchlist; `POST /watchlist/proposal` accepts a proposal, as it is or with
//! another level.

use foundation::ServiceError;
use serde_json::{Map, Value};
use service::alerts::{Created, describe_stored};
use watchlist::WatchlistItem;
use watchlist::analyst::AnalysisRequest;
use web::screens::watchlist::{ProposalLine, Proposals};
use web::texts;

use crate::routes::pages::link::form_field;
use crate::routes::prelude::*;
use crate::routes::web::form_value::optional_number;
use crate::routes::web::response::{after_change, error_text, is_failure};
use crate::routes::web::visitor::Visitor;

/// Returns the alerts that the rules propose for an item at the present price. A language model would take longer than a page may.
pub(super) async fn proposals(app: &App, visitor: &Visitor, item: &WatchlistItem) -> Result<Proposals, ServiceError> {
    match proposed(app, visitor, item).await {
        Ok(lines) => Ok(Proposals::Alerts(lines)),
        Err(error) if is_failure(&error) => Err(error),
        Err(error) => Ok(Proposals::Unavailable(error_text(error))),
    }
}

async fn proposed(app: &App, visitor: &Visitor, item: &WatchlistItem) -> Result<Vec<ProposalLine>, ServiceError> {
    let (service, actor) = (app.service(), &visitor.actor);
    let target = item.target_price.map(|target| target.price);
    let request = service
        .analysis
        .request_for(actor, item.symbol, item.intention, target)
        .await?;
    let request = AnalysisRequest {
        notes: item.notes.clone(),
        ..request
    };
    let analysis = service.analysis.analyze_by_rules(request).await?;
    let mut lines = Vec::new();
    for proposal in &analysis.advice_by_rules().proposals {
        let described = service.alerts.describe_alert(actor, &proposal.body).await?;
        let role = proposal.role.name();
        lines.push(ProposalLine::of(role, &proposal.rationale, &proposal.body, &described));
    }
    Ok(lines)
}

/// Creates the proposed alert.
pub(in crate::routes::web) async fn accept_proposal(
    State(app): State<App>,
    visitor: Visitor,
    form: FormFields,
) -> Response {
    let result = accept(&app, &visitor, &form).await;
    after_change(&visitor.head, form_field(&form, "next"), result)
}

async fn accept(app: &App, visitor: &Visitor, form: &FormFields) -> Result<String, ServiceError> {
    let body: Result<Map<String, Value>, _> = serde_json::from_str(form_field(form, "body"));
    let mut body = body.map_err(|_| ServiceError::Malformed("the form is invalid; reload the page".to_owned()))?;
    if !form_field(form, "threshold").is_empty() {
        body.insert("threshold".to_owned(), optional_number(form, "threshold"));
    }
    let alerts = &app.service().alerts;
    let (text, created) = match alerts.create_alert(&visitor.actor, &Value::Object(body)).await? {
        Created::New(created) => ("proposal-accepted", created),
        Created::Existing(created) => ("proposal-exists", created),
    };
    let sentence = describe_stored(&created.stored).sentence;
    Ok(texts::text_with(text, [("sentence", sentence.into())]))
}
