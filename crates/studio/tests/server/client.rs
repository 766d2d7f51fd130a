//! A studio in a folder of its own, and a plain client.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use intervalid_studio::{Limits, Studio, StudioConfig};
use serde_json::Value;
use tempfile::TempDir;

/// What the server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Sends bytes and reads until the server closes.
pub(crate) fn raw(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).expect("connected");
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .expect("a timeout");
    // The server may have answered, and closed, before it was sent everything.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("an answer: {:?}", String::from_utf8_lossy(&answer)));
    let headers = String::from_utf8_lossy(&answer[..end]).into_owned();
    let status = headers.split(' ').nth(1).expect("a status").parse().expect("a number");
    let mut body = answer[end + 4..].to_vec();
    if headers.to_lowercase().contains("transfer-encoding: chunked") {
        body = unchunked(&body);
    }
    Answer { status, headers, body }
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(&String::from_utf8_lossy(&rest[..end]), 16).expect("a size");
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 4 + size..];
        if size == 0 {
            break;
        }
    }
    body
}

/// A studio that answers, with a browser that was let in.
pub(crate) struct Opened {
    pub(crate) studio: Option<Studio>,
    pub(crate) folder: TempDir,
    pub(crate) cookie: String,
}

impl Opened {
    pub(crate) fn new() -> Self {
        Self::with(Limits::default())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let studio = start(folder.path(), limits);
        let cookie = admitted(&studio);
        Self {
            studio: Some(studio),
            folder,
            cookie,
        }
    }

    /// Ends the studio and starts another in the same folder.
    pub(crate) fn restart(&mut self) {
        self.studio = None;
        let studio = start(self.folder.path(), Limits::default());
        self.cookie = admitted(&studio);
        self.studio = Some(studio);
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.studio.as_ref().expect("running").address()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
        let (address, cookie) = (self.address(), &self.cookie);
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
            body.len()
        );
        raw(address, &[head.as_bytes(), body].concat())
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "", b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let headers = format!(
            "Origin: http://{}\r\nContent-Type: application/json\r\n",
            self.address()
        );
        self.send("POST", path, &headers, body.to_string().as_bytes())
    }

    pub(crate) fn put(&self, path: &str, body: &[u8]) -> Answer {
        self.send("PUT", path, &format!("Origin: http://{}\r\n", self.address()), body)
    }

    /// Waits until the latest job of that name has the status.
    pub(crate) fn wait(&self, name: &str, status: &str) -> Value {
        let begun = Instant::now();
        loop {
            let jobs = self.get("/api/jobs").json();
            let job = jobs["jobs"]
                .as_array()
                .expect("jobs")
                .iter()
                .rev()
                .find(|job| job["name"] == name)
                .cloned();
            if let Some(job) = job.as_ref().filter(|job| job["status"] == status) {
                return job.clone();
            }
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "{name} is not {status}: {job:?}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

pub(crate) fn start(folder: &Path, limits: Limits) -> Studio {
    let config = StudioConfig {
        limits,
        threads: 1,
        ..StudioConfig::new(folder)
    };
    Studio::start(config).expect("the studio starts")
}

/// Follows the link as a browser does; the cookie.
pub(crate) fn admitted(studio: &Studio) -> String {
    let address = studio.address();
    let link = studio.link();
    let path = link
        .strip_prefix(&format!("http://{address}"))
        .expect("its own address");
    let answer = raw(
        address,
        format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes(),
    );
    assert_eq!(answer.status, 303, "{answer:?}");
    let line = answer
        .headers
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "))
        .expect("a cookie");
    assert!(line.contains("HttpOnly") && line.contains("SameSite=Strict"), "{line}");
    line.split(';').next().expect("a pair").to_owned()
}

/// A first-order system that answers a pseudo-random input, as CSV.
pub(crate) fn csv(samples: usize) -> String {
    let (mut state, mut level) = (1_u32, 0.0);
    let mut text = String::from("time,valve,level [m]\n");
    for sample in 0..samples {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let valve = f64::from(state >> 20) / 4096.0;
        text += &format!("{:.1},{valve:.4},{level:.4}\n", sample as f64 * 0.5);
        level = 0.8 * level + valve + 0.02 * f64::from(state & 7);
    }
    text
}

/// Some of its samples, as a recording of their own.
pub(crate) fn csv_of(samples: std::ops::Range<usize>) -> String {
    let all = csv(samples.end);
    let lines: Vec<&str> = all.lines().collect();
    [&lines[..1], &lines[samples.start + 1..]].concat().join("\n") + "\n"
}
