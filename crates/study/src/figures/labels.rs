//! Names of models and files.

use intervalid_model::{MarginActivation, Method, ModelKind, Strategy};

use crate::cell::{Cell, same_coverage};
use crate::record::RunRecord;
use crate::study_model::StudyModel;

/// As the paper names its models: `C-ILSTM-1`, with 1 for relu and 2 for abs; baselines by their own names.
#[must_use]
pub fn of(cell: &Cell) -> String {
    name(cell.model, cell.strategy, cell.margin)
}

/// As [`of`], of a model that is no cell of a study.
#[must_use]
pub fn name(model: StudyModel, strategy: Option<Strategy>, margin: Option<MarginActivation>) -> String {
    let strategy = match strategy {
        Some(Strategy::Cascade) => "C-",
        Some(Strategy::Joint) => "J-",
        None => "",
    };
    let margin = match margin {
        Some(MarginActivation::Relu) => "-1",
        Some(MarginActivation::Abs) => "-2",
        None => "",
    };
    let name = match model {
        StudyModel::Auto => model.name().to_owned(),
        StudyModel::One(kind) => kind_name(kind),
    };
    format!("{strategy}{name}{margin}")
}

/// As the paper names its models, without strategy and margins.
#[must_use]
pub fn kind_name(kind: ModelKind) -> String {
    match kind {
        ModelKind::Inode | ModelKind::Ilstm | ModelKind::Iss | ModelKind::Arx | ModelKind::Bnode | ModelKind::Blstm => {
            kind.name().to_uppercase()
        }
        ModelKind::DropoutNode => "MC-NODE".to_owned(),
        ModelKind::DropoutLstm => "MC-LSTM".to_owned(),
        ModelKind::EnsembleNode => "DE-NODE".to_owned(),
        ModelKind::EnsembleLstm => "DE-LSTM".to_owned(),
    }
}

/// The colour of searches.
pub(super) const AUTO: usize = 6;

/// One colour per way to an interval.
pub(super) fn colour(cell: &Cell) -> usize {
    let Some(kind) = cell.model.kind() else {
        return AUTO;
    };
    match (kind.method(), cell.strategy) {
        (Method::Interval, Some(Strategy::Joint)) => 1,
        (Method::Interval, _) => 0,
        (Method::Bayesian, _) => 2,
        (Method::Dropout, _) => 3,
        (Method::Ensemble, _) => 4,
        (Method::Linear, _) => 5,
    }
}

/// Whether a run is of this data set and coverage.
pub(super) fn is_at(run: &RunRecord, dataset: &str, coverage: f64) -> bool {
    run.cell.dataset == dataset && same_coverage(run.cell.coverage, coverage)
}

pub(super) fn percent(coverage: f64) -> String {
    // As many digits as needed: 90 %, 97.5 %.
    let text = format!("{:.2}", 100.0 * coverage);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

pub(super) fn share(coverage: f64) -> String {
    // Two digits at least: 0.90, 0.95, 0.975.
    let text = coverage.to_string();
    if text.len() < 4 { format!("{coverage:.2}") } else { text }
}

/// Parts of a file's name, with nothing in it that a file system would mind.
pub(super) fn file(parts: &[&str]) -> String {
    let clean = |character: char| match character {
        'a'..='z' | '0'..='9' | '.' | '-' => character,
        'A'..='Z' => character.to_ascii_lowercase(),
        _ => '-',
    };
    parts.join("-").chars().map(clean).collect()
}

/// What files of a data set are called after: its own name, with a number where an earlier one of the study would be written alike.
/// It depends on the study alone, so that runs that come later rename nothing.
pub(super) fn file_of_dataset(dataset: &str, study: &[String]) -> String {
    let mut taken: Vec<String> = Vec::new();
    for other in study {
        let plain = file(&[other]);
        let numbered = (2..).map(|number| format!("{plain}-{number}"));
        let free = std::iter::once(plain.clone())
            .chain(numbered)
            .find(|name| !taken.contains(name));
        let free = free.expect("numbers do not end");
        if other == dataset {
            return free;
        }
        taken.push(free);
    }
    file(&[dataset])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_paper() {
        let cell = Cell {
            dataset: "data/My Plant.csv".to_owned(),
            model: ModelKind::Ilstm.into(),
            strategy: Some(Strategy::Joint),
            margin: Some(MarginActivation::Abs),
            coverage: 0.9,
            seed: 1,
        };
        assert_eq!(of(&cell), "J-ILSTM-2");
        assert_eq!(
            file(&["boxes", &cell.dataset, &share(cell.coverage)]),
            "boxes-data-my-plant.csv-0.90"
        );
        assert_eq!((percent(0.9), percent(0.975)), ("90 %".to_owned(), "97.5 %".to_owned()));
    }

    #[test]
    fn data_sets_whose_names_look_alike_have_files_of_their_own() {
        let study = ["run_1.csv", "other.csv", "run-1.csv", "Run 1.csv", "run-1.csv-2"].map(str::to_owned);
        let files: Vec<String> = study.iter().map(|dataset| file_of_dataset(dataset, &study)).collect();
        assert_eq!(
            files,
            ["run-1.csv", "other.csv", "run-1.csv-2", "run-1.csv-3", "run-1.csv-2-2"]
        );
    }
}
