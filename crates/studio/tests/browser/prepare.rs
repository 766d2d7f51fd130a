//! A messy recording: refused where it is wrong, prepared by controls, drawn before and after, with its odd places marked.

use serde_json::json;

use crate::Session;

/// Missing samples, a spike, a sensor that sticks and one that drifts.
fn messy() -> String {
    let mut text = String::from("u,y\n");
    let mut level = 0.0;
    for k in 0..800_u32 {
        let u = f64::from(u8::from(k / 17 % 3 == 0)) + 0.1 * f64::from(k % 4);
        level = 0.9 * level + u + 0.01 * f64::from(k.wrapping_mul(2_654_435_761) >> 24) / 8.0;
        let y = level + 0.01 * f64::from(k);
        text += &match k {
            150 | 151 => format!("{u},\n"),
            400 => format!("{u},300\n"),
            550..650 => format!("{u},12.5\n"),
            _ => format!("{u},{y:.3}\n"),
        };
    }
    text
}

#[test]
fn a_messy_recording_is_prepared_before_the_eyes() {
    let Some(mut session) = Session::new() else {
        return;
    };
    let file = session.folder.path().join("messy.csv");
    std::fs::write(&file, messy()).expect("written");
    session.upload(&file);
    // The gap is refused at its line; the controls that fill it are at hand.
    session
        .tab
        .wait("document.querySelector('#problem tr.here th')?.textContent === '152'");
    session.set("#preparer [name=fill_gaps]", "3");
    session.click("#prepare");
    session
        .tab
        .wait("document.querySelector('#samples')?.textContent.startsWith('800 samples')");
    session.set("[data-clip=y]", "8");
    session.set("#preparer [name=decimate]", "2");
    session.click("[data-drift=y]");
    session.is_labelled("preparation");
    session.click("#prepare");
    session
        .tab
        .wait("document.querySelector('#samples')?.textContent.startsWith('400 samples')");
    let words = session
        .tab
        .evaluate("[...document.querySelectorAll('#prepared li')].map((line) => line.textContent.split(' ')[0])");
    assert_eq!(words, json!(["Gaps", "Spikes", "One", "A"]));
    session
        .tab
        .wait("document.querySelector('#tracks .plots')?.dataset.drawn === '0-400'");
    session.painted("#tracks");
    session.screenshot("prepared");

    // The recording as it was comes and goes.
    let ink = "(() => { const canvas = document.querySelectorAll('#tracks canvas')[1]; const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data; \
               let sum = 0; for (let at = 0; at < data.length; at += 4) sum += data[at + 3] > 0 ? data[at] : 0; return sum; })()";
    let both = session.tab.evaluate(ink);
    session.click("#before");
    session.tab.wait(&format!("{ink} !== {both}"));
    session.screenshot("prepared-alone");
    session.click("#before");

    // The odd places stand in a list, and on the tracks as buttons that say what they mark.
    let listed = session.tab.evaluate(
        "[...document.querySelectorAll('[data-listed]')].map((button) => button.querySelector('.kind').textContent)",
    );
    assert_eq!(
        listed,
        json!(["filled", "spike", "stands still"]),
        "{}",
        session.tab.evaluate("document.querySelector('#places').textContent")
    );
    let marked = session.tab.evaluate(
        "[...document.querySelectorAll('#tracks .place')].map((button) => [button.getAttribute('aria-label'), button.tabIndex])",
    );
    let marked = marked.as_array().expect("marks").clone();
    assert_eq!(marked.len(), 3, "{marked:?}");
    assert_eq!(
        marked[1],
        json!(["y: a spike of 1 sample from line 402 on was clipped", 0]),
        "reached by Tab, read aloud"
    );
    // By keys alone: the mark has the focus, Enter shows its place, and the focus stays.
    session
        .tab
        .evaluate("document.querySelector('#tracks .place.spike_clipped').focus()");
    for (kind, text) in [("keyDown", "\r"), ("keyUp", "")] {
        let key = json!({ "type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": text });
        session.tab.call("Input.dispatchKeyEvent", key);
    }
    session
        .tab
        .wait("(() => { const [from, to] = document.querySelector('#tracks .plots').dataset.drawn.split('-').map(Number); return from > 150 && to < 250; })()");
    let focused = session.tab.evaluate("document.activeElement.className");
    assert_eq!(focused, "place spike_clipped");
    session.screenshot("prepared-spike");
    session.click("[data-listed=\"2\"]");
    session
        .tab
        .wait("Number(document.querySelector('#tracks .plots').dataset.drawn.split('-')[0]) > 200");

    // It is kept, and the fit repeats with it.
    session.restart();
    session.click("[data-record=\"messy.csv\"]");
    session
        .tab
        .wait("document.querySelectorAll('#prepared li').length === 4");
    session
        .tab
        .wait("document.querySelectorAll('#tracks .place').length === 3");
    session.tab.resize(390, 844, true);
    let settle = || std::thread::sleep(std::time::Duration::from_millis(500));
    settle();
    session.fits_its_window("prepared, phone");
    session.screenshot("phone-prepared");
    session.click("#theme");
    session.screenshot("phone-prepared-dark");
    session.tab.resize(1400, 1000, false);
    settle();
    session.screenshot("prepared-dark");
    session.click("#as-recorded");
    // A file with a gap cannot be taken as it was recorded, and the page says so where the gap is.
    session
        .tab
        .wait("document.querySelector('#problem tr.here th')?.textContent === '152'");
}
