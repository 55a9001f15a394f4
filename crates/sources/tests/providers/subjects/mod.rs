//! The adapters, capability by capability.

mod alpaca;
mod apewisdom;
mod finnhub;
mod massive;
mod sec;
mod tiingo;
