//! `candidates.csv`: what a search tried.

use std::fmt::Write as _;

use intervalid_data::quote_csv;
use intervalid_search::SearchInfo;

/// Everything that was tried, the chosen one first. Empty cells are of candidates that left before they were tried on all blocks.
pub(super) fn candidates_csv(info: &SearchInfo) -> String {
    let mut text = String::from(
        "candidate,model,lags,parameters,rounds,score,rmse,coverage,width,seconds,chosen,forward,states,doubt\n",
    );
    let cell = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for candidate in &info.candidates {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{:.3},{},{},{},{}",
            quote_csv(&candidate.name),
            candidate.model,
            quote_csv(&candidate.lags.to_string()),
            candidate.parameters,
            candidate.rounds,
            cell(candidate.score),
            candidate.rmse,
            cell(candidate.coverage),
            cell(candidate.width),
            candidate.seconds,
            u8::from(candidate.chosen),
            cell(candidate.forward),
            candidate.states,
            cell(candidate.doubt)
        );
    }
    text
}
