//! Pages in a real browser: they draw, ask for nothing, complain about nothing, and their controls work.
//!
//! Where no Chromium is installed these tests say so and check nothing; `cargo xtask test` reports that as a skipped step.

mod chromium;
mod pages;

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use intervalid_model::{ModelKind, Strategy};
use intervalid_report::Page;

use chromium::Tab;

/// How many figures there are of a kind, and how many of them have a picture with more than one colour.
const DRAWN: &str = "(() => {
  const figures = [...document.querySelectorAll('figure.chart')].filter((figure) => figure.checkVisibility());
  const painted = (figure) => {
    const canvas = figure.querySelector('canvas');
    if (!canvas || !canvas.width || !canvas.height) return false;
    const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return new Set(pixels).size > 8;
  };
  return { figures: figures.length, painted: figures.filter(painted).length };
})()";

struct Opened {
    tab: Tab,
    folder: PathBuf,
    name: &'static str,
}

impl Opened {
    /// Writes the page and opens it; `None` without a browser.
    #[expect(clippy::print_stderr, reason = "a test that checks nothing says so")]
    fn new(page: &Page, name: &'static str) -> Option<Self> {
        let Some(browser) = chromium::find() else {
            eprintln!("SKIPPED: no Chromium is installed, so the page `{name}` was not looked at");
            return None;
        };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join(format!("{name}.html"));
        std::fs::write(&file, page.to_html().expect("a page")).expect("a file");
        let mut tab = Tab::open(&browser);
        tab.resize(1200, 900, false);
        tab.load(&file);
        Some(Self { tab, folder, name })
    }

    /// Brings every chart of the open panels into view and checks that all have drawn.
    fn all_drawn(&mut self) {
        self.tab.evaluate("(async () => { for (const figure of document.querySelectorAll('figure.chart')) { figure.scrollIntoView(); await new Promise(requestAnimationFrame); } window.scrollTo(0, 0); })()");
        let visible = "[...document.querySelectorAll('figure.chart')].filter((figure) => figure.checkVisibility())";
        self.tab
            .wait(&format!("{visible}.every((figure) => figure.dataset.drawn)"));
        let drawn = self.tab.evaluate(DRAWN);
        assert!(drawn["figures"].as_u64() > Some(0), "{drawn}");
        assert_eq!(drawn["figures"], drawn["painted"], "every chart has drawn data");
    }

    /// No sideways scrolling: on phones too, only tables scroll, inside their frame.
    fn fits_its_window(&mut self) {
        let overflow = "[...document.querySelectorAll('main *')].filter((element) => element.checkVisibility() && \
             !element.closest('.scroll, pre, .u-over, .uplot') && \
             element.getBoundingClientRect().right > window.innerWidth + 1).map((element) => element.outerHTML.slice(0, 120))";
        assert_eq!(self.tab.evaluate(overflow), serde_json::json!([]));
        let canvases = "[...document.querySelectorAll('.uplot')].every((plot) => plot.getBoundingClientRect().right <= window.innerWidth + 1)";
        assert_eq!(self.tab.evaluate(canvases), true, "charts fit the window");
    }

    fn screenshot(&mut self, suffix: &str) {
        let png = BASE64_STANDARD.decode(self.tab.screenshot()).expect("base64");
        assert!(
            png.starts_with(b"\x89PNG") && png.len() > 10_000,
            "a picture with something on it"
        );
        let file = self.folder.join(format!("{}-{suffix}.png", self.name));
        std::fs::write(file, png).expect("a file");
    }

    /// Desktop and phone, light and dark: drawn, in bounds, kept as pictures.
    fn every_size_and_theme(&mut self) {
        self.all_drawn();
        self.fits_its_window();
        self.screenshot("desktop");
        let background = "getComputedStyle(document.body).backgroundColor";
        let light = self.tab.evaluate(background);
        self.tab.evaluate("document.getElementById('theme').click()");
        assert_ne!(self.tab.evaluate(background), light, "the other theme");
        self.all_drawn();
        self.screenshot("dark");
        self.tab.evaluate("document.getElementById('theme').click()");
        self.tab.resize(390, 844, true);
        // Charts are drawn again for the new width, after the window has stood still for a moment.
        self.tab.wait(
            "[...document.querySelectorAll('.uplot')].every((plot) => plot.getBoundingClientRect().width <= 390)",
        );
        self.all_drawn();
        self.fits_its_window();
        // A table that is cut says so.
        self.tab.wait(
            "[...document.querySelectorAll('.scroll')].filter((table) => table.checkVisibility()).every((table) => \
             table.hasAttribute('data-more') === (table.scrollWidth > table.clientWidth + 2))",
        );
        assert_eq!(
            self.tab
                .evaluate("document.querySelector('.scroll[data-more]') !== null"),
            true,
            "a phone is narrow"
        );
        self.screenshot("phone");
        self.tab.resize(1200, 900, false);
        self.tab
            .wait("[...document.querySelectorAll('.uplot')].some((plot) => plot.getBoundingClientRect().width > 390)");
    }

    /// Nothing but the file itself was asked for, and nobody complained.
    fn was_quiet(&mut self) {
        self.tab.evaluate("1");
        let own = format!("{}.html", self.name);
        let others: Vec<&String> = self
            .tab
            .requests
            .iter()
            .filter(|url| !(url.starts_with("file://") && url.split('#').next().is_some_and(|url| url.ends_with(&own))))
            .filter(|url| !url.starts_with("data:"))
            .collect();
        assert!(others.is_empty(), "the page asked for {others:?}");
        assert!(self.tab.complaints.is_empty(), "{:#?}", self.tab.complaints);
    }
}

/// Every view draws; a band and the unit circle are one entry of a legend each, and a click on it takes both edges away.
#[test]
fn an_analysis() {
    let Some(mut opened) = Opened::new(&pages::analysis(), "analysis") else {
        return;
    };
    opened.every_size_and_theme();
    opened.all_drawn();
    let names = "[...document.querySelectorAll('.u-legend .u-label')].filter((label) => label.checkVisibility())\
         .map((label) => label.textContent)";
    let found = opened.tab.evaluate(names);
    let found: Vec<&str> = found
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|name| name.as_str())
        .collect();
    for wanted in ["unit circle", "band", "poles", "zeros"] {
        assert!(found.contains(&wanted), "{wanted} in {found:?}");
    }
    let edges: Vec<&&str> = found
        .iter()
        .filter(|name| name.ends_with(" upper") || name.ends_with(" lower"))
        .collect();
    assert!(edges.is_empty(), "{edges:?}");
    let circle =
        "[...document.querySelectorAll('.u-legend .u-series')].find((row) => row.textContent.includes('unit circle'))";
    opened.tab.evaluate(&format!("{circle}.querySelector('th').click()"));
    opened.tab.wait(&format!(
        "{circle}.classList.contains('u-off') && {circle}.nextElementSibling.classList.contains('u-off')"
    ));
    opened.was_quiet();
}

#[test]
fn a_fit() {
    let page = pages::fit(&pages::hair_dryer(), ModelKind::Ilstm, Strategy::Joint);
    let Some(mut opened) = Opened::new(&page, "fit") else {
        return;
    };
    opened.every_size_and_theme();
    opened.all_drawn();
    for kind in ["band", "lines", "scatter", "bars", "heat"] {
        let count = opened.tab.evaluate(&format!(
            "document.querySelectorAll('figure[data-drawn={kind}]').length"
        ));
        assert!(count.as_u64() > Some(0), "a chart of kind {kind}");
    }

    // Nothing is said of a cursor that is not there.
    assert_eq!(
        opened.tab.evaluate(
            "[...document.querySelectorAll('.u-legend')].filter((legend) => legend.textContent.includes('–')).length"
        ),
        0
    );
    let key = "getComputedStyle(document.querySelector('.chart-scatter .u-legend tr:last-child')).visibility";
    assert_eq!(opened.tab.evaluate(key), "hidden");

    // The input and the error are drawn, and go with the output.
    assert_eq!(
        opened
            .tab
            .evaluate("document.querySelectorAll('#part-test figure[data-drawn=input]').length"),
        1
    );
    assert_eq!(
        opened
            .tab
            .evaluate("document.querySelectorAll('#part-test .chart-band .track').length"),
        1
    );
    let tracks =
        "[...document.querySelectorAll('#part-test .track canvas')].map((canvas) => canvas.toDataURL()).join()";
    let tracks_before = opened.tab.evaluate(tracks);

    // Dragging zooms, a double click shows all again, buttons do both.
    let shown = "(() => { const labels = document.querySelector('#part-test .u-over').getBoundingClientRect(); \
                 return [labels.left, labels.top, labels.width, labels.height]; })()";
    opened
        .tab
        .evaluate("document.querySelector('#part-test figure').scrollIntoView({block: 'center'})");
    let area: Vec<f64> = serde_json::from_value(opened.tab.evaluate(shown)).expect("four numbers");
    let at = |share: f64| (area[0] + share * area[2], area[1] + area[3] / 2.0);
    let picture = "document.querySelector('#part-test canvas').toDataURL()";
    // The cursor must not be in the way of comparing pictures: it is not drawn on the canvas.
    let whole = opened.tab.evaluate(picture);
    opened.tab.drag(at(0.3), at(0.5));
    opened.tab.wait(&format!("{picture} !== {whole}"));
    opened.tab.wait(&format!(
        "{tracks}.split('data:').every((picture) => !picture || !{tracks_before}.includes(picture))"
    ));
    let zoomed = opened.tab.evaluate(picture);
    opened
        .tab
        .evaluate("document.querySelector('#part-test [title=\"Later\"]').click()");
    opened.tab.wait(&format!("{picture} !== {zoomed}"));
    opened
        .tab
        .evaluate("document.querySelector('#part-test [title=\"Whole record\"]').click()");
    opened.tab.wait(&format!("{picture} === {whole}"));

    // Tabs show their part, which then draws.
    opened
        .tab
        .evaluate("document.querySelector('[data-tab=part-training]').click()");
    opened
        .tab
        .wait("document.querySelector('#part-training figure').dataset.drawn === 'band'");
    assert_eq!(opened.tab.evaluate("document.getElementById('part-test').hidden"), true);
    // As many marks as samples outside.
    let outside = "JSON.parse(document.querySelector('#part-test figure script').textContent).outside.length";
    let inside = "parseFloat(document.querySelector('#metrics tbody tr').children[5].textContent)";
    let (outside, inside) = (opened.tab.evaluate(outside), opened.tab.evaluate(inside));
    let expected = 499.0 * (1.0 - inside.as_f64().expect("a share") / 100.0);
    assert!(
        (outside.as_f64().expect("a number") - expected).abs() < 0.6,
        "{outside} {expected}"
    );

    // On paper every part is there, on white.
    let pdf = opened
        .tab
        .call("Page.printToPDF", serde_json::json!({"printBackground": true}));
    assert!(
        pdf["data"].as_str().is_some_and(|data| data.len() > 50_000),
        "a printed report"
    );
    opened.was_quiet();
}

#[test]
fn a_fit_with_several_channels() {
    let page = pages::fit(&pages::coupled(), ModelKind::Inode, Strategy::Cascade);
    let Some(mut opened) = Opened::new(&page, "channels") else {
        return;
    };
    opened.every_size_and_theme();
    // Errors of outputs with different units have no mean.
    let mean = "[...[...document.querySelectorAll('#metrics tbody tr')].find((row) => row.children[1].textContent === 'all (mean)').children].map((cell) => cell.textContent)";
    let mean = opened.tab.evaluate(mean);
    assert_eq!((&mean[3], &mean[8]), (&"–".into(), &"–".into()), "{mean}");
    assert!(mean[4].as_str().is_some_and(|fit| fit.ends_with('%')), "{mean}");
    // A chart per output and input, and a choice between the experiments.
    let shown =
        "[...document.querySelectorAll('#part-test figure')].filter((figure) => figure.checkVisibility()).length";
    assert_eq!(opened.tab.evaluate(shown), 4);
    opened.tab.evaluate(
        "(() => { const choice = document.querySelector('[data-runs=part-test]'); choice.value = '1'; choice.dispatchEvent(new Event('change')); })()",
    );
    opened
        .tab
        .wait("document.querySelectorAll('#part-test [data-run=\"1\"] figure[data-drawn=band]').length === 2");
    opened.was_quiet();
}

#[test]
fn a_search() {
    // One page of a linear model that won, one of networks.
    if let Some(mut opened) = Opened::new(&pages::search(&pages::hair_dryer(), 1), "search-linear") {
        opened.every_size_and_theme();
        opened.was_quiet();
    }
    let Some(mut opened) = Opened::new(&pages::search(&pages::wiener(), 2), "search") else {
        return;
    };
    opened.every_size_and_theme();
    let chosen = opened
        .tab
        .evaluate("document.querySelectorAll('#search tr.chosen').length");
    assert_eq!(chosen, 1);
    let rows = opened
        .tab
        .evaluate("[...document.querySelectorAll('#metrics tbody th')].map((cell) => cell.textContent)");
    assert_eq!((&rows[0], &rows[1]), (&"test".into(), &"test, online band".into()));
    opened.was_quiet();
}

#[test]
fn a_comparison_has_a_linear_model() {
    let Some(mut opened) = Opened::new(&pages::comparison(), "compare") else {
        return;
    };
    opened.every_size_and_theme();
    let models = opened
        .tab
        .evaluate("[...document.querySelectorAll('#metrics tbody tr')].map((row) => row.children[1].textContent)");
    assert_eq!(models[0], "cascade INODE");
    assert_eq!(models[1], "ensemble-node");
    assert!(
        models[2].as_str().is_some_and(|name| name.starts_with("ARX")),
        "{models}"
    );
    // Both on one chart; a name hides a model and its band.
    let picture = "document.querySelector('.chart-overlay canvas').toDataURL()";
    assert_eq!(
        opened
            .tab
            .evaluate("document.querySelectorAll('figure[data-drawn=overlay]').length"),
        1
    );
    let both = opened.tab.evaluate(picture);
    opened
        .tab
        .evaluate("[...document.querySelectorAll('.chart-overlay .u-legend th')].find((name) => name.textContent.startsWith('ensemble')).click()");
    opened.tab.wait(&format!("{picture} !== {both}"));
    opened.was_quiet();
}

#[test]
fn a_study() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = pages::study(folder.path());
    let Some(mut opened) = Opened::new(&page, "study") else {
        return;
    };
    opened.every_size_and_theme();
    // A value leads to its runs.
    opened.tab.evaluate("document.querySelector('#tables td a').click()");
    opened
        .tab
        .wait("document.querySelector('details.group[open] figure').dataset.drawn === 'band'");
    let seeds = opened
        .tab
        .evaluate("document.querySelectorAll('details.group[open] .scroll tbody tr').length");
    assert_eq!(seeds, 2);
    // The search leaves what it names.
    opened.tab.evaluate(
        "(() => { const field = document.getElementById('filter'); field.value = 'arx'; field.dispatchEvent(new Event('input')); })()",
    );
    let left = "[...document.querySelectorAll('.group')].filter((group) => !group.hidden).map((group) => group.querySelector('summary').textContent)";
    let left = opened.tab.evaluate(left);
    assert_eq!(left, serde_json::json!(["hair-dryer, ARX, target 90 %"]));
    opened.was_quiet();
}

/// Markup and scripts where text is expected.
const HOSTILE: &str = "<img src=x onerror=\"window.hit=1\"><script>window.hit=1</script>'\"&";

/// Every text of a page made hostile, but for those that name a kind, a style, a model or hold numbers.
fn poison(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => text.push_str(HOSTILE),
        serde_json::Value::Array(values) => values.iter_mut().for_each(poison),
        serde_json::Value::Object(fields) => fields
            .iter_mut()
            .filter(|(name, _)| !["kind", "style", "model", "data", "tone", "version"].contains(&name.as_str()))
            .for_each(|(_, value)| poison(value)),
        _ => {}
    }
}

#[test]
fn hostile_data_stay_text() {
    let mut data: serde_json::Value =
        serde_json::from_str(include_str!("../fixtures/fit-0.1.0.json")).expect("an old page");
    let record = data["data"].take();
    poison(&mut data);
    data["data"] = record;
    data["data"]["channels"][0]["name"] = HOSTILE.into();
    let page = Page::from_json(&data.to_string()).expect("its form is right");
    assert!(page.to_html().expect("a page").matches("<script").count() > 5);
    let Some(mut opened) = Opened::new(&page, "hostile") else {
        return;
    };
    opened.all_drawn();
    // A legend of a heat map, its readout, and the legend again.
    opened
        .tab
        .evaluate("document.querySelector('.chart-heat').scrollIntoView()");
    opened
        .tab
        .wait("document.querySelector('.chart-heat .readout').textContent.includes('window.hit')");
    assert_eq!(opened.tab.evaluate("document.querySelectorAll('main img').length"), 0);
    assert_eq!(opened.tab.evaluate("String(window.hit)"), "undefined");
    opened.was_quiet();
    // What got into the page all the same would not run.
    opened.tab.evaluate(
        "(() => { const script = document.createElement('script'); script.textContent = 'window.hit = 1'; document.body.append(script); \
         const box = document.createElement('div'); box.innerHTML = '<img src=\"data:,\" onerror=\"window.hit=1\">'; document.body.append(box); })()",
    );
    opened
        .tab
        .evaluate("new Promise((resolve) => setTimeout(resolve, 200))");
    assert_eq!(opened.tab.evaluate("String(window.hit)"), "undefined");
}

#[test]
fn a_long_record_opens_at_its_worst() {
    let mut data: serde_json::Value =
        serde_json::from_str(include_str!("../fixtures/fit-0.1.0.json")).expect("an old page");
    let samples = 131_072_u32;
    let column = |scale: u32, shift: u32| {
        let steps = (0..samples).flat_map(|k| ((k * 7919 % scale + shift) as u16).to_le_bytes());
        serde_json::json!({"low": 0.0, "high": 1.0, "data": BASE64_STANDARD.encode(steps.collect::<Vec<u8>>())})
    };
    let charts = data["parts"][0]["runs"][0]["charts"].as_array_mut().expect("charts");
    charts.truncate(1);
    let chart = &mut charts[0];
    for (name, shift) in [
        ("measured", 20_000),
        ("prediction", 25_000),
        ("lower", 15_000),
        ("upper", 35_000),
    ] {
        chart[name] = column(9000, shift);
    }
    chart["online"] = serde_json::Value::Null;
    chart["x"] = serde_json::json!({"label": "sample", "start": 0.0, "step": 1.0});
    let bad = 98_304;
    let mut outside: Vec<u32> = (0..samples).step_by(1000).chain(bad..bad + 40).collect();
    outside.sort_unstable();
    outside.dedup();
    chart["outside"] = serde_json::json!(outside);
    let page = Page::from_json(&data.to_string()).expect("a page");
    let Some(mut opened) = Opened::new(&page, "long") else {
        return;
    };
    opened
        .tab
        .evaluate("document.querySelector('#part-test figure').scrollIntoView()");
    opened
        .tab
        .wait("(document.querySelector('#part-test .overview .u-select') || document.body).style.width.endsWith('px')");
    let stretch = "(() => { const chosen = document.querySelector('#part-test .overview .u-select').getBoundingClientRect(); \
                   const all = document.querySelector('#part-test .overview .u-over').getBoundingClientRect(); \
                   return [(chosen.left - all.left) / all.width, chosen.width / all.width, all.left, all.top, all.width, all.height]; })()";
    let found: Vec<f64> = serde_json::from_value(opened.tab.evaluate(stretch)).expect("six numbers");
    assert!((found[0] - 0.75).abs() < 0.02 && found[1] < 0.03, "{found:?}");
    opened.every_size_and_theme();
    // Brushing the overview moves the plot above.
    opened
        .tab
        .evaluate("document.querySelector('#part-test .overview').scrollIntoView({block: 'center'})");
    let area: Vec<f64> = serde_json::from_value(opened.tab.evaluate(stretch)).expect("six numbers");
    let picture = "document.querySelector('#part-test canvas').toDataURL()";
    let before = opened.tab.evaluate(picture);
    let at = |share: f64| (area[2] + share * area[4], area[3] + area[5] / 2.0);
    opened.tab.drag(at(0.2), at(0.3));
    opened.tab.wait(&format!("{picture} !== {before}"));
    let found: Vec<f64> = serde_json::from_value(opened.tab.evaluate(stretch)).expect("six numbers");
    assert!(
        (found[0] - 0.2).abs() < 0.02 && (found[1] - 0.1).abs() < 0.02,
        "{found:?}"
    );
    opened.was_quiet();
}
