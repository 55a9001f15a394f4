//! Conformance cases by adapter and capability.

pub mod alpaca;
pub mod apewisdom;
pub mod finnhub;
pub mod massive;
pub mod sec;
pub mod tiingo;
