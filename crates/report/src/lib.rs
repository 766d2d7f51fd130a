//! Reports: one self-contained page for a fit, a comparison of fits, a study, the analysis of a model, or a model in use.
//!
//! A [`Page`] is data first: what was simulated, measured and computed is put together once, where it is known, and kept
//! beside the results; the page is written from it and computes nothing of its own. Charts are drawn in the reader's browser by
//! [uPlot](https://github.com/leeoniya/uPlot), which is part of the file, so a page opens offline and asks for nothing.
//!
//! | page | from |
//! |---|---|
//! | [`fit_page`] | a model, its record, and its simulations of the parts |
//! | [`compare_page`] | the pages of several fits |
//! | [`study_page`] | the folder of a study |
//! | [`analysis_page`] | the views of a model |
//! | [`analysis_overlay`] | the same views of several models |
//! | [`Card`] | a model and the files of its fit |
//! | [`monitor_page`] | what a monitor says of a model in use |

mod analysis;
pub mod assets;
mod card;
mod chart;
mod check;
mod column;
mod compare;
mod error;
mod fit;
pub mod folder;
mod monitor;
mod page;
mod study;
mod table;
mod text;
mod thin;

pub use analysis::{AnalysisReport, NamedAnalysis, analysis_overlay, analysis_page};
pub use card::{Card, CardSection, CardSource};
pub use compare::{Comparison, compare_page, linear_baseline};
pub use error::{ReportError, Result};
pub use fit::{FitReport, fit_page, model_in_words};
pub use monitor::{MonitorPage, monitor_page};
pub use page::Page;
pub use study::study_page;
pub use table::metric_texts;
pub use text::{
    CoverageVerdict, MeasuredCoverage, asked, asked_beside, count, independent_share, percent, reading, significant,
    together_reading,
};
