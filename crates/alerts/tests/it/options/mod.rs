//! Options of alerts: reading, writing, and the conditions that they fit.

mod documentation;
mod fit;
mod reading;
mod without_effect;
mod writing;
