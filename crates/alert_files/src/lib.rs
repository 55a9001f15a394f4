//! # Alerts as code
//!
//! Files of alerts ([`FileSet`]), and the [`Plan`] of the changes that make the alerts of a server equal to them. This crate performs no
//! I/O: the command line reads the files and sends the requests.
//!
//! * `syntax/` reads YAML, TOML and JSON into nodes with their positions, so that each error names its file, line and column.
//! * `declaration/` reads the keys of the files, with defaults and variables of the environment.
//! * `alerts::request` validates each alert by the rules of the server; [`Plan`] compares the results, not the texts.

mod declaration;
mod error;
mod expectation;
mod export;
mod import;
mod normal_form;
mod plan;
mod render;
mod schema;
mod suggestion;
mod syntax;

pub use declaration::{ChannelIds, DeclaredAlert, FileSet, SourceFile, ValidAlert, Variables};
pub use error::{FileError, FileErrors};
pub use expectation::{ExpectationError, Expectations, ObservedFirings};
pub use export::{create_body, exported_file};
pub use import::{ImportError, ImportSkip, ImportedItem, read_stockalert, read_tradingview};
pub use plan::{FieldChange, Plan, PlannedChange, PlannedKind};
pub use render::{plan_as_json, plan_as_text};
pub use schema::file_schema;
pub use syntax::{FileFormat, FilePosition};
