//! Which models searches chose.

use intervalid_model::ModelKind;
use serde::Serialize;

use super::build::TableKind;
use crate::cell::same_coverage;
use crate::figures::kind_name;
use crate::record::RunRecord;
use crate::spec::Spec;
use crate::study_model::StudyModel;

/// What searches chose on one data set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chosen {
    /// Data set.
    pub dataset: String,
    /// Most chosen first.
    pub models: Vec<ChosenModel>,
}

/// A model that searches chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ChosenModel {
    /// Its kind.
    pub model: ModelKind,
    /// Seeds whose search chose it.
    pub seeds: usize,
}

/// On every data set of a study at one coverage; nothing in tables of other models.
pub(super) fn chosen(spec: &Spec, kind: TableKind, records: &[RunRecord], coverage: f64) -> Vec<Chosen> {
    if kind != TableKind::Auto {
        return Vec::new();
    }
    let one = |dataset: &String| {
        let mut models: Vec<ChosenModel> = Vec::new();
        for record in records {
            let cell = &record.cell;
            let is_it =
                cell.model == StudyModel::Auto && cell.dataset == *dataset && same_coverage(cell.coverage, coverage);
            let Some(model) = record.fitted_model().filter(|_| is_it) else {
                continue;
            };
            match models.iter_mut().find(|known| known.model == model) {
                Some(known) => known.seeds += 1,
                None => models.push(ChosenModel { model, seeds: 1 }),
            }
        }
        models.sort_by_key(|chosen| std::cmp::Reverse(chosen.seeds));
        Chosen {
            dataset: dataset.clone(),
            models,
        }
    };
    spec.datasets.iter().map(one).collect()
}

impl Chosen {
    /// Such as `ISS 8, ARX 2`; a dash where nothing is done yet.
    #[must_use]
    pub fn text(&self) -> String {
        let named = |chosen: &ChosenModel| format!("{} {}", kind_name(chosen.model), chosen.seeds);
        match self.models.as_slice() {
            [] => "–".to_owned(),
            models => models.iter().map(named).collect::<Vec<_>>().join(", "),
        }
    }
}
