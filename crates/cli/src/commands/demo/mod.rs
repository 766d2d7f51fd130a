//! `intervalid demo`: the whole path on built-in data, told in plain words.

mod arx;
mod networks;
mod rows;
mod run;
mod story;

pub(crate) use run::run;
