//! `GET|POST /settings/agents`: what agents and apps may do.

use accounts::oauth::GrantId;
use foundation::ServiceError;
use web::layout::Section;
use web::screens::settings::{AgentsPage, GrantLine};
use web::texts;

use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::form_value::is_checked;
use crate::routes::web::response::{after_change, rendered};
use crate::routes::web::visitor::Visitor;

/// Shows the grants.
pub(in crate::routes::web) async fn show_agents(State(app): State<App>, visitor: Visitor) -> Response {
    match agents_page(&app, &visitor).await {
        Ok(page) => visitor.after_notice(rendered(&page)),
        Err(error) => error_page(error),
    }
}

/// Ends a grant, or sets whether changes by agents wait for approval.
pub(in crate::routes::web) async fn change_agents(
    State(app): State<App>,
    visitor: Visitor,
    form: FormFields,
) -> Response {
    let result = change(&app, &visitor, &form).await;
    after_change(&visitor.head, "/settings/agents", result.map(texts::text))
}

/// Returns the id of the notice's text.
async fn change(app: &App, visitor: &Visitor, form: &FormFields) -> Result<&'static str, ServiceError> {
    let service = app.service();
    if form_field(form, "action") == "end" {
        let id = uuid(form_field(form, "id")).ok_or(ServiceError::NotFound("grant"))?;
        service.oauth.end_grant(&visitor.actor, GrantId(id)).await?;
        return Ok("grant-ended");
    }
    let agents_wait = is_checked(form, "wait");
    service
        .approvals
        .set_agent_approval(&visitor.actor, agents_wait)
        .await?;
    Ok("settings-saved")
}

async fn agents_page(app: &App, visitor: &Visitor) -> Result<AgentsPage, ServiceError> {
    let service = app.service();
    let grants = service.oauth.grants(&visitor.actor).await?;
    let (agents_wait, _) = service.approvals.approvals(&visitor.actor).await?;
    Ok(AgentsPage {
        shell: visitor.shell(app, Some(Section::Settings)),
        grants: grants.iter().map(GrantLine::of).collect(),
        agents_wait,
        mcp_url: format!("{}/mcp", service.identity.public_url().trim_end_matches('/')),
    })
}
