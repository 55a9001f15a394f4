//! `POST /sign-out`

use super::response::redirect;
use super::visitor::Visitor;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;

/// Ends the session of this browser.
pub(super) async fn sign_out(State(app): State<App>, visitor: Visitor) -> Response {
    if let Err(error) = app.service().identity.sign_out(&visitor.actor).await {
        return error_page(error);
    }
    let mut response = redirect(&visitor.head.link("/sign-in"));
    SessionCookie::of(app.service()).clear(response.headers_mut());
    response
}
