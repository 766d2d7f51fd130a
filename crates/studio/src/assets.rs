//! The page and its files, part of the program.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use intervalid_report::assets;

use crate::api_error::ApiError;

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// Everything the page asks for.
const FILES: [(&str, &str, &str); 24] = [
    ("uplot.js", SCRIPT, assets::UPLOT_SCRIPT),
    ("theme.js", SCRIPT, assets::THEME_SCRIPT),
    ("charts.js", SCRIPT, assets::CHARTS_SCRIPT),
    ("drawn.js", SCRIPT, assets::DRAWN_SCRIPT),
    ("uplot.css", STYLE, assets::UPLOT_STYLE),
    ("report.css", STYLE, assets::STYLE),
    ("studio.css", STYLE, include_str!("../assets/studio.css")),
    ("main.js", SCRIPT, include_str!("../assets/main.js")),
    ("api.js", SCRIPT, include_str!("../assets/api.js")),
    ("dom.js", SCRIPT, include_str!("../assets/dom.js")),
    ("plot.js", SCRIPT, include_str!("../assets/plot.js")),
    ("data.js", SCRIPT, include_str!("../assets/data.js")),
    ("chooser.js", SCRIPT, include_str!("../assets/chooser.js")),
    ("places.js", SCRIPT, include_str!("../assets/places.js")),
    ("prepare.js", SCRIPT, include_str!("../assets/prepare.js")),
    ("parts.js", SCRIPT, include_str!("../assets/parts.js")),
    ("fit.js", SCRIPT, include_str!("../assets/fit.js")),
    ("candidates.js", SCRIPT, include_str!("../assets/candidates.js")),
    ("fits.js", SCRIPT, include_str!("../assets/fits.js")),
    ("analysis.js", SCRIPT, include_str!("../assets/analysis.js")),
    ("compare.js", SCRIPT, include_str!("../assets/compare.js")),
    ("whatif.js", SCRIPT, include_str!("../assets/whatif.js")),
    ("takeaway.js", SCRIPT, include_str!("../assets/takeaway.js")),
    ("kinds.js", SCRIPT, include_str!("../assets/kinds.js")),
];

/// The page.
pub(crate) fn page() -> Response {
    let kind = "text/html; charset=utf-8";
    ([(CONTENT_TYPE, kind)], include_str!("../assets/index.html")).into_response()
}

/// A file of the page.
pub(crate) fn file(name: &str) -> Response {
    match FILES.iter().find(|(own, ..)| *own == name) {
        Some((_, kind, content)) => ([(CONTENT_TYPE, *kind)], *content).into_response(),
        None => ApiError::not_found("there is no such file").into_response(),
    }
}
