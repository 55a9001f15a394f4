//! # The life cycle of an active alert
//!
//! A condition is true, false or unknown at each judgement; [`AlertOptions`](crate::options::AlertOptions) decide when that fires.
//! [`step()`] is one pure state machine for all of them:
//!
//! ```text
//!   ┌─────────┐  true for the hold   ┌─────────┐  the cooldown ends
//!   │  armed  │ ────── fires ──────▶ │ cooling │ ──────────────────┐
//!   └─────────┘                      └─────────┘                   │
//!        ▲                                                         ▼
//!        │               yes  ┌────────────────────────────────────────┐
//!        ├─────────────────── │ was the condition left since it fired? │
//!        │                    └────────────────────────────────────────┘
//!        │ left                           │ no
//!   ┌────────────────────┐                │
//!   │ waiting to re-arm  │ ◀──────────────┘
//!   └────────────────────┘
//! ```
//!
//! *Left* means that the condition is false at a judgement or after its crossings; with `rearm` it means that the metric has
//! returned to its level. At the judgement at which the condition is left for the first time after a firing, also during the
//! cooldown, the alert is *re-armed*: its extremes, crossings and the first of two judgements begin anew, so that a trailing stop
//! fires again only after a new fall. A cooldown that ends with `cooldown_refire` is no re-arming.
//!
//! An unknown condition neither fires nor re-arms; it interrupts a hold. A judgement that fires nothing has a [`WaitReason`].
//!
//! [`Lifecycle`] is the state that is stored with the alert, see [`Lifecycle::to_stored`]. It is stored in the transaction of its
//! firing, so that a crash neither loses nor doubles one. [`next_check()`] says when to judge again without a new observation.

mod cooldown;
mod extremes;
mod judgement;
mod next_check;
mod state;
mod step;
mod stored;
mod wait_reason;

pub use cooldown::{DEFAULT_COOLDOWN, cooldown_end};
pub use extremes::ArmedExtremes;
pub use judgement::{Judgement, Observation};
pub use next_check::next_check;
pub use state::{ArmedFigures, Lifecycle, Phase};
pub use step::{Outcome, Step, step};
pub use stored::StoredLifecycleError;
pub use wait_reason::WaitReason;
