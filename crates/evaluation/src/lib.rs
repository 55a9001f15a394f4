//! # Evaluation: the owner of the engine
//!
//! * [`evaluator`]: owns the engine. It passes events to the engine, commits its decisions, and passes on users'
//!   changes, each after its commit and in commit order.
//! * [`market`]: intake of market data; market status. [`prices`]: current prices and fallbacks.
//! * [`catalog`]: all known stocks. [`stocks`]: search, and data of a stock.
//! * [`feed`]: runs the source of market data and ingests its updates.
//! * [`replay`]: the engine over recorded market data, on a virtual clock.
//! * [`cluster`]: several nodes that share the evaluation.
//! * [`blindness`]: notices to owners whose alerts cannot be evaluated.

pub mod blindness;
pub mod catalog;
pub mod cluster;
mod config;
pub mod evaluator;
pub mod feed;
pub mod market;
pub mod prices;
pub mod replay;
pub mod stocks;
mod use_cases;

pub use config::EvaluationConfig;
pub use use_cases::EvaluationUseCases;
