//! Interval networks beside the paper, counted.

use serde::Serialize;

use super::build::{Table, TableKind};
use crate::published::TableMetric;

/// At one coverage: in how many cells (data set, network, margin, strategy) interval networks reach the printed values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Scoreboard {
    /// Coverage asked.
    pub coverage: f64,
    /// Cells of the study that the paper printed: 32 in the paper's own.
    pub cells: usize,
    /// Cells of those that have runs.
    pub compared: usize,
    /// Cells whose mean RMSE is at most the printed mean.
    pub rmse_at_most_mean: usize,
    /// Cells whose mean RMSE is at most the printed mean plus one printed standard deviation.
    pub rmse_at_most_mean_plus_std: usize,
    /// Cells whose mean CWC is at most the printed mean.
    pub cwc_at_most_mean: usize,
}

impl Scoreboard {
    pub(crate) fn new<'a>(coverage: f64, tables: impl Iterator<Item = &'a Table>) -> Self {
        let mut board = Self {
            coverage,
            ..Self::default()
        };
        let of_networks = [TableKind::Cascade, TableKind::Joint];
        let tables = tables.filter(|table| of_networks.contains(&table.kind));
        for row in tables.flat_map(|table| &table.rows) {
            for cell in &row.cells {
                let Some(published) = cell.published else { continue };
                let at_most = |bound: f64| usize::from(cell.ours.is_some_and(|ours| ours.mean <= bound));
                match row.metric {
                    TableMetric::Rmse => {
                        board.cells += 1;
                        board.compared += usize::from(cell.ours.is_some());
                        board.rmse_at_most_mean += at_most(published.mean);
                        board.rmse_at_most_mean_plus_std += at_most(published.mean + published.std);
                    }
                    TableMetric::Cwc => board.cwc_at_most_mean += at_most(published.mean),
                    TableMetric::Picp | TableMetric::Pinaw => {}
                }
            }
        }
        board
    }

    /// One line, such as `coverage 0.9: RMSE ≤ published mean in 20 of 32 cells, …`.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { coverage, cells, .. } = self;
        let mut line = format!(
            "coverage {coverage}: interval networks reach RMSE ≤ published mean in {} of {cells} cells, RMSE ≤ mean + std in \
             {} of {cells}, CWC ≤ published mean in {} of {cells}",
            self.rmse_at_most_mean, self.rmse_at_most_mean_plus_std, self.cwc_at_most_mean
        );
        if self.compared < *cells {
            line += &format!(" ({} cells have no runs yet)", cells - self.compared);
        }
        line
    }
}
