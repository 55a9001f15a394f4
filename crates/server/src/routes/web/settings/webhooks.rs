//! `GET|POST /settings/webhooks`: webhooks, their secrets, and a test with its receipt.

use std::sync::Arc;

use delivery::webhooks::WebhookId;
use foundation::ServiceError;
use jiff::SignedDuration;
use serde_json::json;
use web::form_state::FormState;
use web::layout::Section;
use web::screens::settings::{TestReceipt, WebhookLine, WebhookSecret, WebhooksPage};
use web::texts;

use super::{after_form, is_failure, refused_form};
use crate::auth::Identity;
use crate::query::uuid;
use crate::rate_limiter::RateLimitGroup;
use crate::routes::pages::link::{form_field, rate_limit_caller};
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::response::{after_change, rendered};
use crate::routes::web::visitor::Visitor;

/// The parts of a page that answer one form.
#[derive(Default)]
struct PageAnswer {
    secret: Option<WebhookSecret>,
    receipt: Option<TestReceipt>,
}

/// The result of a form.
enum Outcome {
    /// A notice is enough.
    Changed(&'static str),
    /// The page shows something once.
    Answered(Box<PageAnswer>),
}

/// Shows the webhooks.
pub(in crate::routes::web) async fn show_webhooks(State(app): State<App>, visitor: Visitor) -> Response {
    page(&app, &visitor, FormState::default(), PageAnswer::default()).await
}

/// Creates, changes, tests or deletes a webhook.
pub(in crate::routes::web) async fn change_webhooks(
    State(app): State<App>,
    visitor: Visitor,
    ClientAddress(address): ClientAddress,
    form: FormFields,
) -> Response {
    if form_field(&form, "action") == "test" {
        let caller = Identity::Authenticated(Arc::new(visitor.actor.clone()));
        if let Some(refusal) = rate_limit_caller(&app, &caller, address, RateLimitGroup::WebhookTest).await {
            return refusal;
        }
    }
    match change(&app, &visitor, &form).await {
        Ok(Outcome::Changed(text)) => after_change(&visitor.head, "/settings/webhooks", Ok(texts::text(text))),
        Ok(Outcome::Answered(shown)) => page(&app, &visitor, FormState::default(), *shown).await,
        Err(error) if is_failure(&error) => error_page(error),
        // Only the form for a new webhook has a field.
        Err(error) if form_field(&form, "action") == "create" => {
            page(&app, &visitor, refused_form(&form, error), PageAnswer::default()).await
        }
        Err(error) => after_change(&visitor.head, "/settings/webhooks", Err(error)),
    }
}

async fn change(app: &App, visitor: &Visitor, form: &FormFields) -> Result<Outcome, ServiceError> {
    let (webhooks, actor) = (&app.service().webhooks, &visitor.actor);
    let url = form_field(form, "url").trim();
    let id = || {
        uuid(form_field(form, "id"))
            .map(WebhookId)
            .ok_or(ServiceError::NotFound("webhook"))
    };
    let shown = match form_field(form, "action") {
        "create" => {
            let body = json!({"url": url, "events": ["alert.triggered"]});
            let created = webhooks.create_webhook(actor, &body).await?;
            PageAnswer {
                secret: Some(WebhookSecret {
                    url: created.webhook.url,
                    secret: created.secret,
                    former_until: None,
                }),
                receipt: None,
            }
        }
        "rotate" => {
            let rotated = webhooks.rotate_webhook_secret(actor, id()?).await?;
            PageAnswer {
                secret: Some(WebhookSecret {
                    url: rotated.webhook.url,
                    secret: rotated.secret,
                    former_until: Some(rotated.previous_until),
                }),
                receipt: None,
            }
        }
        "test" => PageAnswer {
            secret: None,
            receipt: Some(test(app, visitor, id()?).await?),
        },
        action @ ("enable" | "disable") => {
            let body = json!({"is_active": action == "enable"});
            webhooks.update_webhook(actor, id()?, &body).await?;
            return Ok(Outcome::Changed("webhook-changed"));
        }
        "delete" => {
            webhooks.delete_webhook(actor, id()?).await?;
            return Ok(Outcome::Changed("webhook-deleted"));
        }
        _ => {
            return Err(ServiceError::Malformed(
                "the form is invalid; reload the page".to_owned(),
            ));
        }
    };
    Ok(Outcome::Answered(Box::new(shown)))
}

/// Sends a test with the webhook's own secret.
async fn test(app: &App, visitor: &Visitor, id: WebhookId) -> Result<TestReceipt, ServiceError> {
    let requested_at = app.now();
    let result = app.service().webhooks.test_own_webhook(&visitor.actor, id).await?;
    let attempt = result.attempt;
    let outcome = attempt.outcome.to_string();
    let duration = SignedDuration::from_millis(i64::try_from(attempt.duration_ms).unwrap_or(i64::MAX));
    Ok(TestReceipt {
        url: attempt.url.unwrap_or_default(),
        requested_at: requested_at.min(attempt.at),
        sent_at: attempt.at,
        ended_at: attempt.at.saturating_add(duration).unwrap_or(attempt.at),
        is_answered: attempt.outcome.http_status().is_some(),
        duration_ms: attempt.duration_ms,
        outcome: match attempt.outcome.http_status() {
            Some(status) => format!("{outcome} ({status})"),
            None => outcome,
        },
        response: attempt.response.unwrap_or_default(),
    })
}

async fn page(app: &App, visitor: &Visitor, form: FormState, shown: PageAnswer) -> Response {
    match webhooks_page(app, visitor, form, shown).await {
        Ok(page) => after_form(visitor, &page.form, rendered(&page)),
        Err(error) => error_page(error),
    }
}

async fn webhooks_page(
    app: &App,
    visitor: &Visitor,
    form: FormState,
    shown: PageAnswer,
) -> Result<WebhooksPage, ServiceError> {
    let webhooks = app.service().webhooks.webhooks(&visitor.actor).await?;
    Ok(WebhooksPage {
        shell: visitor.shell_with(app, Some(Section::Settings), &form),
        form,
        webhooks: webhooks.iter().map(WebhookLine::of).collect(),
        secret: shown.secret,
        receipt: shown.receipt,
    })
}
