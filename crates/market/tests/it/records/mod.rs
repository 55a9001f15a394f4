//! The JSON form of records: it is exact, and nodes of two versions understand each other.

mod reading;
mod round_trip;
