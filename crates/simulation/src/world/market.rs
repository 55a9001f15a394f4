//! Quotes and splits.

use clock::Clock;
use foundation::ServiceError;
use jiff::Timestamp;

use super::{OpenRequest, World, outcome_of};
use crate::disk;
use crate::model::{Cents, Outcome, RequestId, Split};
use crate::rare_states;

impl World {
    /// A quote is sent. It may be late if it was made at another time.
    pub(crate) fn quote_begins(&self, stock: usize, price: Cents, made_at: Option<Timestamp>) -> RequestId {
        let mut state = self.state();
        let request = state.number();
        let now = state.clock.as_ref().map_or(state.began, |clock| clock.now());
        let quote = OpenRequest::Quote(stock, price, made_at.unwrap_or(now));
        state.open.insert(request, (quote, disk::faults_hit()));
        let reached = rare_states::of_quote(&state.model, stock, price);
        state.reach(reached);
        state.model.quote_begins(stock, request, price);
        let time = made_at.map(|at| format!(", made at {at}")).unwrap_or_default();
        state.log(format!("#{request} quote of stock {stock} at {price}{time} begins"));
        request
    }

    /// A quote has been answered.
    pub(crate) fn quote_ends(
        &self,
        request: RequestId,
        made_at: Option<Timestamp>,
        result: &Result<Vec<String>, ServiceError>,
    ) {
        let mut state = self.state();
        state.note_time();
        if disk::has_ended() {
            return;
        }
        let Some((OpenRequest::Quote(stock, price, time), faults)) = state.open.remove(&request) else {
            return;
        };
        match result {
            Ok(rejected) if rejected.is_empty() => {
                state.report.figures.acknowledged += 1;
                state.log(format!("#{request} quote of stock {stock} is acknowledged"));
                let latest = *state
                    .judged
                    .entry(stock)
                    .and_modify(|at| *at = time.max(*at))
                    .or_insert(time);
                if time < latest && !state.clock_was_set {
                    let text = format!("#{request}: a quote of {time} was accepted after one of {latest}");
                    state.model.violations.push(text);
                }
                state.model.quote_ends(stock, request, price);
            }
            Ok(_) if made_at.is_some() => {
                state.report.figures.acknowledged += 1;
                state.sometimes("a late quote was rejected");
                state.log(format!("#{request} quote of stock {stock} is rejected as late"));
                state.model.quote_rejected(stock, request);
            }
            Ok(rejected) => {
                let text = format!("#{request}: a quote of stock {stock} was rejected: {rejected:?}");
                state.model.violations.push(text);
            }
            Err(error) if outcome_of(error) == Some(Outcome::Failed) => {
                state.sometimes("a quote failed");
                state.require_fault(request, faults);
                state.log(format!("#{request} quote of stock {stock} failed"));
                state.model.quote_fails(stock, request);
            }
            Err(error) => {
                let text = format!("#{request}: unexpected error of a quote: {error}");
                state.model.violations.push(text);
            }
        }
    }

    /// A split is delivered.
    pub(crate) fn split_begins(&self, stock: usize, split: Split) -> RequestId {
        let mut state = self.state();
        let reached = rare_states::of_split(&state.model, stock);
        state.reach(reached);
        let request = state.open_request(OpenRequest::Split(stock));
        state.model.split_begins(stock, split);
        state.log(format!("#{request} {split:?} of stock {stock} begins"));
        request
    }

    /// A split has been answered.
    pub(crate) fn split_ends(&self, request: RequestId, result: &Result<Vec<String>, ServiceError>) {
        let mut state = self.state();
        let Some(OpenRequest::Split(stock)) = state.close_request(request, result) else {
            return;
        };
        match result {
            Ok(rejected) if rejected.is_empty() => state.model.split_ends(stock),
            Err(error) if outcome_of(error) == Some(Outcome::Failed) => state.sometimes("a split failed"),
            other => state.violation(format!("#{request}: unexpected answer to a split: {other:?}")),
        }
    }
}
