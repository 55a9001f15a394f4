//! Mails and text messages on their way: made, claimed lane by lane, settled.

mod queue;
