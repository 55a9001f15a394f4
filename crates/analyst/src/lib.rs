//! # The analyst: what a stock's own history says, and which alerts follow from it
//!
//! Somebody puts a stock on their watchlist and says that they mean to buy or to sell it. The analyst looks at the
//! stock's completed sessions, its price and the dates that are known to come, and answers with figures, a few
//! sentences, and two to five alerts that make sense for what they mean to do ([`quant::advise`]).
//!
//! This room knows no database, no HTTP and no clock: a [`Subject`] comes in, an [`Advice`] goes out, and the same
//! subject gets the same advice.
//!
//! * [`volatility`], [`trend`], [`levels`], [`events`]: the figures, each with the source of its formula, together in
//!   an [`Analysis`]. The RSI and the averages are those of [`market`], which alerts are judged by.
//! * [`chance`]: how far is far.
//! * [`propose`]: from figures to drafts, `propose/buy.rs` for a buyer and `propose/sell.rs` for a seller.
//! * [`gate`]: from a draft to a [`Proposal`]. Whoever wrote it, it is read as a user's request would be, and it must
//!   not hold already ([`standing`]).
//! * [`freshness`]: when it is time for another look.
//! * [`llm`]: the same by a language model, held to the same rules; all of it but the call.
//!
//! None of this is advice on what to buy. What came of such alerts on five years of 511 stocks is in
//! `docs/analyst.md`.

mod analysis;
pub mod chance;
pub mod events;
mod figures;
pub mod freshness;
pub mod gate;
pub mod levels;
pub mod llm;
pub mod propose;
pub mod quant;
mod rationale;
mod role;
pub mod standing;
mod subject;
pub mod tick;
pub mod trend;
pub mod volatility;

#[cfg(test)]
mod testing;

pub use alerts::Intention;
pub use analysis::Analysis;
pub use events::Events;
pub use gate::{Proposal, Refusal};
pub use levels::{Level, Levels};
pub use quant::{Advice, advise};
pub use role::Role;
pub use standing::Standing;
pub use subject::Subject;
pub use trend::{Direction, Trend};
pub use volatility::Volatility;
