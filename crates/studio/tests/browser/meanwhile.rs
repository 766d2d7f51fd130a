//! What happens while something else is on its way: late answers, fits that end, other tabs.

use serde_json::json;

use crate::Session;

/// Asks the server as another tab would; the status.
fn ask(session: &mut Session, path: &str, body: &serde_json::Value) -> serde_json::Value {
    session.tab.evaluate(&format!(
        "fetch({}, {{ method: 'POST', headers: {{ 'content-type': 'application/json' }}, body: {} }}).then((answer) => answer.status)",
        json!(path),
        json!(body.to_string())
    ))
}

fn recording(session: &mut Session, name: &str) {
    let rows: Vec<String> = (0..300).map(|k| format!("{},{}", k % 7, (k * k) % 11)).collect();
    let file = session.folder.path().join("workspace").join(name);
    std::fs::write(file, format!("u,y\n{}\n", rows.join("\n"))).expect("written");
    session
        .tab
        .wait(&format!("document.querySelector('[data-record=\"{name}\"]') !== null"));
}

fn title(session: &mut Session) -> serde_json::Value {
    session
        .tab
        .evaluate("document.querySelector('#record h2')?.textContent ?? null")
}

#[test]
fn a_recording_that_comes_late_does_not_replace_the_one_that_was_clicked_after_it() {
    let Some(mut session) = Session::new() else {
        return;
    };
    for name in ["slow.csv", "quick.csv"] {
        recording(&mut session, name);
    }
    session.tab.evaluate(
        "(() => { const send = window.fetch; window.late = 0; \
         window.fetch = async (url, ...rest) => { const answer = await send(url, ...rest); \
         if (String(url).endsWith('/data/slow.csv')) { await new Promise((done) => setTimeout(done, 1000)); window.late++; } \
         return answer; }; })()",
    );
    session.click("[data-record=\"slow.csv\"]");
    session.click("[data-record=\"quick.csv\"]");
    session
        .tab
        .wait("document.querySelector('#record h2')?.textContent === 'quick.csv'");
    session.tab.wait("window.late === 1");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(title(&mut session), "quick.csv");
    assert_eq!(
        session
            .tab
            .evaluate("document.querySelector('#order [name=data]').value"),
        "quick.csv",
        "what is shown is what would be fitted"
    );
}

#[test]
fn a_choice_of_another_tab_is_not_written_over() {
    let Some(mut session) = Session::new() else {
        return;
    };
    recording(&mut session, "plant.csv");
    session.click("[data-record=\"plant.csv\"]");
    session.tab.wait("document.querySelector('#parts') !== null");
    assert_eq!(
        ask(
            &mut session,
            "/api/data/plant.csv/choice",
            &json!({ "split": "0.5,0.2,0.3" })
        ),
        200
    );
    let refused = "document.querySelector('#said').textContent.includes('was changed elsewhere')";
    session.set("[data-end=\"0\"]", "40");
    session.tab.wait(refused);
    session
        .tab
        .evaluate("document.querySelector('#said').replaceChildren()");
    session.click("#tab-fit");
    session.click("#start");
    session.tab.wait(refused);
    assert_eq!(
        session.tab.evaluate("document.querySelector('[data-job]') === null"),
        true,
        "nothing is fitted that is not shown"
    );
    // Looked at again, it can be changed.
    session.click("#tab-data");
    session.click("[data-record=\"plant.csv\"]");
    session
        .tab
        .wait("document.querySelector('#parts')?.textContent.startsWith('150 samples to train')");
    session.set("[data-end=\"0\"]", "40");
    session
        .tab
        .wait("document.querySelector('#parts').textContent.startsWith('120 samples to train')");
    session
        .tab
        .wait("!document.querySelector('.split').hasAttribute('aria-busy')");
    let kept = session
        .tab
        .evaluate("fetch('/api/data/plant.csv').then((answer) => answer.json()).then((view) => view.choice.split)");
    assert_eq!(kept, "0.4,0.3,0.3");
}

#[test]
fn what_if_stays_with_its_model_and_shows_no_old_answer() {
    let Some(mut session) = Session::new() else {
        return;
    };
    let order = |session: &mut Session, name: &str, settings: serde_json::Value, status: &str| {
        let body = json!({ "data": "hair-dryer", "name": name, "settings": settings });
        assert_eq!(ask(session, "/api/jobs", &body), 201);
        session.tab.wait(&format!(
            "document.querySelector('[data-job=\"{name}\"][data-status={status}]') !== null"
        ));
    };
    let linear = json!({ "model": "arx", "preset": "paper", "lags": "2,2,3" });
    order(&mut session, "first", linear, "done");
    session
        .tab
        .wait("document.querySelectorAll('#fits [data-fit]').length === 1");
    session.click("#tab-whatif");
    session
        .tab
        .wait("Number(document.querySelector('#answer').dataset.samples) > 300");
    // Another fit ends while this one is looked at.
    let long = json!({ "model": "inode", "preset": "paper", "epochs": 50_000, "patience": 50_000 });
    order(&mut session, "second", long, "running");
    session
        .tab
        .wait("fetch('/api/jobs').then((answer) => answer.json()).then(({ live }) => (live?.losses.length ?? 0) > 2)");
    let id = session.tab.evaluate(
        "fetch('/api/jobs').then((answer) => answer.json()).then(({ jobs }) => jobs.find(({ name }) => name === 'second').id)",
    );
    assert_eq!(ask(&mut session, &format!("/api/jobs/{id}/cancel"), &json!({})), 200);
    session
        .tab
        .wait("document.querySelectorAll('#whatif-fit option').length === 2");
    let shown = "document.querySelector('#whatif-fit').value";
    assert_eq!(session.tab.evaluate(shown), "first");
    session.tab.requests.clear();
    session.set("#whatif form > label:nth-child(3) select", "hair-dryer");
    session
        .tab
        .wait("document.querySelectorAll('#drawing tbody tr').length === 0");
    let asked: Vec<&String> = session
        .tab
        .requests
        .iter()
        .filter(|url| url.contains("/inputs?"))
        .collect();
    assert!(asked.len() == 1 && asked[0].contains("/fits/first/inputs"), "{asked:?}");

    // An answer that does not come leaves none of before.
    session
        .tab
        .wait("document.querySelector('#answered').textContent !== ''");
    session.tab.evaluate(
        "(() => { const send = window.fetch; window.whole = send; \
         window.fetch = async (url, ...rest) => String(url).endsWith('/whatif') \
         ? new Response(JSON.stringify({ error: 'out of order' }), { status: 500 }) : send(url, ...rest); })()",
    );
    session.set("#whatif form > label:nth-child(2) input", "200");
    session
        .tab
        .wait("document.querySelector('#said').textContent.includes('out of order')");
    session
        .tab
        .wait("document.querySelector('#answered').textContent === ''");
    assert_eq!(
        session
            .tab
            .evaluate("document.querySelector('#answer').dataset.samples === undefined"),
        true
    );
    session.tab.evaluate("(() => { window.fetch = window.whole; })()");

    // One that is gone makes room for one that is there.
    assert_eq!(ask(&mut session, "/api/fits/first/discard", &json!({})), 200);
    session.tab.wait(&format!("{shown} === 'second'"));
    session
        .tab
        .wait("Number(document.querySelector('#answer').dataset.samples) > 100");
    assert_eq!(session.tab.evaluate(shown), "second");
}
