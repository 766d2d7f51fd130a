//! Box plots over seeds, with the published values beside ours.

use intervalid_figure::BoxPanel;
use intervalid_study::figures::{SeedBoxes, seed_boxes};
use intervalid_study::{RunRecord, Spec};
use serde::{Deserialize, Serialize};

use crate::chart::{BoxGroup, BoxesChart, Chart, Reference};
use crate::column::rounded;
use crate::text::asked;

/// The four metrics of one data set and coverage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BoxesView {
    pub(crate) name: String,
    pub(crate) charts: Vec<Chart>,
}

pub(super) fn views(spec: &Spec, runs: &[RunRecord]) -> Vec<BoxesView> {
    let view = |boxes: SeedBoxes| BoxesView {
        name: format!("{}, {}", boxes.dataset, asked(boxes.coverage)),
        charts: boxes.plot.panels.into_iter().map(chart).collect(),
    };
    seed_boxes(spec, runs).into_iter().map(view).collect()
}

/// The panel of a figure as the page's script draws it.
fn chart(panel: BoxPanel) -> Chart {
    let group = |group: intervalid_figure::BoxGroup| BoxGroup {
        label: group.label,
        colour: group.colour,
        values: rounded(group.values),
        published: group.published.map(|value| [value.mean, value.standard_deviation]),
    };
    let reference = |target: intervalid_figure::Target| Reference {
        value: target.value,
        label: target.label,
    };
    Chart::Boxes(BoxesChart {
        y_label: panel.title.clone(),
        title: panel.title,
        groups: panel.groups.into_iter().map(group).collect(),
        references: panel.target.into_iter().map(reference).collect(),
        log: panel.log,
    })
}
