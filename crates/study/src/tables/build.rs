//! Means and deviations over seeds, beside the printed values.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use intervalid_model::{FitConfig, MarginActivation, ModelKind, Strategy};
use serde::Serialize;

use super::chosen::{Chosen, chosen};
use super::scoreboard::Scoreboard;
use crate::cell::{Cell, same_coverage};
use crate::error::Result;
use crate::figures::model_name as model_label;
use crate::published::{Published, TableMetric, is_in_paper, published};
use crate::record::{RunRecord, RunState};
use crate::run_config::RunConfig;
use crate::spec::Spec;
use crate::store::Store;
use crate::study_model::StudyModel;

/// Columns are in this order, as in the paper.
const MODEL_ORDER: [ModelKind; 10] = [
    ModelKind::Ilstm,
    ModelKind::Inode,
    ModelKind::Iss,
    ModelKind::Blstm,
    ModelKind::Bnode,
    ModelKind::DropoutLstm,
    ModelKind::DropoutNode,
    ModelKind::EnsembleLstm,
    ModelKind::EnsembleNode,
    ModelKind::Arx,
];

/// Which models a table compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TableKind {
    /// Interval networks trained in cascade.
    Cascade,
    /// Interval networks trained jointly.
    Joint,
    /// The other models.
    Baselines,
    /// Searches.
    Auto,
}

/// A model in a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// Heading, such as `C-ILSTM-2 (abs)` or `BNODE`: the names of figures and pages.
    pub label: String,
    /// Model, or the search.
    pub model: StudyModel,
    /// Strategy, of interval networks.
    pub strategy: Option<Strategy>,
    /// Margin function, of interval networks.
    pub margin: Option<MarginActivation>,
}

/// Mean over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SeedSummary {
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation (n - 1); none of a single seed.
    pub std: Option<f64>,
    /// Seeds with a value.
    pub n: usize,
}

/// How a mean compares with the printed one.
///
/// For RMSE, PINAW and CWC less is better. PICP is right within two points of the coverage asked, whatever was printed: a band that
/// holds 99 % where 90 % were asked is not what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// At least as good as the printed mean.
    Better,
    /// Worse, by no more than one printed standard deviation.
    Within,
    /// Worse by more.
    Worse,
    /// Of PICP alone: more than two points above what was asked.
    Wide,
}

/// Points of PICP around the coverage that are right.
const RIGHT_COVERAGE: f64 = 2.0;

/// One metric of one model on one data set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TableCell {
    /// Ours, in the paper's units; none if no run has a value.
    pub ours: Option<SeedSummary>,
    /// The paper's.
    pub published: Option<Published>,
    /// The comparison with the paper, where there are both; of PICP with what was asked.
    pub mark: Option<Mark>,
    /// Runs that are not done.
    pub missing: usize,
    /// Runs that failed.
    pub failed: usize,
    /// Finished runs without a value whose simulation diverged. Others may have none either: a width has no share of a range where the
    /// measured outputs have none.
    pub diverged: usize,
    /// Whether its values are in a unit of which nothing is known, so that digits are counted from the first.
    #[serde(skip)]
    pub(crate) has_own_unit: bool,
}

/// One metric on one data set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Data set.
    pub dataset: String,
    /// Metric.
    pub metric: TableMetric,
    /// What its numbers are: `100·RMSE` of the paper's data sets, as the paper prints it, but `RMSE` of others; of several outputs, what
    /// stands for them, such as `PICP % (worst output)`.
    pub quantity: &'static str,
    /// Whether its data set has several outputs.
    #[serde(skip)]
    pub(crate) several_outputs: bool,
    /// One per column.
    pub cells: Vec<TableCell>,
}

/// Models of one kind at one coverage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// Which models.
    pub kind: TableKind,
    /// Coverage asked.
    pub coverage: f64,
    /// Models.
    pub columns: Vec<Column>,
    /// Of interval networks: the coverage that each was trained for, which a `miss_factor` below 1 raises above the one asked.
    pub trained_for: Vec<TrainedFor>,
    /// Of searches: the models that were chosen.
    pub chosen: Vec<Chosen>,
    /// Data set by data set, metric by metric.
    pub rows: Vec<Row>,
}

/// What stands for the outputs of a data set that has several, in words.
const SEVERAL_OUTPUTS: &str = "Of several outputs, RMSE has no mean (–) since each has a unit of its own, PICP is that of the output that is \
                               inside least often, PINAW and CWC are means.";

/// What the models of a table were trained for on one data set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrainedFor {
    /// Data set.
    pub dataset: String,
    /// One per column.
    pub coverages: Vec<f64>,
}

/// All tables of a study.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyTables {
    /// Title of the study.
    pub name: String,
    /// Seeds of the study.
    pub seeds: usize,
    /// Versions of the program that did its runs, sorted: more than one may not be comparable.
    pub versions: Vec<String>,
    /// Cascade, joint, baselines, searches, each at every coverage; without those that would be empty.
    pub tables: Vec<Table>,
    /// Interval networks beside the paper, one per coverage; empty if the paper has none of the study's cells.
    pub scoreboards: Vec<Scoreboard>,
}

/// The tables of the study in a folder.
///
/// # Errors
/// If the folder holds no study, or its database is damaged.
pub fn study_tables(folder: impl AsRef<Path>) -> Result<StudyTables> {
    let store = Store::open(folder)?;
    Ok(tables_of_records(&store.spec()?, &store.runs()?))
}

/// The tables of a study from its records; runs without a record are missing.
#[must_use]
pub fn tables_of_records(spec: &Spec, records: &[RunRecord]) -> StudyTables {
    let states: HashMap<String, &RunState> = records
        .iter()
        .map(|record| (record.cell.to_string(), &record.state))
        .collect();
    let have_several: HashSet<&str> = records
        .iter()
        .filter(|record| record.result().is_some_and(|result| result.test.has_several_outputs()))
        .map(|record| record.cell.dataset.as_str())
        .collect();
    let mut tables = Vec::new();
    for kind in TableKind::ALL {
        let columns = kind.columns(spec);
        if columns.is_empty() {
            continue;
        }
        for &coverage in &spec.coverages {
            let rows = spec.datasets.iter().flat_map(|dataset| {
                let several_outputs = have_several.contains(dataset.as_str());
                TableMetric::ALL.map(|metric| Row {
                    dataset: dataset.clone(),
                    metric,
                    quantity: match several_outputs {
                        true => metric.label_of_several(),
                        false => metric.label(dataset),
                    },
                    several_outputs,
                    cells: columns
                        .iter()
                        .map(|column| TableCell::new(spec, &states, dataset, column, coverage, metric))
                        .collect(),
                })
            });
            tables.push(Table {
                kind,
                coverage,
                trained_for: trained_for(spec, kind, &columns, coverage),
                chosen: chosen(spec, kind, records, coverage),
                rows: rows.collect(),
                columns: columns.clone(),
            });
        }
    }
    let scoreboards = spec.coverages.iter().map(|&coverage| {
        let tables = tables.iter().filter(|table| same_coverage(table.coverage, coverage));
        Scoreboard::new(coverage, tables)
    });
    let done = records.iter().filter(|record| record.result().is_some());
    let versions: BTreeSet<&String> = done.map(|record| &record.version).collect();
    StudyTables {
        versions: versions.into_iter().cloned().collect(),
        scoreboards: scoreboards.filter(|board| board.cells > 0).collect(),
        name: spec.name.clone(),
        seeds: spec.seeds.len(),
        tables,
    }
}

impl StudyTables {
    /// What stands for the outputs of data sets that have several, in words; none if no data set has.
    #[must_use]
    pub fn of_several_outputs(&self) -> Option<&'static str> {
        let mut rows = self.tables.iter().flat_map(|table| &table.rows);
        rows.any(|row| row.several_outputs).then_some(SEVERAL_OUTPUTS)
    }
}

fn trained_for(spec: &Spec, kind: TableKind, columns: &[Column], coverage: f64) -> Vec<TrainedFor> {
    if kind.strategy().is_none() {
        return Vec::new();
    }
    let seed = spec.seeds.first().copied().unwrap_or_default();
    let one = |dataset: &String| {
        let configs = columns
            .iter()
            .map(|column| spec.config(&column.cell(dataset, coverage, seed)));
        // A study whose settings cannot be resolved was refused when it was read.
        let trained = |config: &RunConfig| config.one().map_or(coverage, FitConfig::trained_coverage);
        let coverages = configs.map(|config| config.map_or(coverage, |config| trained(&config)));
        TrainedFor {
            dataset: dataset.clone(),
            coverages: coverages.collect(),
        }
    };
    spec.datasets.iter().map(one).collect()
}

impl TableKind {
    /// In the order of tables.
    pub(crate) const ALL: [Self; 4] = [Self::Cascade, Self::Joint, Self::Baselines, Self::Auto];

    /// How its interval networks are trained; none where there are no such.
    fn strategy(self) -> Option<Strategy> {
        match self {
            Self::Cascade => Some(Strategy::Cascade),
            Self::Joint => Some(Strategy::Joint),
            Self::Baselines | Self::Auto => None,
        }
    }

    /// In words, for titles.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Cascade => "Interval networks, cascade",
            Self::Joint => "Interval networks, joint",
            Self::Baselines => "Baselines",
            Self::Auto => "Searches (auto)",
        }
    }

    fn columns(self, spec: &Spec) -> Vec<Column> {
        let is_there = |model: &StudyModel| spec.models.contains(model);
        if self == Self::Auto {
            let auto = Some(StudyModel::Auto).filter(is_there);
            return auto.map(|model| Column::new(model, None)).into_iter().collect();
        }
        let mut columns = Vec::new();
        for model in MODEL_ORDER.map(StudyModel::from).into_iter().filter(is_there) {
            match (model.has_strategy(), self.strategy()) {
                (true, Some(strategy)) if spec.strategies.contains(&strategy) => {
                    let mut margins = vec![MarginActivation::Relu, MarginActivation::Abs];
                    margins.retain(|margin| spec.margins.contains(margin));
                    columns.extend(
                        margins
                            .into_iter()
                            .map(|margin| Column::new(model, Some((strategy, margin)))),
                    );
                }
                (false, None) => columns.push(Column::new(model, None)),
                _ => {}
            }
        }
        columns
    }
}

impl Column {
    fn new(model: StudyModel, training: Option<(Strategy, MarginActivation)>) -> Self {
        let (strategy, margin) = training.unzip();
        let name = model_label(model, strategy, margin);
        Self {
            label: margin.map_or_else(|| name.clone(), |margin| format!("{name} ({})", margin.name())),
            model,
            strategy,
            margin,
        }
    }

    /// A run of this model.
    fn cell(&self, dataset: &str, coverage: f64, seed: u64) -> Cell {
        Cell {
            dataset: dataset.to_owned(),
            model: self.model,
            strategy: self.strategy,
            margin: self.margin,
            coverage,
            seed,
        }
    }
}

impl TableCell {
    fn new(
        spec: &Spec,
        states: &HashMap<String, &RunState>,
        dataset: &str,
        column: &Column,
        coverage: f64,
        metric: TableMetric,
    ) -> Self {
        let &Column {
            model,
            strategy,
            margin,
            ..
        } = column;
        let mut cell = Self {
            has_own_unit: metric == TableMetric::Rmse && !is_in_paper(dataset),
            published: published(dataset, model, strategy, margin, coverage, metric),
            ..Self::default()
        };
        let mut values = Vec::new();
        for &seed in &spec.seeds {
            match states.get(&column.cell(dataset, coverage, seed).to_string()) {
                None => cell.missing += 1,
                Some(RunState::Failed { .. }) => cell.failed += 1,
                Some(RunState::Done(result)) => match metric.of(&result.test.judged(), dataset) {
                    Some(value) => values.push(value),
                    None => cell.diverged += usize::from(result.test.all.diverged_at.is_some()),
                },
            }
        }
        cell.ours = SeedSummary::of(&values);
        cell.mark = cell
            .ours
            .and_then(|ours| Mark::new(metric, ours.mean, cell.published, coverage));
        cell
    }
}

impl SeedSummary {
    /// Of the values of all seeds; none of no values.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            mean,
            std: (n > 1).then(|| (squares / (n - 1) as f64).sqrt()),
            n,
        })
    }
}

impl Mark {
    /// None where there is nothing to compare with; PICP has what was asked.
    fn new(metric: TableMetric, ours: f64, published: Option<Published>, coverage: f64) -> Option<Self> {
        if metric == TableMetric::Picp {
            return Some(match ours - 100.0 * coverage {
                above if above > RIGHT_COVERAGE => Self::Wide,
                below if below >= -RIGHT_COVERAGE => Self::Better,
                _ if published.is_some_and(|Published { mean, std }| ours >= mean - std) => Self::Within,
                _ => Self::Worse,
            });
        }
        let Published { mean, std } = published?;
        Some(match ours {
            ours if ours <= mean => Self::Better,
            ours if ours <= mean + std => Self::Within,
            _ => Self::Worse,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_those_of_a_sample() {
        // 2, 4, 9: mean 5, squares 9 + 1 + 16 = 26, std √13.
        let summary = SeedSummary::of(&[2.0, 4.0, 9.0]).unwrap();
        assert!((summary.mean - 5.0).abs() < 1e-12 && (summary.std.unwrap() - 13_f64.sqrt()).abs() < 1e-12);
        assert_eq!(SeedSummary::of(&[2.0]).unwrap().std, None);
        assert_eq!(SeedSummary::of(&[]), None);
    }

    #[test]
    fn marks_follow_their_definition() {
        let published = Published { mean: 88.0, std: 1.0 };
        let rmse = |ours| Mark::new(TableMetric::Rmse, ours, Some(published), 0.9).unwrap();
        assert_eq!([88.0, 88.5, 89.5].map(rmse), [Mark::Better, Mark::Within, Mark::Worse]);
        assert_eq!(Mark::new(TableMetric::Rmse, 88.0, None, 0.9), None);
        // Asked 90: two points either way are right, more is wide; printed 88 ± 1.
        let picp = |ours| Mark::new(TableMetric::Picp, ours, Some(published), 0.9).unwrap();
        assert_eq!(
            [99.0, 92.1, 91.9, 88.1, 87.5, 86.0].map(picp),
            [
                Mark::Wide,
                Mark::Wide,
                Mark::Better,
                Mark::Better,
                Mark::Within,
                Mark::Worse
            ]
        );
        // Where nothing was printed, only what was asked counts.
        let alone = |ours| Mark::new(TableMetric::Picp, ours, None, 0.9).unwrap();
        assert_eq!([92.1, 91.9, 87.5].map(alone), [Mark::Wide, Mark::Better, Mark::Worse]);
    }
}
