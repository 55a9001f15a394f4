//! # Analyst: figures of a stock's history and the alerts that follow from them
//!
//! A user puts a stock on the watchlist with the intention to buy or to sell it. The analyst reads the stock's
//! completed sessions, its price and its upcoming dates. It returns figures, a short summary, and two to five alerts
//! that suit the intention ([`rules::advise`]).
//!
//! The crate does not depend on a database, HTTP or a clock: an [`AnalysisSubject`] comes in and an [`Advice`] goes
//! out. The same subject always gets the same advice.
//!
//! * [`volatility`], [`trend`], [`levels`], [`upcoming`]: the figures, each with the source of its formula, together in
//!   an [`Analysis`]. RSI and averages come from [`market`], which also evaluates alerts.
//! * [`probability`]: the chance that a price level is reached.
//! * [`propose`]: from figures to drafts, `propose/buy.rs` for a buyer and `propose/sell.rs` for a seller.
//! * [`proposal`]: from a draft to a [`Proposal`]. Every draft is read like a user's request, and its condition must not
//!   hold already ([`condition_state`]).
//! * [`freshness`]: the rule for when alerts need a new analysis.
//! * [`llm`]: the same by a language model under the same rules; everything except the call itself.
//!
//! None of this is investment advice. `docs/analyst.md` reports how such alerts did on five years of 511 stocks.

mod analysis;
pub mod condition_state;
mod figures;
pub mod freshness;
pub mod levels;
pub mod llm;
pub mod probability;
pub mod proposal;
pub mod propose;
mod rationale;
mod role;
pub mod rules;
mod subject;
pub mod tick;
pub mod trend;
pub mod upcoming;
pub mod volatility;

#[cfg(test)]
mod testing;

pub use alerts::Intention;
pub use analysis::Analysis;
pub use condition_state::ConditionState;
pub use levels::{Level, Levels};
pub use proposal::{Proposal, ProposalError};
pub use role::Role;
pub use rules::{Advice, advise};
pub use subject::AnalysisSubject;
pub use trend::{Trend, TrendDirection};
pub use upcoming::UpcomingEvents;
pub use volatility::Volatility;
