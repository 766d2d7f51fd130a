//! The values that the paper printed.

use std::collections::HashMap;
use std::sync::LazyLock;

use intervalid_data::known_dataset;
use intervalid_model::{MarginActivation, Method, Metrics, NetworkKind, Strategy};
use serde::Serialize;

use crate::study_model::StudyModel;

/// `strategy,architecture,parameterisation,dataset,coverage,metric,mean,std`
const TABLE: &str = include_str!("../assets/paper_tables.csv");

static VALUES: LazyLock<HashMap<String, Published>> =
    LazyLock::new(|| TABLE.lines().skip(1).filter_map(parse).collect());

/// A metric of the tables, in the paper's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TableMetric {
    /// RMSE in the output's unit; of the paper's data sets 100 times that, as the paper prints it.
    Rmse,
    /// PICP in per cent.
    Picp,
    /// 100·PINAW.
    Pinaw,
    /// CWC with η = 25.
    Cwc,
}

impl TableMetric {
    /// All of them, in the tables' order.
    pub const ALL: [TableMetric; 4] = [Self::Rmse, Self::Picp, Self::Pinaw, Self::Cwc];

    /// `rmse`, `picp`, `pinaw` or `cwc`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rmse => "rmse",
            Self::Picp => "picp",
            Self::Pinaw => "pinaw",
            Self::Cwc => "cwc",
        }
    }

    /// With its unit, for the rows of a table.
    #[must_use]
    pub fn label(self, dataset: &str) -> &'static str {
        match self {
            Self::Rmse if !is_in_paper(dataset) => "RMSE",
            Self::Rmse => "100·RMSE",
            Self::Picp => "PICP %",
            Self::Pinaw => "100·PINAW",
            Self::Cwc => "CWC",
        }
    }

    /// As [`label`](Self::label), of a data set with several outputs.
    #[must_use]
    pub fn label_of_several(self) -> &'static str {
        match self {
            Self::Rmse => "RMSE",
            Self::Picp => "PICP % (worst output)",
            Self::Pinaw => "100·PINAW (mean of outputs)",
            Self::Cwc => "CWC (mean of outputs)",
        }
    }

    /// Its value in the units of tables; none of a simulation that diverged, or where measured outputs without a range leave it undefined.
    #[must_use]
    pub fn of(self, metrics: &Metrics, dataset: &str) -> Option<f64> {
        let percent = |value: Option<f64>| value.map(|value| 100.0 * value);
        match self {
            Self::Rmse if !is_in_paper(dataset) => metrics.rmse,
            Self::Rmse => percent(metrics.rmse),
            Self::Picp => percent(metrics.picp),
            Self::Pinaw => percent(metrics.pinaw),
            Self::Cwc => metrics.cwc,
        }
    }
}

/// Whether the paper has this data set; others are a user's own, with errors in their own unit.
#[must_use]
pub fn is_in_paper(dataset: &str) -> bool {
    known_dataset(dataset).is_some()
}

/// A printed value: mean and standard deviation over ten seeds, in the paper's units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Published {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub std: f64,
}

/// What the paper printed for a model on a data set; none for anything it did not try.
///
/// ```
/// use intervalid_model::{MarginActivation, ModelKind, Strategy};
/// use intervalid_study::{TableMetric, published};
///
/// let (strategy, margin) = (Some(Strategy::Cascade), Some(MarginActivation::Relu));
/// let value = published("robot-arm", ModelKind::Ilstm, strategy, margin, 0.9, TableMetric::Rmse).unwrap();
/// assert_eq!(format!("{:.2} ± {:.2}", value.mean, value.std), "19.39 ± 3.85");
/// ```
#[must_use]
pub fn published(
    dataset: &str,
    model: impl Into<StudyModel>,
    strategy: Option<Strategy>,
    margin: Option<MarginActivation>,
    coverage: f64,
    metric: TableMetric,
) -> Option<Published> {
    let model = model.into().kind()?;
    let network = match model.network()? {
        NetworkKind::Node => "node",
        NetworkKind::Lstm => "lstm",
        NetworkKind::StateSpace => return None,
    };
    let (method, architecture) = match model.method() {
        Method::Interval => (strategy?.name(), model.name()),
        Method::Bayesian => ("bayesian", network),
        Method::Dropout => ("mc-dropout", network),
        Method::Ensemble => ("deep-ensemble", network),
        Method::Linear => return None,
    };
    let margin = margin.map_or("", MarginActivation::name);
    let dataset = dataset.replace('_', "-");
    VALUES
        .get(&id([method, architecture, margin, &dataset], coverage, metric.name()))
        .copied()
}

fn id(names: [&str; 4], coverage: f64, metric: &str) -> String {
    format!("{},{coverage:.6},{metric}", names.join(","))
}

fn parse(line: &str) -> Option<(String, Published)> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let &[strategy, architecture, margin, dataset, coverage, metric, mean, std] = fields.as_slice() else {
        return None;
    };
    let published = Published {
        mean: mean.parse().ok()?,
        std: std.parse().ok()?,
    };
    let id = id(
        [strategy, architecture, margin, dataset],
        coverage.parse().ok()?,
        metric,
    );
    Some((id, published))
}

#[cfg(test)]
mod tests {
    use intervalid_model::ModelKind;

    use super::*;
    use crate::spec::Spec;

    #[test]
    fn the_paper_study_finds_every_printed_value() {
        let spec = Spec::builtin("paper").unwrap();
        assert_eq!(VALUES.len(), 448);
        let mut found = 0;
        // The paper has no ARX.
        let printed = spec
            .cells()
            .filter(|cell| cell.seed == 1 && cell.model != ModelKind::Arx.into());
        for cell in printed {
            for metric in TableMetric::ALL {
                let value = published(
                    &cell.dataset,
                    cell.model,
                    cell.strategy,
                    cell.margin,
                    cell.coverage,
                    metric,
                );
                assert!(
                    value.is_some_and(|value| value.mean > 0.0 && value.std >= 0.0),
                    "{cell}"
                );
                found += 1;
            }
        }
        assert_eq!(found, 448);
    }

    #[test]
    fn nothing_else_is_found() {
        let arm = |model, coverage| published("robot-arm", model, None, None, coverage, TableMetric::Cwc);
        assert!(arm(ModelKind::Bnode, 0.9).is_some());
        assert_eq!(arm(ModelKind::Bnode, 0.8), None);
        assert_eq!(arm(ModelKind::Arx, 0.9), None);
        assert_eq!(arm(ModelKind::Inode, 0.9), None);
        assert_eq!(
            published("mine", ModelKind::Bnode, None, None, 0.9, TableMetric::Cwc),
            None
        );
    }
}
