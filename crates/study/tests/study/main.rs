//! Studies from file to tables.

mod database;
mod end_to_end;
mod plan;
mod resume;
mod spec;
mod support;
mod tables;
