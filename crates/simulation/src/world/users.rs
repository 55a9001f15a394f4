//! Acknowledgements of firings, and watchlists.

use foundation::ServiceError;
use store::model::EventId;

use super::{OpenRequest, World, outcome_of};
use crate::model::{Outcome, RequestId};

impl World {
    /// A user acknowledges a firing.
    pub(crate) fn acknowledgement_begins(&self, firing: EventId) -> RequestId {
        let mut state = self.state();
        let id = firing.0.to_string();
        if !state.model.acknowledged.may_be(&id, false) {
            state.sometimes("a firing was acknowledged again");
        }
        state.model.acknowledged.change_begins(id, true);
        let request = state.open_request(OpenRequest::Acknowledgement(firing));
        state.log(format!("#{request} acknowledgement of firing {} begins", firing.0));
        request
    }

    /// An acknowledgement has been answered.
    pub(crate) fn acknowledgement_ends(&self, request: RequestId, result: Result<(), ServiceError>) {
        let mut state = self.state();
        let Some(OpenRequest::Acknowledgement(firing)) = state.close_request(request, &result) else {
            return;
        };
        match result {
            Ok(()) => {
                state.sometimes("a firing was acknowledged");
                state.model.acknowledged.is_known(firing.0.to_string(), true);
            }
            Err(error) if outcome_of(&error) == Some(Outcome::Failed) => state.sometimes("an acknowledgement failed"),
            Err(error) => state.violation(format!("#{request}: unexpected error of an acknowledgement: {error}")),
        }
    }

    /// A user adds a stock to the watchlist, or removes it. `None`: another change of it is open.
    pub(crate) fn watching_begins(&self, user: usize, stock: usize, is_added: bool) -> Option<RequestId> {
        let mut state = self.state();
        let is_same =
            |open: &OpenRequest| matches!(open, OpenRequest::Watching(of, on, _) if (*of, *on) == (user, stock));
        if state.open.values().any(|(open, _)| is_same(open)) {
            return None;
        }
        let request = state.open_request(OpenRequest::Watching(user, stock, is_added));
        let change = if is_added { "added to" } else { "removed from" };
        state.log(format!(
            "#{request} stock {stock} is {change} the watchlist of user {user}"
        ));
        Some(request)
    }

    /// A change of a watchlist has been answered.
    pub(crate) fn watching_ends(&self, request: RequestId, result: Result<(), ServiceError>) {
        let mut state = self.state();
        let Some(OpenRequest::Watching(user, stock, is_added)) = state.close_request(request, &result) else {
            return;
        };
        let fact = (user, stock);
        let was_added = match &result {
            Ok(()) => !is_added,
            // It was on the watchlist already, or was not on it.
            Err(ServiceError::Conflict(_) | ServiceError::NotFound(_)) => is_added,
            Err(error) if outcome_of(error) == Some(Outcome::Failed) => {
                state.sometimes("a change of a watchlist failed");
                state.model.watched.change_begins(fact, is_added);
                return;
            }
            Err(error) => {
                state.violation(format!("#{request}: unexpected error of a watchlist: {error}"));
                return;
            }
        };
        state.sometimes(match (&result, is_added) {
            (Ok(()), true) => "a stock was added to a watchlist",
            (Ok(()), false) => "a stock was removed from a watchlist",
            (Err(_), true) => "a stock was on the watchlist already",
            (Err(_), false) => "a stock was not on the watchlist",
        });
        if !state.model.watched.may_be(&fact, was_added) {
            let before = if was_added { "on" } else { "not on" };
            state.violation(format!(
                "#{request}: stock {stock} cannot have been {before} the watchlist of user {user}"
            ));
        }
        // A refusal settles nothing: a removal that was not confirmed can seem undone until a restart finds it in the log of the database.
        if result.is_ok() {
            state.model.watched.is_known(fact, is_added);
        }
    }
}
