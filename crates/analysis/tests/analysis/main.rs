//! What the views say of systems whose answers are known.

mod linearise;
mod models;
mod views;
mod width;
