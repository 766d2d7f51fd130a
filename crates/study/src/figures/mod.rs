//! Figures of a study, drawn from its database alone.

mod boxes;
mod elasticity;
mod labels;
mod snapshots;

use intervalid_figure::Figure;
use intervalid_model::{Elasticity, ModelKind};

use crate::error::Result;
use crate::store::Store;
use crate::study_model::StudyModel;

pub use boxes::{SeedBoxes, box_plots, seed_boxes};
pub use elasticity::{elasticity_bars, elasticity_heat_maps};
pub use labels::{kind_name, name as model_name, of as model_label};
pub use snapshots::snapshots;

/// The data set whose elasticity the paper shows.
const ELASTICITY_DATASET: &str = "mr-damper";

/// A figure and the name of its file, without ending.
pub struct NamedFigure {
    /// Such as `boxes-hair-dryer-0.90`.
    pub name: String,
    /// The drawing.
    pub figure: Figure,
}

/// All figures that the finished runs of a study allow: box plots per data set and coverage, snapshots of the first
/// seed's bands, and the elasticity of the first seed's interval networks on the MR damper (or on every data set, where
/// the study has none of that name).
///
/// # Errors
/// If the database cannot be read or a figure not be drawn.
pub fn study_figures(store: &Store) -> Result<Vec<NamedFigure>> {
    let mut figures = box_plots(store)?;
    figures.extend(snapshots(store)?);
    figures.extend(elasticities(store)?);
    Ok(figures)
}

fn elasticities(store: &Store) -> Result<Vec<NamedFigure>> {
    let spec = store.spec()?;
    let paper = spec.datasets.iter().any(|dataset| dataset == ELASTICITY_DATASET);
    let datasets = spec
        .datasets
        .iter()
        .filter(|dataset| !paper || *dataset == ELASTICITY_DATASET);
    let runs = store.runs()?;
    let mut figures = Vec::new();
    for dataset in datasets {
        let file = labels::file_of_dataset(dataset, &spec.datasets);
        for &coverage in &spec.coverages {
            let mut shown: Vec<(StudyModel, String, Elasticity)> = Vec::new();
            for run in runs.iter().filter(|run| {
                labels::is_at(run, dataset, coverage)
                    && run.cell.strategy.is_some()
                    && Some(&run.cell.seed) == spec.seeds.first()
            }) {
                let Some(model) = store.model(&run.key)? else {
                    continue;
                };
                let elasticity = Elasticity::of(&model)?;
                let label = labels::of(&run.cell);
                let title = format!("Elasticity: {label} on {dataset}, {}", labels::percent(coverage));
                figures.push(NamedFigure {
                    name: labels::file(&["elasticity", &file, &labels::share(coverage), &label]),
                    figure: elasticity_heat_maps(&title, &elasticity)?,
                });
                shown.push((run.cell.model, label, elasticity));
            }
            shown.sort_by(|(_, a, _), (_, b, _)| a.cmp(b));
            // A figure per network: their elasticities differ in size, and eight models are too many colours.
            for network in [ModelKind::Ilstm, ModelKind::Inode] {
                let own = shown.iter().filter(|(model, ..)| model.kind() == Some(network));
                let series: Vec<(&str, &Elasticity)> = own.map(|(_, name, e)| (name.as_str(), e)).collect();
                if series.is_empty() {
                    continue;
                }
                let title = format!("Channel-wise elasticity on {dataset}, {}", labels::percent(coverage));
                let share = labels::share(coverage);
                figures.push(NamedFigure {
                    name: labels::file(&["elasticity-channels", &file, &share, network.name()]),
                    figure: elasticity_bars(&title, &series)?,
                });
            }
        }
    }
    Ok(figures)
}
