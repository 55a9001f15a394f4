//! The life cycle of alerts with options.

mod crossings;
mod edges;
mod generator;
mod model;
mod next_check;
mod properties;
mod session_time;
mod stored;
mod support;
