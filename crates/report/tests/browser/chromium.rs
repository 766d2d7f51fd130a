//! A headless Chromium, driven through its DevTools protocol.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

/// Names under which distributions install it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// A page that has not answered by then will not.
const PATIENCE: Duration = Duration::from_secs(60);

/// The browser, if one is installed: `CHROMIUM` names it, else it is looked for in `PATH`.
pub(crate) fn find() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("CHROMIUM").filter(|path| !path.is_empty()) {
        return Some(PathBuf::from(path));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
        .find(|file| file.is_file())
}

/// One tab of a browser of its own.
pub(crate) struct Tab {
    browser: Child,
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    session: String,
    next_id: u64,
    /// Console messages of level warning or worse, exceptions, and log entries.
    pub(crate) complaints: Vec<String>,
    /// Everything the page asked for.
    pub(crate) requests: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Tab {
    pub(crate) fn open(browser: &Path) -> Self {
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let mut browser = Command::new(browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--no-first-run",
                "--remote-debugging-port=0",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("the browser starts");
        let mut lines = BufReader::new(browser.stderr.take().expect("its standard error")).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("DevTools listening on ").map(str::to_owned))
            .expect("the browser says where it listens");
        // Nobody else reads it, and a full pipe would stop the browser.
        std::thread::spawn(move || lines.for_each(drop));
        let (socket, _) = tungstenite::connect(&address).expect("its DevTools answer");
        let mut tab = Self {
            browser,
            socket,
            session: String::new(),
            next_id: 0,
            complaints: Vec::new(),
            requests: Vec::new(),
            _profile: profile,
        };
        let target = tab.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = tab.call(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        tab.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable", "Network.enable"] {
            tab.call(domain, json!({}));
        }
        tab
    }

    /// Sends a command and waits for its answer, noting what the page says meanwhile.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        self.socket
            .send(Message::text(message.to_string()))
            .expect("the browser listens");
        let started = Instant::now();
        loop {
            let answer = self.read();
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            assert!(started.elapsed() < PATIENCE, "{method} was not answered");
        }
    }

    fn read(&mut self) -> Value {
        let message = self.socket.read().expect("the browser answers");
        let value: Value = match message {
            Message::Text(text) => serde_json::from_str(&text).expect("JSON"),
            _ => Value::Null,
        };
        let parameters = &value["params"];
        match value["method"].as_str() {
            Some("Runtime.consoleAPICalled")
                if matches!(parameters["type"].as_str(), Some("error" | "warning" | "assert")) =>
            {
                self.complaints.push(parameters["args"].to_string());
            }
            Some("Runtime.exceptionThrown") => self.complaints.push(parameters["exceptionDetails"].to_string()),
            Some("Log.entryAdded") => self.complaints.push(parameters["entry"].to_string()),
            Some("Network.requestWillBeSent") => {
                let url = parameters["request"]["url"].as_str().unwrap_or_default();
                self.requests.push(url.to_owned());
            }
            _ => {}
        }
        value
    }

    /// Sets the size of the window, as a phone of that size has it where `phone`.
    pub(crate) fn resize(&mut self, width: u32, height: u32, phone: bool) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Opens a file and waits until it has loaded.
    pub(crate) fn load(&mut self, file: &Path) {
        self.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        self.wait("document.readyState === 'complete'");
    }

    /// The value of an expression.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", parameters);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) fn wait(&mut self, expression: &str) {
        let started = Instant::now();
        while self.evaluate(expression) != true {
            assert!(started.elapsed() < PATIENCE, "never true: {expression}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Presses the mouse at one place, moves it and lets go at another.
    pub(crate) fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        let event = |kind: &str, (x, y): (f64, f64), buttons: u32| json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1});
        self.call("Input.dispatchMouseEvent", event("mouseMoved", from, 0));
        self.call("Input.dispatchMouseEvent", event("mousePressed", from, 1));
        let middle = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
        self.call("Input.dispatchMouseEvent", event("mouseMoved", middle, 1));
        self.call("Input.dispatchMouseEvent", event("mouseMoved", to, 1));
        self.call("Input.dispatchMouseEvent", event("mouseReleased", to, 0));
    }

    /// The whole page as PNG in base64.
    pub(crate) fn screenshot(&mut self) -> String {
        let shot = self.call(
            "Page.captureScreenshot",
            json!({"format": "png", "captureBeyondViewport": true}),
        );
        shot["data"].as_str().expect("a picture").to_owned()
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}
