//! The studio in a real browser, from a recording to C code, through a restart.
//!
//! Where no Chromium is installed this test says so and checks nothing; `cargo xtask test` reports that as a skipped step.

#[expect(dead_code, reason = "written for pages that are files; shared as it is")]
#[path = "../../../report/tests/browser/chromium.rs"]
mod chromium;
mod meanwhile;
mod prepare;

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use intervalid_studio::{Studio, StudioConfig};
use serde_json::{Value, json};

use chromium::Tab;

/// A browser with a studio behind it.
struct Session {
    tab: Tab,
    studio: Option<Studio>,
    folder: tempfile::TempDir,
}

impl Session {
    #[expect(clippy::print_stderr, reason = "a test that checks nothing says so")]
    fn new() -> Option<Self> {
        let Some(browser) = chromium::find() else {
            eprintln!("SKIPPED: no Chromium is installed, so the studio was not looked at");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let mut tab = Tab::open(&browser);
        tab.resize(1400, 1000, false);
        let mut session = Self {
            tab,
            studio: None,
            folder,
        };
        session.restart();
        Some(session)
    }

    /// Starts the studio, anew if it runs, and opens its link.
    fn restart(&mut self) {
        self.studio = None;
        let studio = Studio::start(StudioConfig::new(self.folder.path().join("workspace"))).expect("it starts");
        let link = studio.link();
        self.studio = Some(studio);
        self.tab.call("Page.navigate", json!({ "url": link }));
        self.tab
            .wait("document.querySelector('[data-record=\"hair-dryer\"]') !== null");
        assert_eq!(
            self.tab.evaluate("location.search"),
            "",
            "the token is gone from the address"
        );
    }

    fn click(&mut self, selector: &str) {
        self.tab
            .wait(&format!("document.querySelector({}) !== null", json!(selector)));
        self.tab
            .evaluate(&format!("document.querySelector({}).click()", json!(selector)));
    }

    /// Gives a field a value, as a user does.
    fn set(&mut self, selector: &str, value: &str) {
        self.tab.evaluate(&format!(
            "(() => {{ const field = document.querySelector({}); field.value = {}; \
             for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, {{ bubbles: true }})); }})()",
            json!(selector),
            json!(value)
        ));
    }

    fn place(&mut self, selector: &str) -> (f64, f64, f64, f64) {
        self.tab.evaluate(&format!(
            "document.querySelector({}).scrollIntoView({{ block: 'center' }})",
            json!(selector)
        ));
        let found = self.tab.evaluate(&format!(
            "(() => {{ const box = document.querySelector({}).getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; }})()",
            json!(selector)
        ));
        let number = |index: usize| found[index].as_f64().expect("a place");
        (number(0), number(1), number(2), number(3))
    }

    fn upload(&mut self, file: &Path) {
        let document = self.tab.call("DOM.getDocument", json!({}));
        let found = self.tab.call(
            "DOM.querySelector",
            json!({ "nodeId": document["root"]["nodeId"], "selector": "#upload" }),
        );
        let files = json!({ "files": [file.display().to_string()], "nodeId": found["nodeId"] });
        self.tab.call("DOM.setFileInputFiles", files);
    }

    fn screenshot(&mut self, name: &str) {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("studio");
        std::fs::create_dir_all(&folder).expect("a folder");
        let png = BASE64_STANDARD.decode(self.tab.screenshot()).expect("base64");
        assert!(
            png.starts_with(b"\x89PNG") && png.len() > 8_000,
            "{name}: a picture with something on it"
        );
        std::fs::write(folder.join(format!("{name}.png")), png).expect("a file");
    }

    /// Nothing stands out of the window sideways; tables scroll in their frame.
    fn fits_its_window(&mut self, name: &str) {
        let overflow = "[...document.querySelectorAll('main *')].filter((element) => element.checkVisibility() && \
             !element.closest('.scroll, pre, .u-over, .uplot, .handle') && \
             element.getBoundingClientRect().right > window.innerWidth + 1).map((element) => element.outerHTML.slice(0, 120))";
        assert_eq!(self.tab.evaluate(overflow), json!([]), "{name}");
    }

    /// Every field has a name for those who do not see it.
    fn is_labelled(&mut self, name: &str) {
        let nameless = "[...document.querySelectorAll('input, select, button, [role=slider]')].filter((control) => control.checkVisibility() && \
             !(control.labels && control.labels.length) && !control.getAttribute('aria-label') && !control.textContent.trim() && !control.title)\
             .map((control) => control.outerHTML.slice(0, 120))";
        assert_eq!(self.tab.evaluate(nameless), json!([]), "{name}");
    }

    fn painted(&mut self, selector: &str) {
        self.tab.wait(&format!(
            "[...document.querySelectorAll('{selector} canvas')].length > 0 && [...document.querySelectorAll('{selector} canvas')].every((canvas) => \
             new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size > 8)"
        ));
    }

    fn fit_names(&mut self) -> Value {
        self.tab
            .evaluate("[...document.querySelectorAll('#fits [data-fit]')].map((row) => row.dataset.fit)")
    }
}

/// Text that would be markup if anybody forgot to escape it.
const HOSTILE: &str = "<img src=x onerror='document.body.dataset.harmed=1'> & \"more\"";

/// Every view of an analysis, of two models.
fn views(session: &mut Session) {
    for (view, together) in [
        ("errors", true),
        ("steps", true),
        ("frequency", true),
        ("static", true),
        ("linear", false),
        ("width", false),
        ("next", false),
        ("elasticity", false),
    ] {
        session.click(&format!("[data-view={view}]"));
        session
            .tab
            .wait(&format!("document.querySelector('#view').dataset.shown === '{view}'"));
        let has_together = session
            .tab
            .evaluate("document.querySelector('#view > .analysis h3')?.textContent.includes('2 models') ?? false");
        assert_eq!(has_together, together, "{view}");
        // Linear models have no margins.
        if view != "elasticity" {
            session.painted("#view");
        }
        session.fits_its_window(view);
        session.screenshot(&format!("view-{view}"));
        session.is_labelled(view);
    }
    session.click("[data-view=simulation]");
    session.painted("#overlay");
}

/// A pin, a note that tries to be more than text, the bin and back.
fn remarks(session: &mut Session) {
    session.click("[data-fit=\"oven-auto\"] .pin");
    session
        .tab
        .wait("document.querySelector('#fits [data-fit]').dataset.fit === 'oven-auto'");
    session.click("[data-fit=\"oven-auto\"] [title='Name and note of']");
    session.set("dialog [name=note]", HOSTILE);
    session.screenshot("note");
    session.is_labelled("note");
    session.click("#save-remark");
    session
        .tab
        .wait("document.querySelector('[data-fit=\"oven-auto\"] .remark') !== null");
    session.click("[data-fit=\"oven-arx\"] [title=Delete]");
    session.tab.wait("document.querySelector('#bin') !== null");
    assert_eq!(session.fit_names(), json!(["oven-auto"]));
    session.screenshot("bin");
    session.click("#bin [aria-label='Bring oven-arx back']");
    session
        .tab
        .wait("document.querySelectorAll('#fits [data-fit]').length === 2");
    assert_eq!(
        session.tab.evaluate("document.body.dataset.harmed === undefined"),
        true,
        "a note is text"
    );
    session.painted("#overlay");
}

#[test]
fn several_files_and_keys_instead_of_the_mouse() {
    let Some(mut session) = Session::new() else {
        return;
    };
    for (name, samples) in [("first.csv", 300), ("second.csv", 200)] {
        let rows: Vec<String> = (0..samples).map(|k| format!("{},{}", k % 7, (k * k) % 11)).collect();
        let file = session.folder.path().join(name);
        std::fs::write(&file, format!("u,y\n{}\n", rows.join("\n"))).expect("written");
        session.upload(&file);
        session.tab.wait(&format!(
            "document.querySelector('#record h2')?.textContent === '{name}'"
        ));
    }
    session.click("[data-record=\"first.csv\"]");
    session
        .tab
        .wait("document.querySelector('[data-file=\"second.csv\"]') !== null");
    session.set("[data-file=\"second.csv\"]", "more");
    session.set("[data-unit=y]", "°C");
    session.set("[name=sample_time]", "0.25");
    session.click("#use");
    session.tab.wait(
        "document.querySelector('#samples')?.textContent.startsWith('500 samples in 2 experiments, one every 0.25 s')",
    );
    session
        .tab
        .wait("[...document.querySelectorAll('#tracks h3')].some((title) => title.textContent === 'output y [°C]')");
    session.painted("#tracks");
    session.screenshot("experiments");
    // A border by keys, the other as a number, while what the keys did is still on its way.
    session.tab.evaluate(
        "(() => { const send = window.fetch; let asked = 0; window.answered = 0; \
         window.fetch = async (url, ...rest) => { \
         if (!String(url).endsWith('/choice')) return send(url, ...rest); \
         if (asked++ === 0) await new Promise((done) => setTimeout(done, 500)); \
         const answer = await send(url, ...rest); window.answered++; return answer; }; })()",
    );
    session
        .tab
        .evaluate("document.querySelector('[data-border=\"0\"]').focus()");
    for kind in ["keyDown", "keyUp"] {
        let key = json!({ "type": kind, "key": "ArrowLeft", "code": "ArrowLeft", "windowsVirtualKeyCode": 37 });
        session.tab.call("Input.dispatchKeyEvent", key);
    }
    session
        .tab
        .wait("document.querySelector('#parts').textContent.startsWith('295 samples to train')");
    session.set("[data-end=\"1\"]", "80");
    session
        .tab
        .wait("document.querySelector('#parts').textContent.endsWith('100 to test.')");
    session
        .tab
        .wait("window.answered === 2 && !document.querySelector('.split').hasAttribute('aria-busy')");
    session.restart();
    session.click("[data-record=\"first.csv\"]");
    session.tab.wait(
        "document.querySelector('#parts')?.textContent === '295 samples to train, 105 to validate, 100 to test.'",
    );
    session
        .tab
        .wait("document.querySelector('#samples').textContent.includes('in 2 experiments')");
}

/// A million samples of two channels: panned with the mouse, frame by frame. Prints what it measured; promises only what no machine is too
/// slow for.
#[test]
#[expect(clippy::print_stderr, reason = "measured times are for reading")]
fn a_million_samples_are_panned() {
    let Some(mut session) = Session::new() else {
        return;
    };
    let samples: u32 = 1_000_000;
    let mut text = String::from("u,y\n");
    for k in 0..samples {
        text += &format!("{},{}\n", k % 5, (k / 1000) % 97);
    }
    std::fs::write(session.folder.path().join("workspace/long.csv"), text).expect("written");
    session
        .tab
        .wait("document.querySelector('[data-record=\"long.csv\"]') !== null");
    session.click("[data-record=\"long.csv\"]");
    session
        .tab
        .wait("document.querySelector('#tracks .plots')?.dataset.drawn === '0-1000000'");
    let (left, top, width, height) = session.place("#tracks .u-over");
    let middle = top + height / 2.0;
    session
        .tab
        .drag((left + width * 0.4, middle), (left + width * 0.6, middle));
    session
        .tab
        .wait("Number(document.querySelector('#tracks .plots').dataset.drawn.split('-')[0]) > 300000");
    let points = session
        .tab
        .evaluate("Math.max(...[...document.querySelectorAll('#tracks canvas')].map((canvas) => canvas.width))");
    assert!(points.as_u64() > Some(500));
    session.tab.evaluate(
        "window.frames_ = []; (function note(before) { requestAnimationFrame((now) => { window.frames_.push(now - before); note(now); }); })(performance.now())",
    );
    let event = |kind: &str, x: f64, buttons: u32| json!({ "type": kind, "x": x, "y": middle, "button": "left", "buttons": buttons, "modifiers": 8, "clickCount": 1 });
    let start = left + width * 0.9;
    session
        .tab
        .call("Input.dispatchMouseEvent", event("mouseMoved", start, 0));
    session
        .tab
        .call("Input.dispatchMouseEvent", event("mousePressed", start, 1));
    for step in 0..120 {
        let x = start - f64::from(step) * width * 0.005;
        session.tab.call("Input.dispatchMouseEvent", event("mouseMoved", x, 1));
    }
    session.tab.call(
        "Input.dispatchMouseEvent",
        event("mouseReleased", left + width * 0.3, 0),
    );
    let found = session.tab.evaluate(
        "(() => { const all = window.frames_.slice(1).sort((a, b) => a - b); return [all.length, all[Math.floor(all.length / 2)], all[Math.floor(0.95 * all.length)], all[all.length - 1]]; })()",
    );
    let number = |index: usize| found[index].as_f64().expect("a number");
    session
        .tab
        .wait("Number(document.querySelector('#tracks .plots').dataset.drawn.split('-')[0]) > 500000");
    session.painted("#tracks");
    let memory = std::fs::read_to_string("/proc/self/status").ok();
    let memory = memory
        .as_deref()
        .and_then(|text| text.lines().find(|line| line.starts_with("VmHWM")));
    eprintln!(
        "{} frames while panning: median {:.1} ms, 95 % within {:.1} ms, longest {:.1} ms; server and test {}",
        number(0),
        number(1),
        number(2),
        number(3),
        memory.unwrap_or("memory not known here")
    );
    assert!(number(0) > 30.0, "frames were drawn: {found}");
    let peak = memory.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    assert!(peak.is_none_or(|kilobytes| kilobytes < 500_000), "{memory:?}");
}

#[test]
fn from_a_recording_to_c_code() {
    let Some(mut session) = Session::new() else {
        return;
    };
    // A recording whose columns nobody can guess, and one that is broken.
    let dryer =
        intervalid_data::load(&["hair-dryer"], None, &intervalid_data::ReadOptions::default()).expect("built in");
    let experiment = &dryer.experiments()[0];
    let mut text = String::from("power,<b>note</b>,outlet\n");
    for (u, y) in experiment.input(0).iter().zip(experiment.output(0)) {
        text += &format!("{u},ok,{y}\n");
    }
    let file = session.folder.path().join("oven.csv");
    std::fs::write(&file, &text).expect("written");
    let bad = session.folder.path().join("bad.csv");
    std::fs::write(&bad, "u,y\n1,2\n3,four\n").expect("written");

    session.upload(&bad);
    session
        .tab
        .wait("document.querySelector('#problem tr.here td')?.textContent === '3,four'");
    session.screenshot("bad-file");
    session.upload(&file);
    session
        .tab
        .wait("document.querySelector('[data-column=\"outlet\"]')?.value === 'output'");
    assert_eq!(
        session
            .tab
            .evaluate("document.querySelector('[data-column=\"<b>note</b>\"]').value"),
        "none"
    );
    assert_eq!(
        session.tab.evaluate("document.querySelector('main b') === null"),
        true,
        "a name is text"
    );
    session.set("[name=sample_time]", "0.08");
    session.click("#use");
    session
        .tab
        .wait("[...document.querySelectorAll('#said p')].some((line) => line.textContent.includes('ready to fit'))");
    session.painted("#tracks");

    // Zooming asks for the stretch that is shown; dragging a border moves the parts, which are remembered.
    let (left, top, width, height) = session.place("#tracks .u-over");
    let middle = top + height / 2.0;
    session
        .tab
        .drag((left + width * 0.25, middle), (left + width * 0.5, middle));
    session
        .tab
        .wait("document.querySelector('#tracks .plots').dataset.drawn.startsWith('2')");
    let (left, top, width, height) = session.place("[data-border=\"0\"]");
    let bar = session.place(".split").2;
    let from = (left + width / 2.0, top + height / 2.0);
    session.tab.drag(from, (from.0 - bar * 0.1, from.1));
    session
        .tab
        .wait("document.querySelector('#parts').textContent.startsWith('500 samples to train')");
    session.screenshot("data");
    session.is_labelled("data");

    // A linear model, and the best that three seconds find.
    session.click("#tab-fit");
    session.click("[name=how][value=one]");
    session.set("#order [name=data]", "oven.csv");
    session.set("#order [name=lags]", "2,2,3");
    session.click("#start");
    session
        .tab
        .wait("document.querySelector('[data-job=\"oven-arx\"][data-status=done]') !== null");
    session.click("[name=how][value=auto]");
    session.set("#order [name=budget]", "0");
    session.click("#start");
    session
        .tab
        .wait("document.querySelector('[data-job=\"oven-auto\"][data-status=running]') !== null");
    session
        .tab
        .wait("document.querySelectorAll('.candidates tbody tr').length > 2");
    session.screenshot("fit");
    session.is_labelled("fit");
    session
        .tab
        .wait("document.querySelector('[data-job=\"oven-auto\"][data-status=done]') !== null");

    session.click("#tab-compare");
    session
        .tab
        .wait("document.querySelectorAll('#fits [data-fit]').length === 2");
    assert_eq!(session.fit_names(), json!(["oven-arx", "oven-auto"]));
    session.painted("#overlay");
    session
        .tab
        .wait("document.querySelector('#overlay .plots')?.dataset.drawn !== undefined");
    session.screenshot("compare");
    session.is_labelled("compare");
    views(&mut session);
    remarks(&mut session);

    session.click("#tab-whatif");
    session
        .tab
        .wait("Number(document.querySelector('#answer').dataset.samples) > 300");
    let before = session
        .tab
        .evaluate("document.querySelectorAll('#drawing tbody tr').length");
    let (left, top, width, height) = session.place("#drawing .u-over");
    let place = (left + width * 0.6, top + height * 0.3);
    session
        .tab
        .evaluate("delete document.querySelector('#answer').dataset.samples");
    session.tab.drag(place, place);
    session
        .tab
        .wait("Number(document.querySelector('#answer').dataset.samples) > 300");
    let after = session
        .tab
        .evaluate("document.querySelectorAll('#drawing tbody tr').length");
    assert_eq!(
        after.as_u64(),
        before.as_u64().map(|count| count + 1),
        "a click is a step"
    );
    session.painted("#answer");
    session.screenshot("whatif");
    session.is_labelled("whatif");

    session.click("#tab-takeaway");
    session.tab.wait("document.querySelector('#python') !== null");
    session.set("#takeaway-fit", "oven-arx");
    session
        .tab
        .wait("document.querySelector('#python').textContent.includes('ARX(')");
    let archive = session.tab.evaluate(
        "fetch(document.querySelector('[data-what=c]').href).then((answer) => answer.arrayBuffer()).then((bytes) => String.fromCharCode(...new Uint8Array(bytes).slice(0, 2)))",
    );
    assert_eq!(archive, "PK");
    session.screenshot("takeaway");
    session.is_labelled("takeaway");

    session.restart();
    session.click("#tab-compare");
    session
        .tab
        .wait("document.querySelectorAll('#fits [data-fit]').length === 2");
    assert_eq!(
        session.fit_names(),
        json!(["oven-auto", "oven-arx"]),
        "the pin is remembered"
    );
    let note = session
        .tab
        .evaluate("document.querySelector('[data-fit=\"oven-auto\"] .remark').textContent");
    assert_eq!(note, HOSTILE);
    session.click("#tab-fit");
    session
        .tab
        .wait("document.querySelectorAll('[data-status=done]').length === 2");
    session.click("#tab-data");
    session.click("[data-record=\"oven.csv\"]");
    session
        .tab
        .wait("document.querySelector('#parts')?.textContent.startsWith('500 samples to train')");

    // On a phone, and in the dark.
    session.tab.resize(390, 844, true);
    for name in ["data", "fit", "compare", "whatif", "takeaway"] {
        session.click(&format!("#tab-{name}"));
        std::thread::sleep(std::time::Duration::from_millis(400));
        session.fits_its_window(name);
        session.screenshot(&format!("phone-{name}"));
    }
    session.tab.resize(1400, 1000, false);
    session.click("#theme");
    for name in ["data", "compare", "whatif"] {
        session.click(&format!("#tab-{name}"));
        std::thread::sleep(std::time::Duration::from_millis(400));
        session.fits_its_window(name);
        session.screenshot(&format!("dark-{name}"));
    }
    let own = session.studio.as_ref().expect("running").address().to_string();
    let foreign: Vec<&String> = session
        .tab
        .requests
        .iter()
        .filter(|url| !url.starts_with("http://127.0.0.1:") && !url.starts_with("data:"))
        .collect();
    assert!(foreign.is_empty(), "{own} asked for {foreign:?}");
    // The first studio's stream of events ended when it was stopped, and reading pixels back is this test's own doing.
    let complaints: Vec<&String> = session
        .tab
        .complaints
        .iter()
        .filter(|line| !line.contains("/api/events") && !line.contains("willReadFrequently"))
        .collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
}
