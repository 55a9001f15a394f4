//! `GET|POST /settings/sessions`: where the account is signed in, and the end of sessions.

use accounts::identity::{SessionId, session_of};
use foundation::ServiceError;
use web::layout::Section;
use web::screens::settings::{SessionLine, SessionsPage};
use web::texts;

use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::response::{after_change, rendered};
use crate::routes::web::visitor::Visitor;

/// Shows the sessions.
pub(in crate::routes::web) async fn show_sessions(State(app): State<App>, visitor: Visitor) -> Response {
    match sessions_page(&app, &visitor).await {
        Ok(page) => visitor.after_notice(rendered(&page)),
        Err(error) => error_page(error),
    }
}

/// Ends one session, or all but that of the browser.
pub(in crate::routes::web) async fn end_sessions(
    State(app): State<App>,
    visitor: Visitor,
    form: FormFields,
) -> Response {
    let result = end(&app, &visitor, &form).await;
    after_change(&visitor.head, "/settings/sessions", result)
}

async fn end(app: &App, visitor: &Visitor, form: &FormFields) -> Result<String, ServiceError> {
    let (identity, actor) = (&app.service().identity, &visitor.actor);
    if form_field(form, "action") == "end-others" {
        let ended = identity.end_other_sessions(actor).await?;
        return Ok(texts::text_with("sessions-ended", [("count", ended.into())]));
    }
    let id = uuid(form_field(form, "id")).ok_or(ServiceError::NotFound("session"))?;
    identity.end_session(actor, SessionId(id)).await?;
    Ok(texts::text("session-ended"))
}

async fn sessions_page(app: &App, visitor: &Visitor) -> Result<SessionsPage, ServiceError> {
    let own = session_of(&visitor.actor)?;
    let sessions = app.service().identity.sessions(&visitor.actor).await?;
    let lines = sessions
        .iter()
        .map(|session| SessionLine::of(session, (session.id == own).then_some(visitor.client)));
    Ok(SessionsPage {
        sessions: lines.collect(),
        shell: visitor.shell(app, Some(Section::Settings)),
    })
}
