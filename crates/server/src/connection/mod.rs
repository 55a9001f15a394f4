//! c
use axum::Router;
/// Listeners
#[derive(Debug)]
pub struct Listeners;
/// err
#[derive(Debug)]
pub struct ServeError;
/// serve
pub async fn serve(_r: Router) {}
